"""What a profile consists of: events, their averages and tables of them, as torch.autograd.profiler_util."""
import bisect
import collections
import itertools
import math

from .._ignored import ignored, record
from ._profiler_names import MEMORY_EVENT_NAME, OUT_OF_MEMORY_EVENT_NAME, DeviceType  # noqa: F401
from ._profiler_trace import write_trace

Kernel = collections.namedtuple("Kernel", ["name", "device", "duration"])

_TIME_UNITS = {"us": 1, "ms": 1000, "s": 1000_000}
_FLOPS_UNITS = ("FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs")


# ---- text

def _format_time(time_us, unit=None):
    if unit is None:
        unit = "s" if time_us >= 1000_000 else "ms" if time_us >= 1000 else "us"
    return f"{time_us / _TIME_UNITS[unit]:.3f}{unit}"


def _format_time_share(time_us, total_time_us):
    return f"{time_us * 100.0 / total_time_us:.2f}%" if total_time_us else "NaN"


def _format_memory(nbytes):
    for power, name in ((3, "GB"), (2, "MB"), (1, "KB")):
        if abs(nbytes) >= 1024 ** power:
            return f"{nbytes / 1024 ** power:.2f} {name}"
    return f"{nbytes} B"


def _time_text(name):
    return property(lambda self: _format_time(getattr(self, name)), doc=f"{name} with its unit.")


class FormattedTimesMixin:
    """Times per call, and times as text; microseconds where they are numbers."""

    cpu_time_str = _time_text("cpu_time")
    device_time_str = _time_text("device_time")
    cpu_time_total_str = _time_text("cpu_time_total")
    device_time_total_str = _time_text("device_time_total")
    self_cpu_time_total_str = _time_text("self_cpu_time_total")
    self_device_time_total_str = _time_text("self_device_time_total")

    @property
    def cpu_time(self):
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def device_time(self):
        return self.device_time_total / self.count if self.count else 0.0

    cuda_time = device_time


# ---- events

class Interval:
    """From start to end, in microseconds."""

    def __init__(self, start, end):
        self.start = start
        self.end = end

    def elapsed_us(self):
        return self.end - self.start


