"""Process groups whose collectives run on GPUs: needs two of them."""
import signal
import time

import argand
import pytest
from launching import SOON
from ranks import finish, run, start

pytestmark = pytest.mark.skipif(argand.cuda.device_count() < 2, reason=f"needs 2 GPUs, found {argand.cuda.device_count()}")

INIT = "torch.cuda.set_device(int(os.environ['RANK'])); dist.init_process_group('nccl')"


def run_on_gpus(tmp_path, body, size=2):
    return run(tmp_path, size, body, init=INIT)


def test_collectives(tmp_path):
    """Each gives what it gives in host memory."""
    run_on_gpus(tmp_path, """
        assert dist.get_backend() == "nccl" and dist.is_nccl_available()
        ops = [dist.ReduceOp.SUM, dist.ReduceOp.AVG, dist.ReduceOp.PRODUCT, dist.ReduceOp.MIN, dist.ReduceOp.MAX]
        dtypes = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.uint8, torch.complex64]
        def same(call, *shapes, dtype=torch.float32):
            host = [(torch.arange(n) % 5 + rank + 1).to(dtype) for n in shapes]
            gpu = [t.cuda() for t in host]
            call(host); call(gpu)
            for a, b in zip(host, gpu):
                assert b.is_cuda and torch.equal(a, b.cpu()), (call, dtype, a, b)
        for dtype in dtypes:
            for op in ops:
                if op == dist.ReduceOp.AVG and not (dtype.is_floating_point or dtype.is_complex): continue
                if dtype.is_complex and op not in (dist.ReduceOp.SUM, dist.ReduceOp.AVG): continue
                for n in (1, 1000, 100_003):
                    same(lambda t: dist.all_reduce(t[0], op), n, dtype=dtype)
                same(lambda t: dist.reduce(t[0], 1, op) if rank == 1 else dist.reduce(t[0].clone(), 1, op), 77, dtype=dtype)
                same(lambda t: dist.reduce_scatter(t[0], t[1:], op), 5, *[5] * size, dtype=dtype)
                same(lambda t: dist.reduce_scatter_tensor(t[0], t[1], op), 6, 6 * size, dtype=dtype)
            same(lambda t: dist.broadcast(t[0], 1), 99, dtype=dtype)
            same(lambda t: dist.all_gather(t[1:], t[0]), 5, *[5] * size, dtype=dtype)
            same(lambda t: dist.all_gather_into_tensor(t[1], t[0]), 5, 5 * size, dtype=dtype)
            same(lambda t: dist.all_to_all(t[:size], t[size:]), *[4] * (2 * size), dtype=dtype)
            same(lambda t: dist.all_to_all_single(t[1], t[0]), 4 * size, 4 * size, dtype=dtype)
            same(lambda t: dist.gather(t[0], t[1:] if rank == 0 else None), 5, *[5] * size, dtype=dtype)
            same(lambda t: dist.scatter(t[0], t[1:] if rank == 0 else None), 5, *[5] * size, dtype=dtype)
        same(lambda t: dist.all_reduce(t[0], dist.ReduceOp.BOR), 9, dtype=torch.int64)  # through host memory
        t = torch.arange(12.).view(3, 4).t().cuda(); u = t + rank; dist.all_reduce(u); assert torch.equal(u, 2 * t + 1)  # not contiguous
        got = [None] * size; dist.all_gather_object(got, {"rank": rank}); assert got == [{"rank": r} for r in range(size)]
        if rank == 0: dist.send(torch.ones(4).cuda(), 1)
        else: t = torch.zeros(4).cuda(); dist.recv(t); assert t.sum() == 4
        pair = dist.new_group([1, 0]); t = torch.ones(3).cuda(); dist.all_reduce(t, group=pair); assert t.tolist() == [2] * 3
        host_pair = dist.new_group(backend="gloo"); t = torch.ones(3).cuda(); dist.all_reduce(t, group=host_pair); assert t.tolist() == [2] * 3
        dist.barrier()
    """)


