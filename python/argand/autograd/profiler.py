"""Records what runs, as torch.autograd.profiler.  Note [Profiling] in argand/exec/profiler.h says what is measured."""
import ast
import contextlib
import ctypes
import enum
import sys
import time
import traceback
import typing
import warnings

from .. import _C, _surface
from .._ignored import harmless, ignored
from ._flops import profiled
from .profiler_util import (MEMORY_EVENT_NAME, OUT_OF_MEMORY_EVENT_NAME, DeviceType, EventList, FormattedTimesMixin,  # noqa: F401
                            FunctionEvent, FunctionEventAvg, Interval, Kernel, MemRecordsAcc, StringTable)

__all__ = ["profile", "record_function", "emit_itt", "emit_nvtx", "EnforceUnique", "KinetoStepTracker", "kineto_available"]


class ProfilerActivity(enum.Enum):
    """What is recorded."""
    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5

    def __str__(self):
        return f"ProfilerActivity.{self.name}"


class ProfilerState(enum.Enum):
    """How it is recorded."""
    Disabled = 0
    CPU = 1
    CUDA = 2
    NVTX = 3
    ITT = 4
    KINETO = 5


class RecordScope(enum.Enum):
    """The numbers of FunctionEvent.scope."""
    FUNCTION = 0
    BACKWARD_FUNCTION = 1
    TORCHSCRIPT_FUNCTION = 2
    KERNEL_FUNCTION_DTYPE = 3
    CUSTOM_CLASS = 4
    BUILD_FEATURE = 5
    LITE_INTERPRETER = 6
    USER_SCOPE = 7


_FUNCTION, _BACKWARD_FUNCTION, _USER_SCOPE = (s.value for s in (RecordScope.FUNCTION, RecordScope.BACKWARD_FUNCTION, RecordScope.USER_SCOPE))


_KINETO = "it is an option of Kineto, and profiles are the library's own"
_ONE_WAY = "the file is written in one way"
_NO_PYTHON = "calls of Python functions are no events; with_stack=True keeps lines"


class _ExperimentalConfig:
    """Takes what PyTorch's takes; nothing of it applies here."""

    @ignored(args=_KINETO, kwargs=_KINETO)
    def __init__(self, *args, **kwargs):
        self.options = kwargs


def kineto_available():
    """Whether profiles can be exported: always."""
    return True


def _supported_activities():
    return {ProfilerActivity.CPU, ProfilerActivity.CUDA} if _C.cuda.is_available() else {ProfilerActivity.CPU}


# ---- ranges

class record_function(contextlib.ContextDecorator):
    """Names what runs in a with-block, or in a function that it decorates, in profiles."""

    def __init__(self, name, args=None):
        self.name = name
        self.args = args
        self._range = None

    def _recreate_cm(self):
        return type(self)(self.name, self.args)

    def __enter__(self):
        if not isinstance(self.name, str):
            raise TypeError(f"record_function: expected a str as name, got {type(self.name).__name__}")
        self._range = _C._profiler_range(self.name, "" if self.args is None else str(self.args))
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        if self._range is not None:
            self._range.end()
            self._range = None


# ---- profiles

class _Where:
    """Numbers the Python stacks it is called from."""

    def __init__(self):
        self._numbers = {}

    def __call__(self):
        frame, stack = sys._getframe(1), []
        if frame.f_code is record_function.__enter__.__code__:
            frame = frame.f_back
        while frame is not None:
            stack.append((frame.f_code, frame.f_lineno))
            frame = frame.f_back
        return self._numbers.setdefault(tuple(stack), len(self._numbers))

    def stacks(self):
        """Innermost call first."""
        return [[f"{code.co_filename}({line}): {code.co_name}" for code, line in stack] for stack in self._numbers]


def _value(text):
    """Parses the text of an argument that is not a tensor; returns the text itself if it is no literal, and None if it is empty."""
    try:
        return ast.literal_eval(text) if text else None
    except (ValueError, SyntaxError):
        return text


