"""Programs that are profiled; test_profiler.py compares what Argand and PyTorch saw.

Run with PyTorch's Python, this file writes what PyTorch saw to recorded/profiler.json.
"""
import json
import os
import warnings

RECORDED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recorded", "profiler.json")


def profiled(torch, program, **options):
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], **options) as p:
        program()
    return p


def mlp(torch):
    """Calls by name of a step that trains a network with two layers."""
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = torch.ones(32, 8), torch.zeros(32, dtype=torch.int64)

    def step():
        optimizer.zero_grad()
        with torch.profiler.record_function("loss"):
            loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    step()
    return {e.key: e.count for e in profiled(torch, step).key_averages()}


def same_ops(torch):
    """Calls by name, shapes and scope of ops that are one op in both libraries, in all forms of a call, and of backward nodes."""
    a, b = torch.ones(2, 3, requires_grad=True), torch.ones(3, 4)
    out = torch.empty(2, 4)

    def program():
        c = a.mm(b)
        c.exp().tanh()
        torch.cat([c, c], 1)
        torch.addmm(c, a, b)
        out.add_(1).mul_(2)
        torch.sub(out, 1, out=out)
        (c * c).sigmoid().backward(torch.ones(2, 4))
    events = profiled(torch, program, record_shapes=True).events()
    names = ("aten::mm", "aten::exp", "aten::tanh", "aten::cat", "aten::addmm", "aten::add_", "aten::mul_", "aten::sub", "aten::sigmoid",
             "MmBackward0", "MulBackward0", "SigmoidBackward0", "torch::autograd::AccumulateGrad",
             "autograd::engine::evaluate_function: MulBackward0", "autograd::engine::evaluate_function: MmBackward0",
             "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad")
    # What a gradient is made of may differ, and PyTorch counts `out` among the arguments.
    return [[e.name, e.scope, [s for s in e.input_shapes if s and not isinstance(s[0], list)][:1 if "sub" in e.name else 3]]
            for e in events if e.name in names and (e.scope == 1 or e.cpu_parent is None)]


def flops(torch):
    a, b, v = torch.ones(2, 3), torch.ones(3, 4), torch.ones(5, 2, 3)
    image, kernel = torch.ones(2, 6, 9, 8), torch.ones(4, 3, 3, 3)

    def program():
        a.mm(b)
        torch.addmm(torch.ones(2, 4), a, b)
        v.bmm(torch.ones(5, 3, 7))
        a * a
        a + a
        torch.nn.functional.conv2d(image, kernel, stride=(2, 1), padding=1, groups=2)
    found = {}
    for e in profiled(torch, program, with_flops=True).key_averages():
        if e.flops:
            found[e.key] = e.flops
    return found


def schedules(torch):
    """For schedules: the steps at which on_trace_ready was called, and which steps were recorded."""
    out = []
    P = torch.profiler
    for options, steps in (({"wait": 1, "warmup": 1, "active": 2}, 9), ({"wait": 0, "warmup": 0, "active": 1}, 3),
                           ({"wait": 1, "warmup": 1, "active": 3, "repeat": 2, "skip_first": 2}, 16),
                           ({"wait": 2, "warmup": 1, "active": 1, "skip_first": 1, "skip_first_wait": 1}, 8),
                           ({"wait": 1, "warmup": 2, "active": 3}, 2), ({"wait": 1, "warmup": 1, "active": 3}, 4)):
        seen = []

        def ready(p):
            seen.append([p.step_num, sorted(e.key for e in p.key_averages() if e.key.startswith(("ProfilerStep", "mine")))])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            schedule = P.schedule(**options)
            with P.profile(activities=[P.ProfilerActivity.CPU], schedule=schedule, on_trace_ready=ready) as p:
                for step in range(steps):
                    with P.record_function(f"mine{step}"):
                        torch.ones(1)
                    p.step()
        out.append([[schedule(i).name for i in range(steps)], seen])
    return out


def odd_schedules(torch):
    """Actions that do not go together: what is warned about, and when a trace is ready."""
    P = torch.profiler
    A = P.ProfilerAction
    out = []
    for actions in ([A.WARMUP, A.NONE], [A.RECORD, A.NONE], [A.RECORD, A.WARMUP, A.RECORD_AND_SAVE], [A.RECORD_AND_SAVE, A.WARMUP],
                    [A.RECORD_AND_SAVE, A.RECORD, A.RECORD_AND_SAVE, A.RECORD_AND_SAVE, A.NONE], [A.NONE, A.RECORD]):
        ready = []
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with P.profile(activities=[P.ProfilerActivity.CPU], schedule=lambda i: actions[min(i, len(actions) - 1)],
                           on_trace_ready=lambda p: ready.append(p.step_num)) as p:
                for _ in actions[1:]:
                    p.step()
        out.append([ready, [str(w.message) for w in caught if "Incorrect" in str(w.message)]])
    return out


def tables(torch):
    """Tables of events made by hand."""
    U = torch.autograd.profiler_util

    def event(number, name, begin, end, **more):
        return U.FunctionEvent(number, name, 1, begin, end, **{"stack": [], "flops": 0, **more})

    def events(device=None, memory=False, flops=0, stack=False, **more):
        out = [event(1, "outer", 0, 1000, input_shapes=[[2, 3], []], use_device=device),
               event(2, "aten::mm", 100, 400, cpu_memory_usage=2048, input_shapes=[[2, 3], [3, 4]], flops=flops, use_device=device,
                     stack=["a.py(3): f", "b.py(1): <module>"] if stack else [], device_memory_usage=4096 if device and memory else 0),
               event(3, "aten::mm", 500, 600, cpu_memory_usage=-100, input_shapes=[[2, 3], [3, 5]], use_device=device),
               event(4, "a very long name " * 6, 2000, 2_000_000, use_device=device, **more)]
        if device:
            out[1].append_kernel("k", 0, 77)
            out.append(event(9, "kernel", 200, 277, device_type=torch.autograd.DeviceType.CUDA, use_device=device))
        events = U.EventList(out, use_device=device, profile_memory=memory, with_flops=bool(flops))
        events._build_tree()
        return events
    out = [U.EventList([]).table()]
    for options in ({}, {"memory": True}, {"device": "cuda"}, {"device": "cuda", "memory": True}, {"flops": 48_000_000}, {"stack": True},
                    {"node_id": 3}, {"is_async": True}):
        found = events(**options)
        out += [found.table(sort_by="cpu_time_total", row_limit=2, header="Of this"), found.table(top_level_events_only=True),
                found.table(max_name_column_width=20, max_shapes_column_width=12, max_src_column_width=12), str(found.key_averages()),
                found.key_averages(group_by_input_shapes=True).table(sort_by="self_cpu_time_total", time_unit="ms"),
                found.key_averages(group_by_stack_n=1).table(sort_by="count"), str(found.key_averages()[1]), str(found.total_average())]
    twins = U.EventList([event(1, "a", 0, 100), event(2, "a", 10, 90), event(3, "b", 20, 30), event(4, "c", 50, 150)])
    twins._build_tree()
    return out + [[[e.name, e.cpu_parent and e.cpu_parent.name, e.cpu_time_total, e.self_cpu_time_total] for e in twins]]


CASES = {f.__name__: f for f in (mlp, same_ops, flops, schedules, odd_schedules, tables)}


if __name__ == "__main__":
    import torch
    with open(RECORDED, "w") as file:
        json.dump({name: case(torch) for name, case in CASES.items()}, file, indent=1)
        file.write("\n")
