"""Profiles of whole runs: by activity, on a schedule."""
import enum
import functools
import json
import os
import socket
import tempfile
import time
import uuid
import warnings

from .._ignored import harmless, ignored
from ..autograd import profiler as prof
from ..autograd.profiler import _ONE_WAY, ProfilerActivity, _supported_activities

PROFILER_STEP_NAME = "ProfilerStep"


def supported_activities():
    """The activities that can be recorded on this machine."""
    return _supported_activities()


@functools.cache
def _warn_once(message):
    warnings.warn(message, stacklevel=3)


class _KinetoProfile:
    """What `profile` does, step by step; start() and stop() are the whole."""

    @harmless(post_processing_timeout_s="results are waited for")
    def __init__(self, *, activities=None, record_shapes=False, profile_memory=False, with_stack=False, with_flops=False,
                 with_modules=False, experimental_config=None, execution_trace_observer=None, acc_events=False,
                 custom_trace_id_callback=None, post_processing_timeout_s=None):
        self.activities = self._read_activities(activities)
        self.record_shapes = record_shapes
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self.with_flops = with_flops
        self.with_modules = with_modules
        self.experimental_config = experimental_config
        self.execution_trace_observer = execution_trace_observer
        self.acc_events = acc_events
        self.custom_trace_id_callback = custom_trace_id_callback
        self.profiler = None
        self.use_device = "cuda" if ProfilerActivity.CUDA in self.activities and _supported_activities() > {ProfilerActivity.CPU} else None
        self.preset_metadata = {}
        self._metadata = {}

    @staticmethod
    def _read_activities(given):
        if given is None:
            return supported_activities()
        found = set()
        for activity in given:
            for one in activity if isinstance(activity, dict) else [activity]:
                if not isinstance(one, ProfilerActivity):
                    raise TypeError(f"Expected ProfilerActivity or dict, got {type(one)}")
                found.add(one)
        if not found & {ProfilerActivity.CPU, ProfilerActivity.CUDA}:
            raise AssertionError("No valid profiler activities found")
        return found

    def _started(self, doing):
        if self.profiler is None:
            raise AssertionError(f"Profiler must be initialized before {doing}")
        return self.profiler

    # ---- recording

    def start(self):
        self.prepare_trace()
        self.start_trace()

    def stop(self):
        self.stop_trace()

    def prepare_trace(self):
        """Makes ready to record."""
        if self.profiler is None or not self.acc_events:
            if self.profiler is not None:
                _warn_once("Warning: Profiler clears events at the end of each cycle. Only events from the current cycle will be "
                           "reported. To keep events across cycles, set acc_events=True.")
            self.profiler = prof.profile(
                use_cpu=ProfilerActivity.CPU in self.activities,
                use_device="cuda" if ProfilerActivity.CUDA in self.activities else None, record_shapes=self.record_shapes,
                with_flops=self.with_flops, profile_memory=self.profile_memory, with_stack=self.with_stack,
                with_modules=self.with_modules, experimental_config=self.experimental_config, acc_events=self.acc_events)
        self.profiler._prepare_trace()

    def start_trace(self):
        self._started("starting trace")._start_trace()
        observer = self.execution_trace_observer
        if observer is not None:
            observer.start()

    def stop_trace(self):
        profiler = self._started("stopping trace")
        if self.execution_trace_observer is not None:
            self.execution_trace_observer.stop()
        profiler.__exit__(None, None, None)

    # ---- what was recorded

    def events(self):
        """All events, as a list that prints itself as a table."""
        return self._started("accessing events").function_events

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, group_by_overload_name=False,
                     include_python_functions=False):
        """Averages of the events of one name (and shapes, and innermost lines of the stack)."""
        return self._started("getting key averages").key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name,
                                                                  include_python_functions)

    @ignored(use_python_export=_ONE_WAY, cuda_graph_annotations=_ONE_WAY, graph_lanes=_ONE_WAY, default_stream=_ONE_WAY)
    def export_chrome_trace(self, path, use_python_export=False, cuda_graph_annotations=None, graph_lanes="none", default_stream=7):
        """Writes the trace as JSON, compressed if the path ends with .gz."""
        profiler = self._started("exporting chrome trace")
        metadata = {"trace_id": self.get_trace_id()}
        for name in ("profile_memory", "record_shapes", "with_stack", "with_modules", "with_flops"):
            if getattr(self, name):
                metadata[name] = 1
        distributed = self._get_distributed_info()
        if distributed:
            metadata["distributedInfo"] = distributed
        profiler.export_chrome_trace(path, {**metadata, **self.preset_metadata, **self._metadata})

    def get_trace_id(self):
        if self.custom_trace_id_callback is not None:
            return self.custom_trace_id_callback()
        profiler = self.profiler
        if profiler is None:
            return None
        if not profiler.trace_id:
            profiler.trace_id = uuid.uuid4().hex.upper()
        return profiler.trace_id

    def set_custom_trace_id_callback(self, callback):
        self.custom_trace_id_callback = callback

    def wait_for_exports(self):
        """Exports are done when they return."""

    def export_stacks(self, path, metric="self_cpu_time_total"):
        """Writes the Python stacks with their sums of `metric`, for flame graphs; needs with_stack=True."""
        self._started("exporting stacks").export_stacks(path, metric)

    def toggle_collection_dynamic(self, enable, activities):
        self._started("toggling collection").toggle_collection_dynamic(enable, activities)

    def export_memory_timeline(self, path, device=None):
        raise NotImplementedError("export_memory_timeline: for GPUs there is cuda.memory._snapshot(); profile_memory=True counts bytes "
                                  "by op")

    # ---- metadata of the trace

    def add_metadata(self, key, value):
        """Puts a text into the trace."""
        self._metadata[key] = str(value)

    def add_metadata_json(self, key, value):
        """Puts a value, given as JSON, into the trace."""
        self._metadata[key] = json.loads(value)

    def preset_metadata_json(self, key, value):
        """As add_metadata_json(), before the start."""
        self.preset_metadata[key] = json.loads(value)

    def _get_distributed_info(self):
        from .. import distributed
        if not (distributed.is_available() and distributed.is_initialized()):
            return None
        return {"backend": str(distributed.get_backend()), "rank": distributed.get_rank(), "world_size": distributed.get_world_size()}