@record
class FunctionEvent(FormattedTimesMixin):
    """One call of an op, node of a backward pass, named range, or piece of work of a device."""

    def __init__(self, id, name, thread, start_us, end_us, overload_name=None, fwd_thread=None, input_shapes=None, stack=None, scope=0,
                 use_device=None, cpu_memory_usage=0, device_memory_usage=0, is_async=False, is_remote=False, sequence_nr=-1,
                 node_id=-1, device_type=DeviceType.CPU, device_index=0, device_resource_id=None, is_legacy=False, flops=None,
                 trace_name=None, concrete_inputs=None, kwinputs=None, is_user_annotation=False, is_python_function=False,
                 activity_type=None, flow_id=None, flow_type=None, flow_start=None, external_id=0, linked_correlation_id=0, extra_meta=None,
                 structured_input_shapes=None, structured_input_strides=None, input_dtypes=None, python_id=-1, python_parent_id=-1,
                 python_module_id=-1, typed_metadata=None):
        self.id = id
        self.node_id = node_id
        self.name = name
        self.trace_name = trace_name if trace_name is not None else name
        self.overload_name = overload_name
        self.time_range = Interval(start_us, end_us)
        self.thread = thread
        self.fwd_thread = fwd_thread
        self.kernels = []
        self.count = 1
        self.cpu_children = []
        self.cpu_parent = None
        self.input_shapes = input_shapes
        self.concrete_inputs = concrete_inputs
        self.kwinputs = kwinputs
        self.stack = stack
        self.scope = scope
        self.use_device = use_device
        self.cpu_memory_usage = cpu_memory_usage
        self.device_memory_usage = device_memory_usage
        self.is_async = is_async
        self.is_remote = is_remote
        self.sequence_nr = sequence_nr
        self.device_type = device_type
        self.device_index = device_index
        self.device_resource_id = thread if device_resource_id is None else device_resource_id
        self.is_legacy = is_legacy
        self.flops = flops
        self.is_user_annotation = is_user_annotation
        self.is_python_function = is_python_function
        self.activity_type = activity_type
        self.flow_id, self.flow_type, self.flow_start = flow_id, flow_type, flow_start
        self.external_id, self.linked_correlation_id = external_id, linked_correlation_id
        self.extra_meta, self.typed_metadata = extra_meta, typed_metadata
        self.structured_input_shapes, self.structured_input_strides = structured_input_shapes, structured_input_strides
        self.input_dtypes = input_dtypes
        self.python_id, self.python_parent_id, self.python_module_id = python_id, python_parent_id, python_module_id

    def append_kernel(self, name, device, duration):
        """Work on a device that this event began; microseconds."""
        self.kernels.append(Kernel(name, device, duration))

    def append_cpu_child(self, child):
        self.cpu_children.append(child)

    def set_cpu_parent(self, parent):
        self.cpu_parent = parent

    @property
    def key(self):
        return self.name

    @property
    def _is_on_cpu(self):
        return self.device_type == DeviceType.CPU

    @property
    def cpu_time_total(self):
        return self.time_range.elapsed_us() if self._is_on_cpu else 0

    @property
    def self_cpu_time_total(self):
        if self.is_async or not self._is_on_cpu:
            return 0
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    @property
    def device_time_total(self):
        if self.is_async or not self.use_device:
            return 0
        if not self._is_on_cpu:
            return self.time_range.elapsed_us()
        return sum(k.duration for k in self.kernels) + sum(child.device_time_total for child in self.cpu_children)

    @property
    def self_device_time_total(self):
        if self.is_async or not self.use_device:
            return 0
        return self.device_time_total - sum(child.device_time_total for child in self.cpu_children)

    @property
    def self_cpu_memory_usage(self):
        if self.is_async or not self._is_on_cpu:
            return 0
        return self.cpu_memory_usage - sum(child.cpu_memory_usage for child in self.cpu_children)

    @property
    def self_device_memory_usage(self):
        if self.is_async or not self._is_on_cpu:
            return 0
        return self.device_memory_usage - sum(child.device_memory_usage for child in self.cpu_children)

    cuda_time_total = device_time_total
    self_cuda_time_total = self_device_time_total
    self_cuda_memory_usage = self_device_memory_usage

    def __repr__(self):
        device = self.use_device
        return (f"<FunctionEvent id={self.id} name={self.name} overload_name={self.overload_name or ''} "
                f"device_type={self.device_type} node_id={self.node_id} cpu_time={self.cpu_time_str} "
                f"start_us={self.time_range.start} end_us={self.time_range.end} "
                f"cpu_children={[child.id for child in self.cpu_children]} {device}_time={self.device_time_str} name={self.name} "
                f"thread={self.thread} input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage} "
                f"{device}_memory_usage={self.device_memory_usage} is_async={self.is_async} is_remote={self.is_remote} "
                f"seq_nr={self.sequence_nr} is_legacy={self.is_legacy}>")