def test_order(tmp_path):
    """A collective waits for what computes its tensor, and what uses its result for the collective; memory that is freed early is not reused."""
    run_on_gpus(tmp_path, """
        for step in range(200):
            x = torch.full((1 << 20,), float(rank + 1), device="cuda")
            for _ in range(20): x = x * 1.0
            work = dist.all_reduce(x, async_op=True)
            y = torch.full((1 << 20,), -1.0, device="cuda")
            work.wait()
            z = x + 0
            del x, work
            junk = torch.full((1 << 20,), 9.0, device="cuda")
            assert z.min() == 3 and z.max() == 3, step
        works = [dist.all_reduce(torch.ones(1 << 18, device="cuda"), async_op=True) for _ in range(50)]  # nobody holds the tensors
        for w in works: w.wait(); assert w.result()[0].sum() == 2 << 18 and w.is_completed() and w.is_success()
    """)


def test_ddp_equals_one_process(tmp_path):
    run_on_gpus(tmp_path, """
        def model():
            torch.manual_seed(0)
            return torch.nn.Sequential(torch.nn.Linear(8, 64), torch.nn.Tanh(), torch.nn.Linear(64, 4)).double().cuda()
        x = torch.randn(16, 8, dtype=torch.double, generator=torch.Generator().manual_seed(1)).cuda()
        y = torch.randn(16, 4, dtype=torch.double, generator=torch.Generator().manual_seed(2)).cuda()
        alone, ours = model(), torch.nn.parallel.DistributedDataParallel(model(), device_ids=[rank], bucket_cap_mb=0.001)
        for m, rows in ((alone, slice(0, 16)), (ours, slice(rank * 8, rank * 8 + 8))):
            optimizer = torch.optim.Adam(m.parameters(), lr=0.01)
            for _ in range(5):
                optimizer.zero_grad()
                torch.nn.functional.mse_loss(m(x[rows]), y[rows]).backward()
                optimizer.step()
        for a, b in zip(alone.parameters(), ours.module.parameters()):
            torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)
    """)


def test_captured_graph(tmp_path):
    run_on_gpus(tmp_path, """
        x = torch.ones(1000, device="cuda"); dist.all_reduce(x)  # makes the communicator
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = x * 2
            dist.all_reduce(y)
            z = y + 1
        for step in range(5):
            x.fill_(step + rank)
            graph.replay()
            assert z.tolist() == [2.0 * (2 * step + 1) + 1] * 1000
    """)


def test_different_calls(tmp_path):
    processes = start(tmp_path, 2, "t = torch.ones(3 + rank).cuda(); dist.all_reduce(t); print(t.sum().item())", init=INIT)
    for status, out, err in finish(processes):
        assert status == 1 and "the ranks of the group call different things" in err and "float32 [4]" in err, out + err


@pytest.mark.parametrize("connected", [True, False])
@pytest.mark.parametrize("how", ["kill", "stop", "exit"])
def test_a_lost_rank(tmp_path, how, connected):
    """Without a collective before it, the other rank waits on the host, inside of NCCL."""
    processes = start(tmp_path, 2, f"""
        t = torch.ones(1 << 20).cuda()
        if {connected}: dist.all_reduce(t); torch.cuda.synchronize()
        if rank == 1:
            print("ready")
            time.sleep(0.5)
            {"os._exit(3)" if how == "exit" else "time.sleep(30)"}
        begin = time.monotonic()
        try:
            for _ in range(1000): dist.all_reduce(t); t.sum().item()
        except dist.DistBackendError as e:
            print(f"{{time.monotonic() - begin:.2f}} {{type(e).__name__}} {{e.rank}}")
            os._exit(0)
    """, init=INIT)
    try:
        assert processes[1].stdout.readline() == "ready\n"
        if how != "exit":
            time.sleep(0.2)
            processes[1].send_signal(signal.SIGKILL if how == "kill" else signal.SIGSTOP)
        out, err = processes[0].communicate(timeout=30)
        seconds, name, rank = out.split()
        assert name == "PeerLost" and rank == "1" and float(seconds) < SOON, out + err
    finally:
        for p in processes:
            p.kill()
            p.wait()