def _shapes(argument):
    kind, shapes, _, _ = argument
    if kind == "TensorList":
        return [list(shape) for shape in shapes]
    return list(shapes[0]) if shapes else []


def _flops_arguments(arguments):
    return [list(a[1][0]) if a[1] else [] for a in arguments], [_value(a[3]) for a in arguments]


class MemoryChange(typing.NamedTuple):
    """An allocation of a storage's bytes, or their release."""
    thread: int
    at: int  # nanoseconds since the profile began
    device: int  # a GPU's number; -1: the CPU
    address: int
    bytes: int  # below 0: given back


class _ProfilerStats:
    """What profiling itself took."""

    def __init__(self):
        self.profiling_window_duration_sec = 0.0  # from start to end
        self.number_of_events = 0


class profile:
    """Records what runs in a with-block; then a list of events, and its averages and tables.

    use_device: "cuda" times ops on GPUs, too.  record_shapes: keeps shapes of arguments.  profile_memory: counts the bytes that
    tensors get and give back.  with_stack: keeps the Python stack of every call.  with_flops: estimates those of products.
    """

    @ignored(custom_trace_id_callback="torch.profiler.profile gives traces their ids", _profiler_extensions=_KINETO)
    @harmless(use_kineto="there is one profiler", post_processing_timeout_s="results are waited for",
              with_modules="it names modules of TorchScript, and there are none")
    def __init__(self, enabled=True, *, use_cuda=None, use_device=None, record_shapes=False, with_flops=False, profile_memory=False,
                 with_stack=False, with_modules=False, use_kineto=False, use_cpu=True, experimental_config=None, acc_events=False,
                 custom_trace_id_callback=None, post_processing_timeout_s=None, activity_filters=None, _profiler_extensions=None):
        if activity_filters:
            raise NotImplementedError("profile: activity_filters is not supported: all ops and kernels are recorded")
        if use_cuda is not None:
            warnings.warn("The attribute `use_cuda` will be deprecated soon, please use ``use_device = 'cuda'`` instead.", FutureWarning,
                          stacklevel=2)
            use_device = "cuda" if use_cuda else use_device
        if use_device is not None and use_device != "cuda":
            raise ValueError(f"profile: the only device that is profiled beside the CPU is 'cuda', got {use_device!r}")
        if use_device == "cuda" and not _C.cuda.is_available():
            warnings.warn("CUDA is not available, disabling CUDA profiling", stacklevel=2)
            use_device = None
        if not use_cpu and use_device is None:
            raise AssertionError("No valid profiler activities found")
        self.enabled = enabled
        self.use_device = use_device
        self.use_cuda = use_device == "cuda"
        self.use_cpu = use_cpu
        self.record_shapes = record_shapes or with_flops
        self.with_flops = with_flops
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self.with_modules = with_modules
        self.acc_events = acc_events
        self.experimental_config = experimental_config or _ExperimentalConfig()
        self.entered = False
        self.trace_id = ""
        self.kineto_results = None
        self._stats = _ProfilerStats()
        self._session = None
        self._where = None
        self._events = None
        self._old_events = None
        self._began_ns = 0
        self._took_us = 0.0
        self._system_threads = []
        self._memory_changes = []

    # ---- recording

    def __enter__(self):
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        self._start_trace()
        return self

    def _prepare_trace(self):
        self.entered = True

    def _start_trace(self):
        where = _Where() if self.with_stack else None
        if _C._profiler_is_active():
            raise RuntimeError("Profiler is already enabled: one profile at a time can record")
        self._began = time.perf_counter()
        self._session = _C._profiler_start(self.record_shapes, self.profile_memory, self.use_device is not None, where)
        self._where = where
        self._old_events = self._events if self.acc_events else None
        self._events = None
        self.entered = True

    def __exit__(self, exc_type, exc_value, traceback):
        if not self.enabled or self._session is None:
            return False
        took = time.perf_counter() - self._began
        session, self._session = self._session, None
        events, self._system_threads, self._began_ns, memory = session.stop()
        self._memory_changes = [MemoryChange(*change) for change in memory]
        self._took_us = took * 1e6
        self._events = self._read(events, self._where.stacks() if self._where else [])
        self._where = None
        self._stats.profiling_window_duration_sec = took
        if self._old_events:
            self._events[:0] = self._old_events
            self._old_events = None
        self._stats.number_of_events = len(self._events)
        return False

    def _read(self, recorded, stacks):
        """The events as FunctionEvents, each with what lies within it."""
        host, device = [], []
        for number, (name, scope, thread, begin, end, parent, sequence, cpu_bytes, device_bytes, where, arguments,
                     on_device) in enumerate(recorded):
            event = FunctionEvent(
                id=number + 1, name="ProfilerStep*" if name.startswith("ProfilerStep#") else name, trace_name=name, thread=thread,
                start_us=begin / 1000, end_us=end / 1000, scope=scope,
                input_shapes=[_shapes(a) for a in arguments], concrete_inputs=[_value(value) for _, _, _, value in arguments],
                stack=stacks[where] if where >= 0 else [], use_device=self.use_device, cpu_memory_usage=cpu_bytes,
                device_memory_usage=device_bytes, sequence_nr=sequence, is_user_annotation=scope == _USER_SCOPE,
                flops=profiled(name, *_flops_arguments(arguments)) if self.with_flops else 0, overload_name="")
            event.arguments = arguments
            host.append(event)
            if parent >= 0:
                event.set_cpu_parent(host[parent])
                host[parent].append_cpu_child(event)
            if on_device is not None:
                index, stream, first, own = on_device
                event.append_kernel(name, index, own)
                device.append(FunctionEvent(
                    id=number + 1, name=name, thread=stream, start_us=first, end_us=first + own, use_device=self.use_device,
                    device_type=DeviceType.CUDA, device_index=index, device_resource_id=stream, flops=0, stack=[], input_shapes=[],
                    overload_name=""))
        forward = {e.sequence_nr: e.thread for e in host if e.scope == _FUNCTION and e.sequence_nr >= 0
                   and not e.name.startswith("autograd::engine")}
        for event in reversed(host):  # those within others come after them
            if event.scope == _BACKWARD_FUNCTION:
                event.fwd_thread = forward.get(event.sequence_nr)
            if event.cpu_parent is not None:
                event.cpu_parent.cpu_memory_usage += event.cpu_memory_usage
                event.cpu_parent.device_memory_usage += event.device_memory_usage
        events = EventList((host if self.use_cpu else []) + device, use_device=self.use_device, profile_memory=self.profile_memory,
                           with_flops=self.with_flops)
        events._remove_dup_nodes()
        events.sort(key=lambda e: (e.time_range.start, -e.time_range.end))
        return events

    # ---- what was recorded

    def _ensure_function_events(self):
        if self._events is None:
            raise RuntimeError("Profiler didn't finish running")

    @property
    def function_events(self):
        self._ensure_function_events()
        return self._events

    def __repr__(self):
        return "<unfinished torch.autograd.profile>" if self._events is None else repr(self._events)

    def __str__(self):
        return "<unfinished torch.autograd.profile>" if self._events is None else str(self._events)

    def table(self, sort_by=None, row_limit=100, max_src_column_width=75, max_name_column_width=55, max_shapes_column_width=80,
              header=None, top_level_events_only=False):
        return self.function_events.table(sort_by, row_limit, max_src_column_width, max_name_column_width, max_shapes_column_width,
                                          header, top_level_events_only)

    @ignored(include_python_functions=_NO_PYTHON)
    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, group_by_overload_name=False,
                     include_python_functions=False):
        return self.function_events.key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def total_average(self):
        return self.function_events.total_average()

    @property
    def self_cpu_time_total(self):
        """Microseconds of all events, each without those within it."""
        return self.function_events.self_cpu_time_total

    @ignored(use_python_export=_ONE_WAY, cuda_graph_annotations=_ONE_WAY, graph_lanes=_ONE_WAY, default_stream=_ONE_WAY)
    def export_chrome_trace(self, path, metadata=None, use_python_export=False, cuda_graph_annotations=None, graph_lanes="none",
                            default_stream=7):
        """Writes the trace for chrome://tracing, ui.perfetto.dev and what else reads PyTorch's."""
        from ._profiler_trace import write_trace
        write_trace(path, self.function_events, began_ns=self._began_ns, took_us=self._took_us, system_threads=self._system_threads,
                    memory=self._memory_changes, metadata=metadata)

    def export_stacks(self, path, metric="self_cpu_time_total"):
        self._ensure_function_events()
        if not self.with_stack:
            raise AssertionError("export_stacks() requires with_stack=True")
        self._events.export_stacks(path, metric)

    def toggle_collection_dynamic(self, enabled, activities):
        raise NotImplementedError("toggle_collection_dynamic: a profile records from its start to its end")