class FunctionEventAvg(FormattedTimesMixin):
    """The sums over the events of one key."""

    _SUMS = ("cpu_time_total", "device_time_total", "self_cpu_time_total", "self_device_time_total", "cpu_memory_usage",
             "device_memory_usage", "self_cpu_memory_usage", "self_device_memory_usage", "count")
    # What is the same for all, or else the first one's.
    _OF_FIRST = ("node_id", "is_async", "is_remote", "cpu_parent", "cpu_children", "overload_name", "input_shapes", "stack", "scope",
                 "device_type", "is_legacy", "use_device", "is_user_annotation")

    def __init__(self):
        self.key = None
        self.count = 0
        self.node_id = 0
        self.is_async = False
        self.is_remote = False
        self.use_device = None
        for name in self._SUMS[:-1]:
            setattr(self, name, 0)
        self.input_shapes = None
        self.overload_name = None
        self.stack = None
        self.scope = None
        self.cpu_children = None
        self.cpu_parent = None
        self.device_type = DeviceType.CPU
        self.is_legacy = False
        self.is_user_annotation = False
        self.flops = 0

    def add(self, other):
        """Takes in an event, or an average, of the same key."""
        if self.key is None:
            self.key = other.key
            for name in self._OF_FIRST:
                setattr(self, name, getattr(other, name))
        if not isinstance(other, (FunctionEvent, FunctionEventAvg)):
            raise AssertionError(f"Expected a FunctionEvent or FunctionEventAvg, got {type(other)}")
        if other.key != self.key:
            raise AssertionError(f"Expected keys to match, but got {other.key} vs {self.key}")
        for name in self._SUMS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.flops = (self.flops or 0) + (other.flops or 0)
        return self

    def __iadd__(self, other):
        return self.add(other)

    @property
    def cuda_time_total(self):
        return self.device_time_total

    @property
    def self_cuda_time_total(self):
        return self.self_device_time_total

    @property
    def self_cuda_memory_usage(self):
        return self.self_device_memory_usage

    @property
    def cuda_memory_usage(self):
        return self.device_memory_usage

    def __repr__(self):
        device = self.use_device or "cuda"
        return (f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} cpu_time={self.cpu_time_str} "
                f" self_{device}_time={self.self_device_time_total_str} {device}_time={self.device_time_str} "
                f"input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage} "
                f"{device}_memory_usage={self.device_memory_usage}>")


class StringTable(collections.defaultdict):
    """A table of names as they are shown: each name maps to itself."""

    def __missing__(self, key):
        self[key] = key
        return key


class MemRecordsAcc:
    """Finds records of memory by their time: (record, ...) with record.start_ns()."""

    def __init__(self, mem_records):
        self._records = sorted(mem_records, key=lambda r: r[0].start_ns())
        self._starts = [r[0].start_ns() for r in self._records]

    def in_interval(self, start_ns, end_ns):
        """The records from start_ns to end_ns."""
        return iter(self._records[bisect.bisect_left(self._starts, start_ns):bisect.bisect_right(self._starts, end_ns)])


