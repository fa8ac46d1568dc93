"""torch.profiler: what it sees, next to what PyTorch saw of the same programs (recorded/profiler.json), and what it writes."""
import contextlib
import gzip
import json
import os
import subprocess
import sys
import threading
import time

import argand as torch
import argand.autograd.profiler as autograd_profiler
import argand.profiler as profiler
import pytest
from argand.profiler import ProfilerActivity, profile, record_function
from profiler_cases import CASES, RECORDED, profiled

with open(RECORDED) as file:
    EXPECTED = json.load(file)
CPU = [ProfilerActivity.CPU]


@pytest.fixture(autouse=True)
def nothing_stays_active():
    yield
    assert not torch._C._profiler_is_active()


@pytest.mark.parametrize("name", [name for name in CASES if name != "mlp"])
def test_as_pytorch(name):
    assert json.loads(json.dumps(CASES[name](torch))) == EXPECTED[name]


def test_a_training_step_next_to_pytorchs():
    ours, theirs = CASES["mlp"](torch), EXPECTED["mlp"]
    # linear, cross_entropy and the step of the optimizer are one op each here, and so are their gradients.
    own = {"aten::_cross_entropy", "aten::_cross_entropy_backward", "aten::full_like", "aten::conj", "aten::_linear_weight_grad",
           "aten::matmul", "aten::_fused_step_"}
    assert ours.keys() - theirs.keys() == own
    same = ours.keys() - own - {"aten::mm"}
    assert len(same) >= 12 and {name: ours[name] for name in same} == {name: theirs[name] for name in same}


def nested_program():
    w = torch.randn(16, 16, requires_grad=True)
    with record_function("outer"):
        with record_function("inner"):
            y = torch.matmul(w, w)
        y.exp().sum().backward()


def test_times_nest():
    events = profiled(torch, nested_program).events()
    assert {e.name for e in events} >= {"outer", "inner", "aten::matmul", "aten::mm", "ExpBackward0"}
    by_name = {e.name: e for e in events}
    assert by_name["inner"].cpu_parent is by_name["outer"] and by_name["aten::matmul"].cpu_parent is by_name["inner"]
    assert [e.name for e in by_name["aten::matmul"].cpu_children] == ["aten::mm"] and by_name["outer"].is_user_annotation
    for e in events:
        assert e.self_cpu_time_total >= 0 and e.cpu_time_total == e.time_range.elapsed_us()
        assert e.cpu_time_total == pytest.approx(e.self_cpu_time_total + sum(c.cpu_time_total for c in e.cpu_children))
        for child in e.cpu_children:
            assert child.cpu_parent is e and e.time_range.start <= child.time_range.start <= child.time_range.end <= e.time_range.end
        for first, second in zip(e.cpu_children, e.cpu_children[1:]):
            assert first.time_range.end <= second.time_range.start
    top = sum(e.cpu_time_total for e in events if e.cpu_parent is None)
    assert events.self_cpu_time_total == pytest.approx(top)
    averages = events.key_averages()
    assert sum(a.self_cpu_time_total for a in averages) == pytest.approx(top) and sum(a.count for a in averages) == len(events)
    assert events.total_average().count == len(events)


def test_times_are_the_ops_own():
    """Large pointwise ops, which would wait for each other otherwise, work where they are called.  A result gets its memory when it is
    written, so each op's own span has that of its result, and none is left for what comes behind: however long either takes."""
    n = 4_000_000  # enough to wait
    x = torch.ones(n)

    def program():
        y = x.exp()
        with record_function("between"):
            time.sleep(0.001)
        z = y + 1
        with record_function("behind"):
            return z.sum().item()
    by_name = {e.name: e for e in profiled(torch, program, profile_memory=True).events()}
    ops = ["aten::exp", "between", "aten::add", "behind"]
    assert [by_name[op].self_cpu_memory_usage for op in ops[:3]] == [4 * n, 0, 4 * n]
    assert abs(by_name["behind"].cpu_memory_usage) < 4 * n
    for earlier, later in zip(ops, ops[1:]):
        assert by_name[earlier].time_range.end <= by_name[later].time_range.start
    assert all(by_name[op].cpu_time_total == by_name[op].time_range.elapsed_us() for op in ops)


