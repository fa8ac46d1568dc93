"""Records what runs and how long it takes, as torch.profiler.

    with profile(schedule=schedule(wait=1, warmup=1, active=3), on_trace_ready=tensorboard_trace_handler("log")) as p:
        for batch in loader:
            step(batch)
            p.step()
    print(p.key_averages().table(sort_by="self_cpu_time_total"))
"""
from ..autograd.profiler import (KinetoStepTracker, RecordScope, _ExperimentalConfig, _supported_activities,  # noqa: F401
                                 kineto_available, record_function)
from ..autograd.profiler_util import DeviceType  # noqa: F401
from .profiler import (ExecutionTraceObserver, ProfilerAction, ProfilerActivity, _KinetoProfile, profile, schedule,  # noqa: F401
                       supported_activities, tensorboard_trace_handler)

is_fbcode = False

__all__ = ["profile", "schedule", "supported_activities", "tensorboard_trace_handler", "ProfilerAction", "ProfilerActivity",
           "kineto_available", "DeviceType", "record_function", "ExecutionTraceObserver"]