class ProfilerAction(enum.Enum):
    """What to do in a step."""
    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3
    DEVICE_STOPPED = 4


def schedule(*, wait, warmup, active, repeat=0, skip_first=0, skip_first_wait=0):
    """A function from the number of a step to its ProfilerAction: after `skip_first` steps, cycles of `wait` steps without, `warmup`
    in which nothing is kept, `active` that are recorded; `repeat` cycles, or without end.  `skip_first_wait`: the first cycle
    does not wait."""
    if wait < 0 or warmup < 0 or active <= 0 or repeat < 0 or skip_first < 0:
        raise AssertionError(f"Invalid profiler schedule arguments. Got wait={wait} (need >= 0), warmup={warmup} (need >= 0), "
                             f"active={active} (need > 0), repeat={repeat} (need >= 0), skip_first={skip_first} (need >= 0).")
    if warmup == 0:
        warnings.warn("Profiler won't be using warmup, this can skew profiler results", stacklevel=2)

    def action(step):
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        step -= skip_first
        if step < 0:
            return ProfilerAction.NONE
        if skip_first_wait:
            step += wait
        cycle, at = divmod(step, wait + warmup + active)
        if at < wait or 0 < repeat <= cycle:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if at < wait + warmup + active - 1 else ProfilerAction.RECORD_AND_SAVE
    return action


def _record_always(step):
    return ProfilerAction.RECORD


_default_schedule_fn = _record_always  # PyTorch's name, which packages compare with


def tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False):
    """For on_trace_ready: writes each trace into a file of its own in a folder, under the name that TensorBoard's plugin looks for."""
    def write(profiler):
        try:
            os.makedirs(dir_name, exist_ok=True)
        except OSError as error:
            raise RuntimeError("Can't create directory: " + str(dir_name)) from error
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        suffix = "pt.trace.json.gz" if use_gzip else "pt.trace.json"
        profiler.export_chrome_trace(os.path.join(dir_name, f"{worker}.{time.time_ns()}.{suffix}"))
    return write