def test_memory_is_counted_where_it_is_taken():
    def program():
        with record_function("range"):
            x = torch.empty(1000).add_(1)
            y = x + x
            del x
    by_name = {e.name: e for e in profiled(torch, program, profile_memory=True).events()}
    assert by_name["aten::add"].cpu_memory_usage == by_name["aten::add"].self_cpu_memory_usage == 4000
    assert by_name["aten::empty"].cpu_memory_usage == 0 and by_name["aten::add_"].cpu_memory_usage == 4000  # taken when it is written
    assert by_name["range"].self_cpu_memory_usage == -4000
    assert by_name["range"].cpu_memory_usage == 4000  # y, which goes after the range
    assert by_name["[memory]"].cpu_memory_usage == -4000


def test_memory_in_a_trace(tmp_path):
    """Every change has its address and the sum so far, as tools that draw memory over time want it."""
    with profile(activities=CPU, profile_memory=True) as p:
        with record_function("range"):
            x = torch.zeros(1000) + 1
            y = x * 2
        address = x.data_ptr()
        del x
        z = torch.ones(10)
    p.export_chrome_trace(tmp_path / "trace.json")
    del y, z
    memory = [e for e in json.loads((tmp_path / "trace.json").read_text())["traceEvents"] if e["name"] == "[memory]"]
    assert all(e["ph"] == "i" and e["tid"] == threading.get_native_id() and "dur" not in e for e in memory)
    changes = [(e["args"]["Bytes"], e["args"]["Total Allocated"]) for e in memory]
    assert changes[-1][1] == 4040
    assert [sum(size for size, _ in changes[:i + 1]) for i in range(len(changes))] == [total for _, total in changes]
    assert [e["args"]["Bytes"] for e in memory if e["args"]["Addr"] == address][-2:] == [4000, -4000]
    assert {(e["args"]["Device Type"], e["args"]["Device Id"]) for e in memory} == {(0, -1)}


def test_marks_of_a_trace(tmp_path):
    with profile(activities=CPU) as p:
        nested_program()
    p.export_chrome_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    whole, sort, begin, end = events[-4:]
    assert [e["name"] for e in (whole, begin, end)] == ["PyTorch Profiler (0)", "Iteration Start: PyTorch Profiler", "Record Window End"]
    assert begin["ts"] == whole["ts"] and end["ts"] == whole["ts"] + whole["dur"] and sort["name"] == "process_sort_index"
    assert all(whole["ts"] <= e["ts"] and e["ts"] + e.get("dur", 0) <= end["ts"] for e in events)
    assert [e["args"] for e in events if e["name"] == "process_sort_index" and e["pid"] == os.getpid()] == [{"sort_index": os.getpid()}]


def test_trace(tmp_path):
    with profile(activities=CPU, record_shapes=True, profile_memory=True) as p:
        nested_program()
        p.add_metadata("name", "value")
        p.add_metadata_json("numbers", "[1, 2]")
    for path in (tmp_path / "trace.json", str(tmp_path / "trace.json.gz")):
        p.export_chrome_trace(path)
    with gzip.open(tmp_path / "trace.json.gz", "rt") as file:
        compressed = json.load(file)
    trace = json.loads((tmp_path / "trace.json").read_text())
    assert compressed["traceEvents"] == trace["traceEvents"]
    assert trace["name"] == "value" and trace["numbers"] == [1, 2] and trace["schemaVersion"] == 1
    spans = [e for e in trace["traceEvents"] if e["ph"] == "X" and e["cat"] != "Trace"]
    assert len(spans) == sum(e.name != "[memory]" for e in p.events())
    assert {e["cat"] for e in spans} == {"cpu_op", "user_annotation"}
    assert {e["pid"] for e in spans} == {os.getpid()} and {e["tid"] for e in spans} == {threading.get_native_id()}
    mm = next(e for e in spans if e["name"] == "aten::mm")
    assert mm["args"]["Input Dims"] == [[16, 16], [16, 16]] and mm["args"]["Input type"] == ["float32", "float32"]
    assert abs(trace["baseTimeNanoseconds"] / 1e9 + mm["ts"] / 1e6 - time.time()) < 60
    open_spans = []
    for e in sorted(spans, key=lambda e: (e["ts"], -e["dur"])):
        while open_spans and open_spans[-1]["ts"] + open_spans[-1]["dur"] <= e["ts"]:
            open_spans.pop()
        assert not open_spans or e["ts"] + e["dur"] <= open_spans[-1]["ts"] + open_spans[-1]["dur"] + 1e-3, (e, open_spans[-1])
        open_spans.append(e)
    flows = [e for e in trace["traceEvents"] if e.get("cat") == "fwdbwd"]
    starts = {e["id"]: e["ts"] for e in flows if e["ph"] == "s"}
    ends = {e["id"]: e["ts"] for e in flows if e["ph"] == "f"}
    assert len(starts) == 3 and starts.keys() == ends.keys() and all(starts[n] < ends[n] for n in starts)  # mm, exp, sum
    at = {e["ts"]: e["name"] for e in spans}
    assert {(at[starts[n]], at[ends[n]]) for n in starts} == {
        ("aten::mm", "MmBackward0"), ("aten::exp", "ExpBackward0"), ("aten::sum", "SumBackward0")}


