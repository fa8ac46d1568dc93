"""Counting operations of floating point, as torch.utils.flop_counter: by module."""
import warnings

from ..autograd._flops import CONVOLUTIONS, counted
from ..autograd.profiler import profile, record_function
from ..nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

_RANGE = "flop_counter::"
class FlopCounterMode:
    """Counts those of products, convolutions and attention, and of their gradients, that run within it: PyTorch's numbers.

    What modules do in forward is counted for them and for those they are in; "Global" has everything, backward too. Nothing
    else can be profiled meanwhile.
    """

    def __init__(self, mods=None, depth=2, display=True, custom_mapping=None):
        if custom_mapping:
            raise NotImplementedError("FlopCounterMode: custom_mapping is not supported: ops are known by name")
        if mods is not None:
            warnings.warn("mods argument is not needed anymore, you can stop passing it", stacklevel=2)
        self._depth, self._display, self._counts = depth, display, {}

    def __enter__(self):
        self._counts = {}
        self._names, self._open = {}, []
        self._profile = profile(with_flops=True, record_shapes=True)
        self._profile.__enter__()  # which fails within another: no hooks are to be left then
        self._hooks = [register_module_forward_pre_hook(self._begin), register_module_forward_hook(self._end, always_call=True)]
        return self

    def __exit__(self, *error):
        self._profile.__exit__(*error)
        for hook in self._hooks:
            hook.remove()
        for event in self._profile.function_events:
            flops = counted(event)
            if flops:
                self._count(event, flops)
        self._profile = None
        if self._display and not any(error):
            print(self.get_table())

    def _begin(self, module, args):
        name = self._names.get(id(module))
        if name is None:
            name = type(module).__name__
            for path, child in module.named_modules(prefix=name):
                self._names.setdefault(id(child), path)
        span = record_function(_RANGE + name)
        span.__enter__()
        self._open.append(span)

    def _end(self, module, args, result):
        if self._open:
            self._open.pop().__exit__(None, None, None)

    def _count(self, event, flops):
        op, places, parent = event.name, {"Global"}, event.cpu_parent
        while parent is not None:
            if counted(parent):
                return  # an op in whose number this one is
            if parent.name in CONVOLUTIONS:
                op = parent.name
            if parent.name.startswith(_RANGE):
                places.add(parent.name.removeprefix(_RANGE))
            parent = parent.cpu_parent
        op = op.replace("::", ".")
        for place in places:
            counts = self._counts.setdefault(place, {})
            counts[op] = counts.get(op, 0) + flops

    def get_flop_counts(self):
        """{module: {op: number}}, the last time."""
        return {place: dict(counts) for place, counts in self._counts.items()}

    def get_total_flops(self):
        """The number of all operations that were counted."""
        return sum(self._counts.get("Global", {}).values())

    def get_table(self, depth=None):
        """The numbers as text, of modules that are not nested deeper than `depth`."""
        depth, total = self._depth if depth is None else depth, self.get_total_flops()
        rows = [("Module", "FLOP", "% Total")]
        for place, counts in sorted(self._counts.items(), key=lambda item: (item[0] != "Global", item[0])):
            if place.count(".") >= depth:
                continue
            for name, flops in [(place, sum(counts.values()))] + [("- " + op, n) for op, n in sorted(counts.items())]:
                rows.append((name, str(flops), f"{100 * flops / total:.2f}%"))
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        lines = ["  ".join((row[0].ljust(widths[0]), row[1].rjust(widths[1]), row[2].rjust(widths[2]))) for row in rows]
        return "\n".join([lines[0], "  ".join("-" * w for w in widths), *lines[1:]])