class EventList(list):
    """Events, or averages of them: a table when printed."""

    def __init__(self, *args, use_device=None, profile_memory=False, with_flops=False):
        super().__init__(*args)
        self._use_device = use_device
        self._profile_memory = profile_memory
        self._with_flops = with_flops

    def _like(self, events):
        return EventList(events, use_device=self._use_device, profile_memory=self._profile_memory, with_flops=self._with_flops)

    def __str__(self):
        return self.table()

    # ---- which event lies within which

    def _build_tree(self):
        self._populate_cpu_children()
        self._remove_dup_nodes()

    def _populate_cpu_children(self):
        on_host = [e for e in self if e.device_type == DeviceType.CPU and not e.is_async]
        for event in on_host:
            event.cpu_parent, event.cpu_children = None, []
        on_host.sort(key=lambda e: (e.thread, e.time_range.start, -e.time_range.end))
        for _, events in itertools.groupby(on_host, key=lambda e: (e.thread, e.node_id)):
            around = []
            for event in events:
                while around and (event.time_range.start >= around[-1].time_range.end
                                  or event.time_range.end > around[-1].time_range.end):
                    around.pop()
                if around:
                    around[-1].append_cpu_child(event)
                    event.set_cpu_parent(around[-1])
                around.append(event)

    def _remove_dup_nodes(self):
        """An event that is all there is within one of its own name is the same, seen twice."""
        dropped = set()
        for event in self:  # outer ones come before those within them
            while len(event.cpu_children) == 1 and event.cpu_children[0].name == event.name:
                (twin,) = event.cpu_children
                dropped.add(id(twin))
                event.cpu_children = twin.cpu_children
                event.kernels += twin.kernels
                for child in event.cpu_children:
                    child.set_cpu_parent(event)
        self[:] = [e for e in self if id(e) not in dropped]

    # ---- sums

    @property
    def self_cpu_time_total(self):
        return sum(e.self_cpu_time_total for e in self)

    @ignored(include_python_functions="calls of Python functions are no events; with_stack=True keeps lines")
    def key_averages(self, group_by_input_shapes=False, group_by_stack_n=0, group_by_overload_name=False,
                     include_python_functions=False):
        """Averages of the events of one name (and shapes, and innermost lines of the stack)."""
        found = {}
        for event in self:
            key = [event.key, event.node_id, event.device_type, event.is_legacy, event.is_user_annotation]
            if group_by_overload_name:
                key.append(event.overload_name)
            if group_by_input_shapes:
                key.append(str(event.input_shapes))
            if group_by_stack_n > 0:
                key += (event.stack or [])[:group_by_stack_n]
            found.setdefault(tuple(key), FunctionEventAvg()).add(event)
        averages = self._like(found.values())
        for average in averages:
            average.stack = (average.stack or [])[:group_by_stack_n]
            if not group_by_input_shapes:
                average.input_shapes = ""
            if not group_by_overload_name:
                average.overload_name = ""
        return averages

    def total_average(self):
        """One average of all events."""
        total = FunctionEventAvg()
        for event in self:
            total += event
            total.key = None
        total.key = "Total"
        return total

    # ---- output

    def table(self, sort_by=None, row_limit=100, max_src_column_width=75, max_name_column_width=55, max_shapes_column_width=80,
              header=None, top_level_events_only=False, time_unit=None):
        """A table, the events with the most of attribute `sort_by` first."""
        if not self:
            return ""
        if time_unit is not None and time_unit not in _TIME_UNITS:
            raise ValueError(f"time_unit must be one of {', '.join(sorted(_TIME_UNITS))} or None, got {time_unit!r}")
        events = self if sort_by is None else self._like(sorted(self, key=lambda e: getattr(e, sort_by), reverse=True))
        return _Table(events, max_src_column_width, max_name_column_width, max_shapes_column_width, time_unit).text(
            row_limit, header, top_level_events_only)

    def export_chrome_trace(self, path):
        """Writes the events for chrome://tracing and ui.perfetto.dev."""
        write_trace(path, self)

    def supported_export_stacks_metrics(self):
        return ["self_cpu_time_total", "self_cuda_time_total", "self_xpu_time_total", "self_privateuse1_time_total"]

    def export_stacks(self, path, metric):
        """Writes the stacks of the events, outermost call first, each with its sum of `metric`: for flame graphs."""
        if metric not in self.supported_export_stacks_metrics():
            raise ValueError(f"metric should be one of: {self.supported_export_stacks_metrics()}")
        attribute = metric.replace("cuda", "device").replace("xpu", "device").replace("privateuse1", "device")
        drop = str.maketrans(" ;\t\n", "____")
        with open(path, "w") as file:
            for event in self:
                value = int(getattr(event, attribute))
                if event.stack and value > 0:
                    print(";".join(line.translate(drop) for line in reversed(event.stack)), value, file=file)