def test_tensorboard_finds_its_traces(tmp_path):
    folder = tmp_path / "log" / "run"
    handler = profiler.tensorboard_trace_handler(str(folder), worker_name="worker0", use_gzip=True)
    with profile(activities=CPU, schedule=profiler.schedule(wait=0, warmup=1, active=1), on_trace_ready=handler) as p:
        for _ in range(4):
            torch.ones(3)
            p.step()
    names = sorted(os.listdir(folder))
    assert len(names) == 2 and all(n.startswith("worker0.") and n.endswith(".pt.trace.json.gz") for n in names)
    with gzip.open(folder / names[0], "rt") as file:
        assert any(e["name"] == "ProfilerStep#1" for e in json.load(file)["traceEvents"])


def called_here():
    return torch.ones(2, 2).exp()


def test_stacks(tmp_path):
    p = profiled(torch, called_here, with_stack=True)
    exp = next(e for e in p.events() if e.name == "aten::exp")
    assert exp.stack[0].startswith(__file__) and exp.stack[0].endswith("): called_here") and "profiled" in exp.stack[1]
    assert __file__[-20:] in p.key_averages(group_by_stack_n=1).table()
    p.export_stacks(str(tmp_path / "stacks"), "self_cpu_time_total")
    lines = (tmp_path / "stacks").read_text().splitlines()
    assert lines and all(int(line.split()[-1]) > 0 and "called_here" in line.split()[0].split(";")[-1] for line in lines)
    with pytest.raises(AssertionError, match="with_stack=True"):
        profiled(torch, called_here).export_stacks(str(tmp_path / "none"))
    with pytest.raises(ValueError, match="metric should be one of"):
        p.export_stacks(str(tmp_path / "none"), "count")


def test_record_function_decorates():
    @record_function("decorated")
    def twice(x):
        """Text."""
        return x * 2

    def program():
        twice(torch.ones(1))
        twice(torch.ones(1))
        with pytest.raises(ValueError), record_function("fails"):
            raise ValueError
        torch.ones(1)
    events = profiled(torch, program).events()
    assert twice.__doc__ == "Text." and sum(e.name == "decorated" for e in events) == 2
    assert all(e.cpu_parent.name == "decorated" for e in events if e.name == "aten::mul")
    assert next(e for e in events if e.name == "fails").cpu_children == []
    with pytest.raises(TypeError, match="expected a str as name, got int"):
        record_function(3).__enter__()


