"""Profiles as Chrome's trace events, with the categories and arguments that tools for PyTorch's traces read."""
import gzip
import json
import os
import socket
import sys

from ._profiler_names import MEMORY_EVENT_NAME, DeviceType


# Rows of a trace stand in the order of these numbers: processes, which have their own, GPUs, the whole.
_GPUS_AFTER, _SPANS_LAST = 5_000_000, 536_870_912


def _metadata(event, pid, tid, /, **args):
    return {"ph": "M", "name": event, "ts": 0, "pid": pid, "tid": tid, "args": args}


def _category(event):
    if event.device_type != DeviceType.CPU:
        return "kernel"
    return "user_annotation" if event.is_user_annotation else "cpu_op"


def _arguments(event):
    args = {"External id": event.id}
    if event.sequence_nr >= 0:
        args["Sequence number"] = event.sequence_nr
        args["Fwd thread id"] = event.fwd_thread or 0
    args["Record function id"] = 0
    described = getattr(event, "arguments", None)
    if described:
        def one(listed, values):
            return values if listed == "TensorList" else (values[0] if values else [])
        args["Concrete Inputs"] = [value for _, _, _, value in described]
        args["Input type"] = [kind for kind, _, _, _ in described]
        args["Input Strides"] = [one(kind, strides) for kind, _, strides, _ in described]
        args["Input Dims"] = [one(kind, shapes) for kind, shapes, _, _ in described]
    if event.stack:
        args["Call stack"] = ";".join(reversed(event.stack))
    if event.flops:
        args["Total flops"] = event.flops
    return args


def _flow(phase, event, number, category, place):
    return {"ph": phase, "id": number, "pid": place[0], "tid": place[1], "ts": event.time_range.start, "cat": category,
            "name": category, **({"bp": "e"} if phase == "f" else {})}


def _memory_event(where, at, size, **more):
    on_cpu = more.get("device", -1) < 0
    args = {"Bytes": size, "Device Type": 0 if on_cpu else 1, "Device Id": more.get("device", -1)}
    args.update({"Addr": more["address"], "Total Allocated": more["total"], "Total Reserved": 0} if "address" in more else {})
    return {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": MEMORY_EVENT_NAME, "pid": where[0], "tid": where[1], "ts": at,
            "args": args}


def _memory_events(changes, place_of):
    """What storages got and gave back, each with the sum of its device since the profile began."""
    totals = {}
    for change in changes:
        totals[change.device] = totals.get(change.device, 0) + change.bytes
        yield _memory_event(place_of(change.thread), change.at / 1000, change.bytes, device=change.device, address=change.address,
                            total=totals[change.device])


def _marks(took_us):
    """The whole of the profile, as a row of its own, and its begin and end, which tools look for at the end of a trace."""
    return [{"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler", "ts": 0, "dur": took_us,
             "args": {"Op count": 0}},
            _metadata("process_sort_index", "Spans", 0, sort_index=_SPANS_LAST),
            {"ph": "i", "s": "g", "name": "Iteration Start: PyTorch Profiler", "pid": "Traces", "tid": "Trace PyTorch Profiler", "ts": 0},
            {"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": took_us}]


def trace_of(events, began_ns=0, took_us=None, system_threads=(), memory=(), metadata=None):
    """The trace as a dict; times are microseconds since baseTimeNanoseconds.  `memory`: MemoryChanges."""
    pid = os.getpid()
    base = began_ns // 1_000_000_000 * 1_000_000_000
    offset = (began_ns - base) / 1000

    def place_of(thread):
        return pid, system_threads[thread - 1] if 0 < thread <= len(system_threads) else thread

    def place(event):
        if event.device_type != DeviceType.CPU:
            return event.device_index, event.device_resource_id
        return place_of(event.thread)
    out, named, forward = [], set(), {}
    op_of = {e.id: e for e in events if e.device_type == DeviceType.CPU}
    out.append(_metadata("process_name", pid, 0, name=os.path.basename(sys.executable or "python")))
    out.append(_metadata("process_labels", pid, 0, labels="CPU"))
    out.append(_metadata("process_sort_index", pid, 0, sort_index=pid))
    flows = 0
    for event in events:
        where = place(event)
        on_host = event.device_type == DeviceType.CPU
        if where not in named:
            named.add(where)
            out.append(_metadata("thread_name", *where, name=f"thread {where[1]} (python)" if on_host else f"stream {where[1]}"))
            if not on_host:
                out.append(_metadata("process_labels", where[0], 0, labels=f"GPU {where[0]}"))
                out.append(_metadata("process_sort_index", where[0], 0, sort_index=_GPUS_AFTER + where[0]))
        if event.name == MEMORY_EVENT_NAME:
            if not memory:  # they are part of it
                out.append(_memory_event(where, event.time_range.start, event.cpu_memory_usage or event.device_memory_usage,
                                         device=-1 if event.cpu_memory_usage else 0))
            continue
        out.append({"ph": "X", "cat": _category(event), "name": event.trace_name, "pid": where[0], "tid": where[1],
                    "ts": event.time_range.start, "dur": event.time_range.elapsed_us(), "args": _arguments(event)})
        if not on_host:
            if event.id in op_of:
                flows += 1
                out += [_flow("s", op_of[event.id], flows, "ac2g", place(op_of[event.id])), _flow("f", event, flows, "ac2g", where)]
            continue
        if event.sequence_nr < 0:
            continue
        if event.scope == 1 and event.sequence_nr in forward:
            flows += 1
            first = forward.pop(event.sequence_nr)
            out += [_flow("s", first, flows, "fwdbwd", place(first)), _flow("f", event, flows, "fwdbwd", where)]
        elif event.scope == 0 and not event.name.startswith("autograd::engine"):
            forward[event.sequence_nr] = event
    out += _memory_events(memory, place_of)
    out += _marks(max([e.time_range.end for e in events], default=0) if took_us is None else took_us)
    for entry in out:
        entry["ts"] += offset
    return {"schemaVersion": 1, "deviceProperties": [], **(metadata or {}), "host_name": socket.gethostname(),
            "displayTimeUnit": "ms", "baseTimeNanoseconds": base, "traceEvents": out}


def write_trace(path, events, **arguments):
    """Writes trace_of() as JSON, compressed if the path ends with .gz."""
    path = os.fspath(path)
    trace = trace_of(events, **arguments)
    trace["traceName"] = path
    with (gzip.open(path, "wt") if path.endswith(".gz") else open(path, "w")) as file:
        json.dump(trace, file)
