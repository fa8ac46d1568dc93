"""Counting operations of floating point, as torch.utils.flop_counter: by module."""
import warnings
from math import prod

from ..autograd.profiler import profile, record_function
from ..nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

_RANGE = "flop_counter::"
# Ops that profiles count and PyTorch's counter does not.
_POINTWISE = ("aten::add", "aten::add_", "aten::mul", "aten::mul_")
# What they count by the shapes of their arguments, without those of one image: here the op within is counted, by their name.
_CONVOLUTIONS = tuple(f"aten::conv{transposed}{n}d" for transposed in ("", "_transpose") for n in (1, 2, 3))


def _convolution(shapes, values):
    (n, _, *spatial), weight = shapes[:2]
    stride, padding, dilation = values[3:6]
    out = [(i + 2 * p - d * (k - 1) - 1) // s + 1 for i, p, d, k, s in zip(spatial, padding, dilation, weight[2:], stride)]
    return 2 * n * prod(weight) * prod(out)


def _input_gradient(shapes, values):
    grad, weight = shapes[:2]
    return 2 * grad[0] * prod(grad[2:]) * prod(weight)


def _weight_gradient(shapes, values):
    # PyTorch's number, which takes no account of groups.
    grad, image = shapes[:2]
    return 2 * prod(grad) * image[1] * prod(values[2][2:])


def _attention(shapes, values):
    (*heads, length, width), key, value = shapes[:3]
    return 2 * prod(heads) * length * key[-2] * (width + value[-1])


def _attention_backward(shapes, values):
    _, (*heads, length, width), key, value = shapes[:4]
    return 2 * prod(heads) * length * key[-2] * (3 * width + 2 * value[-1])  # the scores are made once more


_FORMULAS = {"aten::_convolution_nd": _convolution, "aten::_conv_input_grad": _input_gradient, "aten::_conv_weight_grad": _weight_gradient,
             "aten::_scaled_dot_product_fused_attention": _attention,
             "aten::_scaled_dot_product_fused_attention_backward": _attention_backward}


def _flops(event):
    if event.name in _FORMULAS:
        return _FORMULAS[event.name](event.input_shapes, event.concrete_inputs)
    return 0 if event.name in _POINTWISE or event.name in _CONVOLUTIONS else event.flops


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
            flops = _flops(event)
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
            if _flops(parent):
                return  # an op in whose number this one is
            if parent.name in _CONVOLUTIONS:
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
        """All of them."""
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