def test_threads():
    def work():
        with record_function("thread"):
            (torch.ones(2, requires_grad=True) * 2).sum().backward()

    def program():
        work()
        threads = [threading.Thread(target=work) for _ in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    events = profiled(torch, program).events()
    assert sorted(e.thread for e in events if e.name == "thread") == [1, 2, 3, 4]
    nodes = [e for e in events if e.name == "MulBackward0"]
    assert len(nodes) == 4 and all(e.thread == e.fwd_thread for e in nodes)


def test_loaders_and_optimizers_have_names():
    class Numbers(torch.utils.data.Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            return torch.tensor(float(i))

    def program():
        for _ in torch.utils.data.DataLoader(Numbers(), 2):
            pass
        for _ in torch.utils.data.DataLoader(Numbers(), 2, num_workers=1):
            pass
    counts = {e.key: e.count for e in profiled(torch, program).key_averages()}
    assert counts["enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"] == 3
    assert counts["enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"] == 3


def test_events_of_cycles_are_kept_on_demand():
    for keep in (False, True):
        with pytest.warns(UserWarning) if not keep else contextlib.nullcontext():
            if not keep:
                from argand.profiler.profiler import _warn_once
                _warn_once.cache_clear()
            with profile(activities=CPU, schedule=profiler.schedule(wait=1, warmup=1, active=1), acc_events=keep) as p:
                for _ in range(6):
                    torch.ones(3)
                    p.step()
        assert sum(e.name == "aten::ones" for e in p.events()) == (2 if keep else 1)


def test_errors():
    with profile(activities=CPU) as p:
        for other in (profile(activities=CPU), autograd_profiler.profile()):
            with pytest.raises(RuntimeError, match="already enabled"):
                other.__enter__()
        for early in (p.key_averages, p.events, lambda: p.export_chrome_trace("never")):
            with pytest.raises(RuntimeError, match="didn't finish running"):
                early()
        torch.ones(1)
    assert {e.key for e in p.key_averages()} == {"aten::ones", "aten::full"}
    for early in (p.__class__(activities=CPU).key_averages, p.__class__(activities=CPU).events, p.__class__(activities=CPU).stop):
        with pytest.raises(AssertionError, match="Profiler must be initialized before"):
            early()
    with pytest.raises(TypeError, match="Expected ProfilerActivity or dict, got <class 'str'>"):
        profile(activities=["cpu"])
    with pytest.raises(AssertionError, match="No valid profiler activities found"):
        profile(activities=[ProfilerActivity.XPU])
    with pytest.raises(AssertionError, match=r"active=0 \(need > 0\)"):
        profiler.schedule(wait=1, warmup=1, active=0)
    with pytest.raises(TypeError, match="must return a ProfilerAction"):
        profile(activities=CPU, schedule=lambda step: 7).start()
    with pytest.raises(TypeError, match="expected a function as schedule"):
        profile(schedule=3)
    with pytest.raises(RuntimeError, match="ITT"):
        autograd_profiler.emit_itt().__enter__()
    with pytest.raises(ValueError, match="time_unit"):
        p.events().table(time_unit="h")
    with pytest.raises(RuntimeError, match="Can't create directory"):
        profiler.tensorboard_trace_handler(os.devnull + "/log")(p)


def test_autograd_profiler():
    with autograd_profiler.profile(record_shapes=True, profile_memory=True) as p:
        torch.ones(2, 3).exp()
    assert repr(autograd_profiler.profile()) == "<unfinished torch.autograd.profile>"
    assert [e.name for e in p.function_events][:3] == ["aten::ones", "aten::full", "aten::exp"]
    assert p.self_cpu_time_total == pytest.approx(p.total_average().self_cpu_time_total) and "aten::exp" in p.table() and "CPU Mem" in str(p)
    assert [a.input_shapes for a in p.key_averages(group_by_input_shape=True) if a.key == "aten::exp"] == [[[2, 3]]]
    with pytest.raises(RuntimeError, match="not reentrant"):
        p.__enter__()
    with autograd_profiler.profile(enabled=False) as nothing:
        assert nothing is None and not torch._C._profiler_is_active()
    tracker = autograd_profiler.KinetoStepTracker
    before = tracker.current_step()
    tracker.init_step_count("test")
    assert tracker.increment_step("test") == before + 1 == tracker.current_step()
    assert tracker.erase_step_count("test") and not tracker.erase_step_count("test")


def test_forked_children():
    with profile(activities=CPU) as p:
        torch.ones(1)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                torch.zeros(1)
                p.stop()
                code = 2 * len(p.events())
                with profile(activities=CPU) as own:
                    torch.zeros(1)
                code |= 4 * (own.events()[0].name != "aten::zeros")
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert [e.name for e in p.events()] == ["aten::ones", "aten::full"]


def test_nothing_is_kept_after_a_profile():
    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")
    x = torch.ones(1)

    def record():
        with profile(activities=CPU, record_shapes=True):
            for _ in range(20000):
                x.add(1)
    record()
    before = resident()
    for _ in range(6):
        record()
    assert resident() - before < 60_000_000  # one profile of these takes about 30 MB


def test_without_a_profile_an_op_costs_what_it_did():
    """A range costs a look at a flag, and the ops of a profile that has ended cost what those before it did."""
    x = torch.ones(8)

    def per_call(f, rounds=400, n=100):
        best = 1.0
        for _ in range(rounds):  # of some ten microseconds: one of them has the processor for itself on a busy machine, too
            begin = time.perf_counter()
            for _ in range(n):
                f()
            best = min(best, (time.perf_counter() - begin) / n)
        return best
    for _ in range(8):  # a neighbour may take the processor's clock or caches away for longer than a measurement
        before = per_call(lambda: x.add(x))
        with profile(activities=CPU):
            during = per_call(lambda: x.add(x))
        after = per_call(lambda: x.add(x))
        if after < 1.3 * before and during > 1.15 * before:
            break
    else:
        pytest.fail(f"an op took {before}, while profiled {during}, and {after} afterwards")
    assert per_call(lambda: torch._C._profiler_range("name", "")) < 2e-6


def run(*arguments):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=120)


def test_work_of_a_gpu(tmp_path):
    """On the pretended GPU, where all times are 0: whose they are."""
    script = tmp_path / "script.py"
    script.write_text("import json, torch\n"
                      "from torch.profiler import ProfilerActivity, profile, supported_activities\n"
                      "if not torch.cuda.is_available(): raise SystemExit('no CUDA here')\n"
                      "assert supported_activities() == {ProfilerActivity.CPU, ProfilerActivity.CUDA}\n"
                      "a, b = torch.ones(4, 4, device='cuda'), torch.ones(4)\n"
                      "def work(): return torch.matmul(a, a), b + 1\n"
                      "with profile(profile_memory=True) as p: kept = work()\n"
                      "print([(e.name, e.device_type.name, len(e.kernels), e.device_memory_usage) for e in p.events()\n"
                      "       if 'mm' in e.name or 'mat' in e.name])\n"
                      "print([len(e.kernels) for e in p.events() if e.name == 'aten::add'])\n"
                      "p.export_chrome_trace('trace.json')\n"
                      "events = json.load(open('trace.json'))['traceEvents']\n"
                      "print([(e['name'], e['pid']) for e in events if e.get('cat') == 'kernel'], sum(e.get('cat') == 'ac2g' for e in events))\n"
                      "with profile(activities=[ProfilerActivity.CUDA]) as p: work()\n"
                      "print([(e.name, e.device_type.name) for e in p.events()])\n")
    out = subprocess.run([sys.executable, "-m", "argand", str(script)], capture_output=True, text=True, timeout=300, cwd=tmp_path,
                         env={**os.environ, "ARGAND_CUDA_DRY_RUN": "1"})
    if "no CUDA here" in out.stderr:
        pytest.skip("built without CUDA")
    assert out.returncode == 0, (out.returncode, out.stderr)
    lines = out.stdout.splitlines()
    assert sorted(eval(lines[0])) == [("aten::matmul", "CPU", 0, 64), ("aten::mm", "CPU", 1, 64), ("aten::mm", "CUDA", 0, 0)], out.stderr
    assert lines[1:] == ["[0]", "[('aten::mm', 0)] 2", "[('aten::mm', 'CUDA')]"]


def test_names(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import torch.profiler, torch.autograd.profiler as old\n"
                      "from torch.profiler import ProfilerActivity, profile, record_function, schedule, ProfilerAction, kineto_available\n"
                      "from torch.profiler.profiler import _KinetoProfile, supported_activities\n"
                      "from torch.autograd.profiler_util import EventList, FunctionEvent, FunctionEventAvg, Kernel, MemRecordsAcc, Interval\n"
                      "import torch\n"
                      "assert torch.profiler.record_function is torch.autograd.profiler.record_function is old.record_function\n"
                      "assert kineto_available() and supported_activities() >= {ProfilerActivity.CPU} and not torch.profiler.is_fbcode\n"
                      "with profile() as p: torch.ones(2)\n"
                      "print(p.events()[0].name)\n")
    out = run("-m", "argand", str(script))
    assert out.stdout == "aten::ones\n", out.stderr
    out = run("-c", "import argand, sys; print([m for m in sys.modules if 'profiler' in m and 'argand' in m]); print(argand.profiler.profile, "
                    "argand.autograd.profiler.profile)")
    assert out.stdout.splitlines() == ["[]", "<class 'argand.profiler.profiler.profile'> <class 'argand.autograd.profiler.profile'>"], out.stderr


def test_whether_a_profiler_records_is_told():
    from argand.autograd import profiler
    assert profiler._is_profiler_enabled is False
    with profiler.profile():
        assert profiler._is_profiler_enabled is True
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]):
        assert profiler._is_profiler_enabled is True
    assert profiler._is_profiler_enabled is False