# ---- other profilers

class _Marks(contextlib.AbstractContextManager):
    """Tells another profiler of every call, through functions of a library."""

    def __init__(self, enabled=True, record_shapes=False):
        self.enabled = enabled
        self.entered = False
        self.record_shapes = record_shapes
        self._session = None

    def _functions(self):
        raise NotImplementedError

    def __enter__(self):
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError(f"{type(self).__name__} context manager is not reentrant")
        push, pop = (ctypes.cast(f, ctypes.c_void_p).value for f in self._functions())
        if _C._profiler_is_active():
            raise RuntimeError("Profiler is already enabled: one profile at a time can record")
        self._session = _C._profiler_start_marks(push, pop)
        self.entered = True
        return self

    def __exit__(self, *exception):
        if self._session is not None:
            self._session.stop()
            self._session = None
        return False


class emit_nvtx(_Marks):
    """Every op and range becomes a range for NVIDIA's profilers, by name and without shapes."""

    def _functions(self):
        from ..cuda.nvtx import _library
        library = _library()
        if library is None:
            raise RuntimeError("emit_nvtx: NVIDIA's library libnvToolsExt.so was not found")
        return library.nvtxRangePushA, library.nvtxRangePop


class emit_itt(_Marks):
    """For Intel's profilers, whose library Argand is not built with: a RuntimeError."""

    def _functions(self):
        raise RuntimeError("ITT functions not installed. Are you sure you have a ITT build?")