class profile(_KinetoProfile):
    """Records what runs in a with-block, or between start() and stop(), or in the steps that a schedule chooses.

    activities: of ProfilerActivity; all that there are by default.  schedule: from the number of a step, which step() counts, to a
    ProfilerAction.  on_trace_ready: called with the profile whenever a recording is complete.  record_shapes: keeps shapes of
    arguments.  profile_memory: counts the bytes that tensors get and give back.  with_stack: keeps the Python stack of every call.
    with_flops: estimates those of products and convolutions.  acc_events: keeps the events of earlier cycles.
    """

    @harmless(post_processing_timeout_s="results are waited for")
    def __init__(self, *, activities=None, schedule=None, on_trace_ready=None, record_shapes=False, profile_memory=False,
                 with_stack=False, with_flops=False, with_modules=False, experimental_config=None, execution_trace_observer=None,
                 acc_events=False, use_cuda=None, custom_trace_id_callback=None, post_processing_timeout_s=None):
        activities = None if activities is None else list(activities)
        if use_cuda is not None:
            warnings.warn("`use_cuda` is deprecated, use `activities` argument instead", FutureWarning, stacklevel=2)
            activities = [a for a in (activities or supported_activities()) if a != ProfilerActivity.CUDA]
            activities += [ProfilerActivity.CUDA] if use_cuda else []
        if schedule is not None and not callable(schedule):
            raise TypeError(f"profile: expected a function as schedule, got {type(schedule).__name__}")
        super().__init__(activities=activities, record_shapes=record_shapes, profile_memory=profile_memory, with_stack=with_stack,
                         with_flops=with_flops, with_modules=with_modules, experimental_config=experimental_config,
                         execution_trace_observer=execution_trace_observer, acc_events=acc_events,
                         custom_trace_id_callback=custom_trace_id_callback)
        self.schedule = schedule or _record_always
        self.record_steps = schedule is not None
        self.on_trace_ready = on_trace_ready
        self.step_num = 0
        self.current_action = self.schedule(0)
        self.step_rec_fn = None
        prof.KinetoStepTracker.init_step_count(PROFILER_STEP_NAME)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.stop()
        prof.KinetoStepTracker.erase_step_count(PROFILER_STEP_NAME)

    def start(self):
        self._transit_action(ProfilerAction.NONE, self.current_action)
        self._begin_step()

    def stop(self):
        self._end_step()
        self._transit_action(self.current_action, None)

    def step(self):
        """The next step begins."""
        self._end_step()
        before = self.current_action
        self.step_num += 1
        self.current_action = self.schedule(self.step_num)
        self._transit_action(before, self.current_action)
        prof.KinetoStepTracker.increment_step(PROFILER_STEP_NAME)
        self._begin_step()

    def _begin_step(self):
        if self.record_steps:
            self.step_rec_fn = prof.record_function(f"{PROFILER_STEP_NAME}#{self.step_num}")
            self.step_rec_fn.__enter__()

    def _end_step(self):
        if self.step_rec_fn is not None:
            self.step_rec_fn.__exit__(None, None, None)
            self.step_rec_fn = None

    def _transit_action(self, before, after):
        """From what the step before did to what this one does; None: there is no further one."""
        none, warmup, record, save = (ProfilerAction.NONE, ProfilerAction.WARMUP, ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        if not isinstance(before, ProfilerAction) or not (after is None or isinstance(after, ProfilerAction)):
            raise TypeError(f"profile: the schedule must return a ProfilerAction, got {before!r} and {after!r}")
        goes_on = after in (record, save)
        if before == record and goes_on or before == after and before in (none, warmup):
            return
        if before in (record, save):
            if before == record and after is not None:
                warnings.warn(f"Incorrect schedule: RECORD followed by {after.name}", stacklevel=3)
            self.stop_trace()
            if before == save or after is None:
                self._trace_ready()
        if before == warmup and after in (none, None):
            if after == none:
                warnings.warn("Incorrect schedule: WARMUP followed by NONE", stacklevel=3)
            self.start_trace()
            self.stop_trace()
        if before in (none, save) and (goes_on or after == warmup):
            self.prepare_trace()
        if goes_on:
            self.start_trace()

    def _trace_ready(self):
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def _stats(self):
        return None if self.profiler is None else self.profiler._stats


class ExecutionTraceObserver:
    """PyTorch's observer writes a graph of all calls, which Argand does not support: an observer can be made, but not registered."""

    def register_callback(self, output_file_path):
        raise NotImplementedError("ExecutionTraceObserver: there are no execution traces; use profile.export_chrome_trace()")

    def unregister_callback(self):
        pass

    def start(self):
        pass

    def stop(self):
        pass

    def cleanup(self):
        pass

    def is_registered(self):
        return False

    def get_output_file_path(self):
        return os.path.join(tempfile.gettempdir(), "no-execution-trace")