class _Table:
    """Columns of texts."""

    _SPACING = 2
    _WIDTH = 12

    def __init__(self, events, max_src, max_name, max_shapes, time_unit):
        self.events = events
        self.unit = time_unit
        self.cut_name = max_name
        self.cut_source = max_src
        self.has_source = any(e.stack for e in events)
        self.flops_scale = 1
        self.self_cpu = sum(e.self_cpu_time_total for e in events)
        device = events._use_device
        on_device = [e for e in events if e.device_type != DeviceType.CPU and not e.is_user_annotation]
        self.self_device = sum(e.self_device_time_total for e in on_device)
        self.device = device.upper() if device and any(e.self_device_time_total > 0 for e in events) else None
        self.columns = []  # (title, width, text of an event)
        self._choose(max_src, max_name, max_shapes)

    def _column(self, title, text, width=None):
        self.columns.append((title, self._WIDTH if width is None else width, text))

    def _time(self, name):
        return lambda e: _format_time(getattr(e, name), self.unit)

    @staticmethod
    def _width(texts, most):
        width = max(map(len, texts)) + 4
        return width if most is None else min(width, most)

    def _choose(self, max_src, max_name, max_shapes):
        events = self.events
        self._column("Name", self._name, self._width([e.key for e in events], max_name))
        if any(e.overload_name for e in events):
            texts = [e.overload_name or "" for e in events]
            self._column("Overload Name", lambda e: e.overload_name or "", self._width(texts + ["Overload Name"], max_name))
        self._column("Self CPU %", lambda e: _format_time_share(e.self_cpu_time_total, self.self_cpu))
        self._column("Self CPU", self._time("self_cpu_time_total"))
        self._column("CPU total %", lambda e: "0" if e.is_async else _format_time_share(e.cpu_time_total, self.self_cpu))
        self._column("CPU total", self._time("cpu_time_total"))
        self._column("CPU time avg", self._time("cpu_time"))
        if self.device:
            self._column(f"Self {self.device}", self._time("self_device_time_total"))
            self._column(f"Self {self.device} %", lambda e: _format_time_share(e.self_device_time_total, self.self_device))
            self._column(f"{self.device} total", self._time("device_time_total"))
            self._column(f"{self.device} time avg", self._time("device_time"))
        if events._profile_memory:
            self._column("CPU Mem", lambda e: _format_memory(e.cpu_memory_usage))
            self._column("Self CPU Mem", lambda e: _format_memory(e.self_cpu_memory_usage))
            if events._use_device and any(e.self_device_memory_usage > 0 for e in events):
                name = events._use_device.upper()
                self._column(f"{name} Mem", lambda e: _format_memory(e.device_memory_usage))
                self._column(f"Self {name} Mem", lambda e: _format_memory(e.self_device_memory_usage))
        self._column("# of Calls", lambda e: str(e.count))
        if any(e.node_id != -1 for e in events):
            self._column("Node ID", lambda e: str(e.node_id))
        if any(e.input_shapes for e in events):
            width = self._width([str(e.input_shapes) for e in events], max_shapes)
            self._column("Input Shapes", lambda e: str(e.input_shapes)[:width], width)
        if self.has_source:
            lines = [line for e in events for line in e.stack or ()]
            self._column("Source Location", None, self._width(lines, max_src))
        if events._with_flops:
            flops = [e.flops for e in events if e.flops and e.flops > 0]
            if flops:
                power = max(0, min(int(math.log10(min(flops)) / 3), len(_FLOPS_UNITS) - 1))
                self.flops_scale = 1000 ** power
                self._column(f"Total {_FLOPS_UNITS[power]}", self._flops)

    def _name(self, event):
        most = self.cut_name
        if most is not None and len(event.key) >= most - 3:
            return event.key[:most - 3] + "..."
        return event.key

    def _flops(self, event):
        return f"{event.flops / self.flops_scale:8.3f}" if event.flops and event.flops > 0 else "--"

    def _source(self, line):
        most = self.cut_source
        return line if most is None or len(line) <= most else "..." + line[-(most - 3):]

    def _row(self, texts):
        return "".join(f"{text:{'<' if title == 'Source Location' else '>'}{width}}" + " " * self._SPACING
                       for (title, width, _), text in zip(self.columns, texts)) + "\n"

    def _rows_of(self, event):
        stack = [self._source(line) for line in event.stack or ()] or [""]
        rows = self._row([text(event) if text else stack[0] for _, _, text in self.columns])
        if self.has_source:
            for line in (*stack[1:], ""):
                rows += self._row(["" if text else line for _, _, text in self.columns])
        return rows

    def text(self, row_limit, header, top_level_only):
        dashes = self._row(["-" * width for _, width, _ in self.columns])
        double = "=" * (sum(width + self._SPACING for _, width, _ in self.columns) - self._SPACING) + "\n"
        out = []
        if header is not None:
            out += [double, header, "\n"]
        if top_level_only:
            out += [double, "This report only display top-level ops statistics\n"]
        out += [dashes, self._row([title for title, _, _ in self.columns]), dashes]
        shown = [e for e in self.events if not (top_level_only and e.cpu_parent is not None)]
        out += [self._rows_of(e) for e in (shown if row_limit < 0 else shown[:row_limit])]
        out += [dashes, f"Self CPU time total: {_format_time(self.self_cpu, self.unit)}\n"]
        if self.device:
            out.append(f"Self {self.device} time total: {_format_time(self.self_device, self.unit)}\n")
        return "".join(out)