# ---- bookkeeping

class EnforceUnique:
    """Raises on a key that it has seen."""

    def __init__(self):
        self.seen = set()

    def see(self, *key):
        if key in self.seen:
            raise RuntimeError("duplicate key: " + str(key))
        self.seen.add(key)


class KinetoStepTracker:
    """Counts steps by requester; current_step() is the most that any has made."""

    _current_step = 0
    _step_dict = {}

    @classmethod
    def init_step_count(cls, requester):
        cls._step_dict[requester] = cls._current_step

    @classmethod
    def erase_step_count(cls, requester):
        return cls._step_dict.pop(requester, None) is not None

    @classmethod
    def increment_step(cls, requester):
        cls._step_dict.setdefault(requester, cls._current_step)
        cls._step_dict[requester] += 1
        cls._current_step = max(cls._current_step, *cls._step_dict.values())
        return cls._current_step

    @classmethod
    def current_step(cls):
        return cls._current_step


@harmless(script="nothing is scripted", cpp="frames of C++ are not known")
def gather_traceback(python=True, script=True, cpp=False):
    """Where the program is, for symbolize_tracebacks()."""
    return traceback.extract_stack(sys._getframe(1)) if python else []


def symbolize_tracebacks(tracebacks):
    """Frames as dictionaries, the innermost first."""
    return [[{"name": f.name, "filename": f.filename, "line": f.lineno} for f in reversed(t)] for t in tracebacks]


__getattr__, __dir__ = _surface.of(__name__)
