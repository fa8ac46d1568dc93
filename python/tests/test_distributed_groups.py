"""Process groups of several processes: collectives, groups, objects, messages, and what goes wrong."""
import datetime
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import textwrap
import time

import pytest
from launching import SOON, free_port
from ranks import PACKAGE, finish, run, start

import argand

pytestmark = pytest.mark.skipif(not argand.distributed.is_gloo_available(), reason="libgloo is not installed")


@pytest.mark.parametrize("size", [2, 3])
def test_collectives(tmp_path, size):
    run(tmp_path, size, """
        def mine(n=4, of=rank): return torch.arange(n) * 10 + of
        total = sum(range(size))
        t = mine(); assert dist.all_reduce(t) is None and t.tolist() == [10 * size * i + total for i in range(4)]
        t = mine().float(); w = dist.all_reduce(t, dist.ReduceOp.MAX, async_op=True)
        assert w.wait() and w.is_completed() and w.is_success() and w.exception() is None and w.result()[0] is t
        assert t.tolist() == mine(of=size - 1).tolist()
        t = mine(); future = dist.all_reduce(t, async_op=True).get_future(); assert future.wait()[0].tolist() == t.tolist()
        t = torch.ones(2); dist.all_reduce(t, dist.distributed_c10d._make_nccl_premul_sum(0.5)); assert t.tolist() == [size / 2] * 2
        t = mine(); dist.broadcast(t, src=1); assert t.tolist() == mine(of=1).tolist()
        t = mine(); dist.reduce(t, dst=1); assert (t.tolist() == [10 * size * i + total for i in range(4)]) == (rank == 1)
        out = [torch.zeros(4, dtype=torch.int64) for _ in range(size)]
        dist.all_gather(out, mine()); assert [o.tolist() for o in out] == [mine(of=r).tolist() for r in range(size)]
        out = torch.zeros(size, 4, dtype=torch.int64); dist.all_gather_into_tensor(out, mine())
        assert out.tolist() == [mine(of=r).tolist() for r in range(size)]
        out = [torch.zeros(4, dtype=torch.int64) for _ in range(size)] if rank == 1 else None
        dist.gather(mine(), out, dst=1); assert rank != 1 or out[0].tolist() == mine(of=0).tolist()
        got = torch.zeros(4, dtype=torch.int64)
        dist.scatter(got, [mine(of=10 * r) for r in range(size)] if rank == 0 else None, src=0); assert got.tolist() == mine(of=10 * rank).tolist()
        got = torch.zeros(4, dtype=torch.int64); dist.reduce_scatter(got, [mine(of=r) for r in range(size)])
        assert got.tolist() == [size * x for x in mine().tolist()]
        got = torch.zeros(2, dtype=torch.int64); dist.reduce_scatter_tensor(got, torch.arange(2 * size)); assert got.tolist() == [2 * rank * size, (2 * rank + 1) * size]
        got = [torch.zeros(1, dtype=torch.int64) for _ in range(size)]
        dist.all_to_all(got, [torch.tensor([100 * rank + r]) for r in range(size)]); assert [int(g) for g in got] == [100 * r + rank for r in range(size)]
        got = torch.zeros(size, dtype=torch.int64); dist.all_to_all_single(got, torch.arange(size) + 100 * rank)
        assert got.tolist() == [100 * r + rank for r in range(size)]
        dist.all_reduce_coalesced([t := torch.ones(2), u := torch.ones(3)]); assert t.tolist() == [size] * 2 and u.tolist() == [size] * 3
        p = torch.nn.Parameter(torch.full((2,), float(rank))); dist.broadcast(p.data, 0); assert p.tolist() == [0, 0]
        c = torch.complex(torch.ones(2), torch.ones(2)); dist.all_reduce(c); assert c.tolist() == [complex(size, size)] * 2
        dist.barrier(); assert dist.barrier(async_op=True).wait()
        dist.monitored_barrier()
    """)


PROGRAM = pathlib.Path(__file__).with_name("all_collectives.py")


@pytest.mark.parametrize("size", [2, 3, 4])
def test_every_dtype_and_reduction(size):
    env = dict(os.environ, PYTHONPATH=str(PACKAGE), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port()), WORLD_SIZE=str(size), OMP_NUM_THREADS="1")
    results = finish([subprocess.Popen([sys.executable, "-B", str(PROGRAM), "gloo"], env=dict(env, RANK=str(rank)), text=True, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE) for rank in range(size)], 400)
    assert [result[:2] for result in results] == [(0, f"done {rank}\n") for rank in range(size)], results


def test_methods_of_a_group_with_options(tmp_path):
    run(tmp_path, 2, """
        group, seconds = dist.group.WORLD, lambda n: datetime.timedelta(seconds=n)
        def values(work, *tensors): assert work.wait(); return [t.tolist() for t in tensors]
        pair = lambda: [torch.full((2,), 1.0 + rank), torch.full((2,), 10.0 + rank)]
        a, b = pair(); assert values(group.allreduce([a]), a) == [[3, 3]]
        a, b = pair(); assert values(group.allreduce(a, dist.ReduceOp.MAX, timeout=seconds(20)), a) == [[2, 2]]
        a, b = pair(); assert values(group.allreduce([a, b]), a, b) == [[24, 24]] * 2  # as PyTorch's Gloo
        o = dist.AllreduceOptions(); o.reduceOp = dist.ReduceOp.MAX; a, b = pair(); assert values(group.allreduce([a, b], o), a, b) == [[11, 11]] * 2
        o = dist.BroadcastOptions(); o.rootRank = o.rootTensor = 1; a, b = pair(); assert values(group.broadcast([a, b], o), a, b) == [[11, 11]] * 2
        a, b = pair(); assert values(group.broadcast(a, root=1), a) == [[2, 2]]
        a, b = pair(); assert values(group.reduce(a, root=1), a) == [[3, 3] if rank else [1, 1]]
        try: group.reduce([a, b]); assert False
        except ValueError as e: assert "reduce: expected one tensor, got 2" in str(e)
        a, b = pair(); out = [[torch.zeros(2), torch.zeros(2)]]; assert values(group.allgather(out, [a]), *out[0]) == [[1, 1], [2, 2]]
        out = [torch.zeros(2), torch.zeros(2)] if rank == 0 else []; values(group.gather(out, a, root=0)); assert rank or out[1].tolist() == [2, 2]
        got = torch.zeros(2); assert values(group.scatter(got, pair() if rank == 0 else [], root=0), got) == [[1, 1] if rank == 0 else [10, 10]]
        got = torch.zeros(2); assert values(group.reduce_scatter([got], [pair()]), got) == [[3, 3] if rank == 0 else [21, 21]]
        out = pair(); assert values(group.alltoall(out, pair()), *out) == ([[1, 1], [2, 2]] if rank == 0 else [[10, 10], [11, 11]])
        out = torch.zeros(2); assert values(group.alltoall_base(out, torch.arange(2.0) + 10 * rank, [], []), out) == [[rank, 10 + rank]]
        if rank == 0: group.send([a], 1, 5).wait()
        else:
            work = group.recv_anysource([a], 5); assert values(work, a) == [[1, 1]] and work.source_rank() == 0
        a, b = pair(); assert values(group.reduce(a, 1, dist.ReduceOp.MAX, seconds(20)), a) == [[2, 2] if rank else [1, 1]]
        for wrong, says in ((lambda: group.barrier(seconds(1), seconds(2)), "barrier: expected at most 1 of timeout, got 2"),
                            (lambda: group.allreduce(a, root=1), "allreduce: no argument 'root'"),
                            (lambda: group.allreduce(a, dist.AllreduceOptions(), op=dist.ReduceOp.MAX), "expected options, or op, timeout, got both")):
            try: wrong(); assert False
            except TypeError as e: assert says in str(e), e
        o = dist.BarrierOptions(); o.timeout = seconds(20); group.barrier(o).wait()
        if rank == 1: time.sleep(4)
        try: group.barrier(seconds(1)).wait(); assert False
        except dist.DistBackendError as e: assert "rank 0 has waited for other ranks for 1 s in barrier()" in str(e), e
    """)


def test_ranks_that_are_threads():
    """Each has a group by one store; both post messages at once."""
    import threading
    dist, store, failed = argand.distributed, argand.distributed.HashStore(), []

    def rank_of_world(rank):
        try:
            group = dist.ProcessGroupGloo(store, rank, 3, datetime.timedelta(seconds=30))
            for n in range(20):
                t = argand.full((3,), rank)
                group.allreduce([t]).wait()
                assert t.tolist() == [3] * 3
                got = [argand.zeros(2) for _ in range(3)]
                works = [group.recv([got[r]], r, n) for r in range(3) if r != rank]
                works += [group.send([argand.full((2,), float(rank))], r, n) for r in range(3) if r != rank]
                for work in works:
                    work.wait()
                assert [g.tolist() for r, g in enumerate(got) if r != rank] == [[r, r] for r in range(3) if r != rank]
            group.barrier().wait()
            group.shutdown()
        except BaseException as error:  # noqa: BLE001: of a thread
            failed.append((rank, error))

    threads = [threading.Thread(target=rank_of_world, args=(rank,)) for rank in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert not failed and not any(t.is_alive() for t in threads), failed


def test_objects(tmp_path):
    run(tmp_path, 3, """
        got = [None] * 3; dist.all_gather_object(got, {"rank": rank, "text": "x" * 100 * rank}); assert [g["rank"] for g in got] == [0, 1, 2]
        got = [None] * 3 if rank == 2 else None; dist.gather_object(rank * "ab", got, dst=2); assert rank != 2 or got == ["", "ab", "abab"]
        objects = [1, "two", [3.0]] if rank == 1 else [None] * 3
        dist.broadcast_object_list(objects, src=1); assert objects == [1, "two", [3.0]]
        out = [None]; dist.scatter_object_list(out, [("a", 0), "b", None] if rank == 0 else None, src=0); assert out == [[("a", 0), "b", None][rank]]
        if rank == 0: dist.send_object_list(["x", {1: 2}], dst=2)
        if rank == 2:
            got = [None, None]; assert dist.recv_object_list(got, src=0) == 0 and got == ["x", {1: 2}]
        got = [None] * 3; dist.all_gather_object(got, {"t": torch.ones(2) * rank}, weights_only=True); assert got[2]["t"].tolist() == [2, 2]
    """)


def test_no_objects(tmp_path):
    """Empty lists are the same call on all ranks."""
    run(tmp_path, 2, """
        for objects in ([], [None]):
            dist.broadcast_object_list(objects, 0); assert objects in ([], [None])
        if rank == 0: dist.send_object_list([], 1, use_batch=True); dist.send_object_list([{"t": torch.ones(2)}], 1, weights_only=True)
        else:
            assert dist.recv_object_list([], 0, use_batch=True) == 0
            got = [None]; dist.recv_object_list(got, 0, weights_only=True); assert got[0]["t"].tolist() == [1, 1]
        dist.barrier()
    """)


def test_what_a_work_gives(tmp_path):
    """On all ranks, also on the one that sends."""
    run(tmp_path, 2, """
        t = torch.ones(2) * rank; w = dist.broadcast(t, 1, async_op=True); assert w.get_future().wait()[0] is w.result()[0] and w.result()[0].tolist() == [1, 1]
        t = torch.ones(2); w = dist.reduce(t, 0, async_op=True); w.wait(); assert [r.tolist() for r in w.result()] == [t.tolist()]
        assert dist.barrier(async_op=True).get_future().wait() == []
    """)


def test_several_calls_at_once(tmp_path):
    run(tmp_path, 2, """
        a, b = torch.ones(2) * rank, torch.ones(3) * rank
        with dist._coalescing_manager(): dist.all_reduce(a); dist.all_reduce(b)
        assert a.tolist() == [1] * 2 and b.tolist() == [1] * 3
        outs = [torch.zeros(4), torch.zeros(6)]
        with dist._coalescing_manager(async_ops=True) as cm:
            for out, n in zip(outs, (2, 3)): assert dist.all_gather_into_tensor(out, torch.full((n,), float(rank))) is None
            try:
                with dist._coalescing_manager(): pass
            except ValueError as e: assert "non-empty op list" in str(e)
            else: assert False
        assert cm.wait() and cm.is_completed() and outs[1].tolist() == [0, 0, 0, 1, 1, 1]
        try:
            with dist._coalescing_manager(): raise KeyError
        except KeyError: dist.all_reduce(a); assert a.tolist() == [2] * 2
        group = dist.group.WORLD
        outs, parts = [torch.zeros(4)], [torch.zeros(2)]
        work = group.allgather_into_tensor_coalesced(outs, [torch.ones(2)]); assert work.wait() and outs[0].tolist() == [1] * 4 and len(work.result()) == 1
        assert group.reduce_scatter_tensor_coalesced(parts, [torch.ones(4)]).get_future().wait()[0].tolist() == [2, 2]
        lists = [[torch.zeros(1), torch.zeros(2)] for _ in range(2)]; group.allgather_coalesced(lists, [torch.ones(1) * rank, torch.ones(2) * rank]).wait()
        assert lists[1][1].tolist() == [1, 1] and group.monitored_barrier() is None
    """)


def test_the_same_by_other_names(tmp_path):
    run(tmp_path, 2, """
        out = torch.zeros(2, 2); dist.all_gather_single(out, torch.ones(2) * rank); assert out.tolist() == [[0, 0], [1, 1]]
        out = torch.zeros(2); dist.reduce_scatter_single(out, torch.ones(4)); assert out.tolist() == [2, 2]
        for call in (dist.gather_single, dist.gather_into_tensor):
            out = torch.zeros(2, 3) if rank == 1 else None; call(torch.ones(3) * rank, out, dst=1); assert rank == 0 or out.tolist() == [[0] * 3, [1] * 3]
        if rank == 0:
            try: dist.gather_single(torch.ones(3), torch.zeros(5), dst=0); assert False
            except ValueError as e: assert "gather_single: expected gather_tensor to be contiguous and to have 2 x 3 elements" in str(e), e
        c10d = dist.distributed_c10d
        assert dist.get_backend_config() == "cpu:gloo,cuda:gloo" and [d.type for d in dist.group.WORLD._device_types] == ["cpu", "cuda"]
        assert dist.ReduceOp(dist.ReduceOp.MAX) is dist.ReduceOp.MAX and str(dist.ReduceOp.SUM) == "RedOpType.SUM"
        assert dist.supports_complex(dist.ReduceOp.SUM) and not dist.supports_complex(dist.ReduceOp.MAX) and dist.default_pg_timeout == datetime.timedelta(minutes=30)
        group = dist.group.WORLD
        assert c10d._resolve_process_group(group.group_name) is group and c10d._get_pg_default_device() == torch.device("cpu") and group._get_backend_name() == "gloo"
        store = group.get_group_store(); store.set(f"at {rank}", "x"); assert store.get(f"at {1 - rank}") == b"x"
        dist.barrier()
    """)


def test_messages(tmp_path):
    run(tmp_path, 3, """
        if rank == 0:
            dist.send(torch.ones(3), 1); dist.send(torch.ones(2), 1, tag=5); dist.recv(t := torch.zeros(2)); assert t.tolist() == [7, 7]
        elif rank == 1:
            b = torch.zeros(2); w = dist.irecv(b, 0, tag=5); a = torch.zeros(3); assert dist.recv(a, 0) == 0 and a.tolist() == [1] * 3
            w.wait(); assert b.tolist() == [1, 1] and w.source_rank() == 0
        else:
            dist.isend(torch.full((2,), 7.0), 0).wait()
        following, before = (rank + 1) % size, (rank - 1) % size
        out, got = torch.full((4,), float(rank)), torch.zeros(4)
        works = dist.batch_isend_irecv([dist.P2POp(dist.isend, out, following), dist.P2POp(dist.irecv, got, before)])
        for w in works: w.wait()
        assert got.tolist() == [before] * 4
    """)


def test_groups(tmp_path):
    run(tmp_path, 4, """
        pair = dist.new_group([1, 3]); assert (pair == dist.GroupMember.NON_GROUP_MEMBER) == (rank % 2 == 0)
        assert dist.get_rank(pair) == {1: 0, 3: 1}.get(rank, -1) and dist.get_world_size(pair) == (2 if rank % 2 else -1)
        t = torch.tensor([rank])
        if rank % 2:
            dist.all_reduce(t, group=pair); assert int(t) == 4 and dist.get_process_group_ranks(pair) == [1, 3]
            dist.broadcast(t, src=3, group=pair); dist.broadcast(t, group_src=1, group=pair)
            assert dist.get_global_rank(pair, 1) == 3 and dist.get_group_rank(pair, 1) == 0
        else:
            import warnings
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always"); assert dist.all_reduce(t, group=pair) is None
            assert "does not belong to the given group" in str(seen[0].message)
        mine, all_groups = dist.new_subgroups(2); assert dist.get_process_group_ranks(mine) == [rank // 2 * 2, rank // 2 * 2 + 1]
        t = torch.tensor([rank]); dist.all_reduce(t, group=mine); assert int(t) == (1 if rank < 2 else 5)
        if rank > 1:
            local = dist.new_group([2, 3], use_local_synchronization=True); t = torch.tensor([rank]); dist.all_reduce(t, group=local); assert int(t) == 5
        assert dist.get_backend() == "gloo" and dist.is_initialized()
        dist.destroy_process_group(mine); dist.barrier(); dist.destroy_process_group(); assert not dist.is_initialized()
    """)


def test_split_group(tmp_path):
    run(tmp_path, 4, """
        part = dist.split_group(split_ranks=[[2, 0, 1], [3]]); assert dist.get_rank(part) == [1, 2, 0, 0][rank], dist.get_rank(part)
        assert dist.get_process_group_ranks(part) == ([2, 0, 1] if rank < 3 else [3]) and part.group_desc == "default_pg:split:0"
        t = torch.tensor([rank]); dist.all_reduce(t, group=part); assert int(t) == 3
        if rank < 3:  # ranks are those of the parent
            pair = dist.split_group(part, [[0, 1]], timeout=datetime.timedelta(seconds=20), group_desc="pair")
            assert (pair == dist.GroupMember.NON_GROUP_MEMBER) == (rank == 1)
            if rank != 1:
                t = torch.tensor([rank]); dist.all_reduce(t, group=pair); assert int(t) == 2 and pair.group_desc == "pair"
        again = dist.split_group(split_ranks=[[0, 1, 2, 3]], backend="gloo"); t = torch.tensor([rank]); dist.all_reduce(t, group=again); assert int(t) == 6
        assert again.group_desc == "default_pg:split:1"
        for wrong, error in (([], "split_ranks cannot be None or empty"), ([[0, 0]], "the split group cannot have duplicate ranks"),
                             ([[0, 4]], "expected ranks of the parent group, 0 to 3, got [0, 4]"), ([[0], [0, 1]], "in one list only")):
            try: dist.split_group(split_ranks=wrong); assert False, wrong
            except ValueError as e: assert error in str(e), e
        try: dist.split_group(split_ranks=[[0, 1]], backend="mpi"); assert False
        except ValueError as e: assert "expected backend to be one of the parent group's, 'gloo', got 'mpi'" in str(e), e
    """)


def test_worlds_and_groups_that_are_made_again(tmp_path):
    """In a store that outlives them, as that of a launcher does: nothing of the first is taken for the second's."""
    run(tmp_path, 2, """
        for again in range(3):
            if again:
                dist.init_process_group("gloo", store=store, rank=rank, world_size=size)
            for _ in range(2):
                local = dist.new_group([0, 1], use_local_synchronization=True)
                t = torch.tensor([rank]); dist.all_reduce(t, group=local); assert int(t) == 1
                dist.monitored_barrier(local); dist.destroy_process_group(local)
            t = torch.full((3,), rank + again); dist.all_reduce(t); assert t.tolist() == [1 + 2 * again] * 3
            dist.destroy_process_group()
        store.set(f"end/{rank}", ""); store.wait(["end/0", "end/1"])
    """, init="store = dist.TCPStore('127.0.0.1', int(os.environ['MASTER_PORT']), 2, os.environ['RANK'] == '0')\n"
              "dist.init_process_group(store=store, rank=int(os.environ['RANK']), world_size=2)")


def test_a_world_after_one_that_failed(tmp_path):
    """A failure of a subgroup ends all groups on all ranks; these may begin anew."""
    out = run(tmp_path, 3, """
        pair = dist.new_group([0, 1])
        for again in range(2):
            try:
                if rank == 2: dist.barrier()
                elif rank == again: dist.all_reduce(torch.ones(1), group=pair)
                else: dist.broadcast(torch.ones(1), 0, group=pair)
                assert False
            except dist.DistBackendError as e: assert "different things" in str(e), e
            dist.destroy_process_group()
            dist.init_process_group("gloo", store=store, rank=rank, world_size=size)
            pair = dist.new_group([0, 1])
            t = torch.ones(1); dist.all_reduce(t); assert float(t) == 3
        print("done")
    """, init="store = dist.TCPStore('127.0.0.1', int(os.environ['MASTER_PORT']), 3, os.environ['RANK'] == '0')\n"
              "dist.init_process_group(store=store, rank=int(os.environ['RANK']), world_size=3)")
    assert out == ["done\n"] * 3


def test_file_and_tcp(tmp_path):
    for init in (f"dist.init_process_group('gloo', 'file://{tmp_path}/meet', rank=int(os.environ['RANK']), world_size=2)",
                 "dist.init_process_group('gloo', f'tcp://127.0.0.1:{os.environ[\"MASTER_PORT\"]}?world_size=2', rank=int(os.environ['RANK']))",
                 "store = dist.TCPStore('127.0.0.1', int(os.environ['MASTER_PORT']), 2, os.environ['RANK'] == '0')\n"
                 "dist.init_process_group(store=store, rank=int(os.environ['RANK']), world_size=2)"):
        run(tmp_path, 2, "t = torch.ones(1); dist.all_reduce(t); assert float(t) == 2\n", init=init)


# ---- what goes wrong


def test_different_calls(tmp_path):
    begin = time.monotonic()
    results = finish(start(tmp_path, 3, """
        dist.all_reduce(torch.ones(2))
        dist.all_reduce(torch.ones(3 if rank == 1 else 2))
    """))
    assert time.monotonic() - begin < 20
    for status, out, err in results:
        assert status == 1 and "DistBackendError" in err, err
        assert "the ranks of the group call different things" in err and "script.py:8, call 2 of the group" in err, err
        assert "float32 [3]" in err and "float32 [2]" in err, err


@pytest.mark.parametrize("call, says", [
    ("dist.new_group([0, 1] if rank == 0 else [0, 2])", ["new_group(rank 0, rank 1)", "new_group(rank 0, rank 2)"]),
    ("dist.new_group([1, 2]) if rank == 0 else dist.barrier()", ["new_group(rank 1, rank 2)", "barrier()"]),
    ("dist.split_group(split_ranks=[[0], [1, 2]] if rank == 0 else [[0, 2], [1]])", ["new_group(rank 0)", "new_group(rank 0, rank 2)"])])
def test_groups_that_differ(tmp_path, call, says):
    """Otherwise members would wait for ranks that are in another group."""
    begin = time.monotonic()
    for status, out, err in finish(start(tmp_path, 3, call)):
        assert status == 1 and "DistBackendError" in err and all(each in err for each in (*says, "script.py:6")), err
    assert time.monotonic() - begin < 20


@pytest.mark.parametrize("got, says", [("torch.zeros(5)", "recv(float32 [5], from rank 0) at "), ("torch.zeros(1, dtype=torch.int64)", "recv(int64 [1], from rank 0) at ")])
def test_a_message_that_is_not_as_its_tensor(tmp_path, got, says):
    out = run(tmp_path, 2, f"""
        if rank == 0: dist.send(torch.ones(2), 1)
        else:
            try: dist.recv({got}, 0)
            except (ValueError, TypeError, RuntimeError) as e: print(e)
        dist.barrier(); t = torch.zeros(3)
        if rank == 0: dist.send(torch.ones(3), 1)
        else: dist.recv(t, 0); assert t.tolist() == [1] * 3  # the next one is taken
    """)
    assert says in out[1] and "rank 0 of the world has sent" in out[1] and "script.py:9" in out[1], out


# Rank 0 holds the store.
@pytest.mark.parametrize("lost, how", [(1, "kill"), (1, "exit"), (1, "raise"), (1, "stop"), (0, "kill"), (0, "stop")])
def test_a_lost_rank(tmp_path, lost, how):
    actions = {"kill": "os.kill(os.getpid(), 9)", "exit": "os._exit(3)", "raise": "raise KeyError('on purpose')",
               "stop": "os.kill(os.getpid(), 19)"}
    processes = start(tmp_path, 3, f"""
        dist.barrier()
        print("begun", flush=True)
        if rank == {lost}:
            {actions[how]}
        begin = time.monotonic()
        try:
            dist.all_reduce(torch.ones(2))
        except dist.DistBackendError as e:
            print(f"{{time.monotonic() - begin:.2f}} {{type(e).__name__}} {{e.rank}} {{e}}")
        else:
            print("nothing was raised")
        os._exit(0)
    """)
    try:
        for r in {0, 1, 2} - {lost}:
            out, err = processes[r].communicate(timeout=30)
            seconds, kind, rank, text = out.splitlines()[1].split(" ", 3)
            assert float(seconds) < SOON and kind == "PeerLost" and int(rank) == lost, out + err
            assert "all_reduce(SUM, " in text and "script.py" in text and f"rank {lost}" in text, text
    finally:
        processes[lost].send_signal(signal.SIGCONT)
        for p in processes:
            p.kill()
            p.wait()


@pytest.mark.parametrize("lost", [0, 1])
def test_a_rank_that_is_lost_while_others_join(tmp_path, lost):
    """Rank 2 comes when the other one has been lost already, and with it the store, if it was rank 0."""
    processes = start(tmp_path, 3, "", init=f"""
import threading
rank, go = int(os.environ["RANK"]), {str(tmp_path / "go")!r}
if rank == {lost}: threading.Timer(1, lambda: os.kill(os.getpid(), 9)).start()
while rank == 2 and not os.path.exists(go): time.sleep(0.01)
try:
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=2 if (rank, {lost}) == (2, 0) else 60))
except dist.DistError as e:
    print(time.monotonic(), type(e).__name__, e)
    sys.exit()
""")
    processes[lost].wait(30)
    begin = time.monotonic()
    (tmp_path / "go").touch()
    results = finish(processes)
    for rank in {0, 1, 2} - {lost}:
        raised, kind, text = results[rank][1].split(" ", 2)
        assert float(raised) - begin < SOON
        if rank == 2 and lost == 0:
            assert kind == "DistNetworkError", text
        else:
            assert kind == "PeerLost" and text.startswith("init_process_group: ") and f"rank {lost}" in text, text


def test_a_rank_that_does_not_come(tmp_path):
    """Every other rank says which; also those that began to wait later than the one that holds the store."""
    processes = start(tmp_path, 4, "", init="""
rank = int(os.environ["RANK"])
if rank == 2: sys.exit()
time.sleep([0, 0.5, 0, 1][rank])
try:
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=3))
except dist.DistError as e:
    print(e)
    sys.exit()
""")
    assert [out for _, out, _ in finish(processes)] == [f"init_process_group: 1 of 4 ranks did not join within 3 s: rank 2\n"
                                                        if rank != 2 else "" for rank in range(4)]


def test_a_job_that_is_stopped_and_goes_on(tmp_path):
    """All its ranks, as by Ctrl-Z: none is lost."""
    processes = start(tmp_path, 3, """
        dist.barrier(); print("begun")
        begin = time.monotonic()
        while True:
            t = torch.tensor([time.monotonic() - begin > 9]).int(); dist.all_reduce(t)
            if int(t): break
            time.sleep(0.001)
        print("done")
    """)
    for p in processes:
        assert p.stdout.readline() == "begun\n"
    for number, pause in ((signal.SIGSTOP, 5), (signal.SIGCONT, 0.3), (signal.SIGSTOP, 5), (signal.SIGCONT, 0)):
        for p in processes:
            p.send_signal(number)
            time.sleep(0.05)
        time.sleep(pause)
    assert [result[:2] for result in finish(processes)] == [(0, "done\n")] * 3


def test_a_rank_that_leaves_while_others_wait(tmp_path):
    """In the midst of a collective of its own, which an exception ended."""
    results = finish(start(tmp_path, 3, """
        dist.barrier()
        if rank == 1:
            work = dist.all_reduce(torch.ones(2), async_op=True); time.sleep(0.3); sys.exit()
        try: dist.all_reduce(torch.ones(2)) if rank == 0 else time.sleep(1) or dist.all_reduce(torch.ones(2))
        except dist.PeerLost as e: print(e.rank)
    """))
    assert [out for _, out, _ in results] == ["1\n", "", "1\n"], results


@pytest.mark.parametrize("connected", [False, True])
def test_a_rank_that_has_left_is_named(tmp_path, connected):
    """Whether or not messages came from it before, though a child of it has copies of its connections."""
    results = finish(start(tmp_path, 3, f"""
        if {connected}: dist.all_reduce(torch.ones(3))
        if rank == 1:
            if os.fork() == 0: time.sleep(8); os._exit(0)
            dist.destroy_process_group(); time.sleep(6); os._exit(0)
        time.sleep(0.5); begin = time.monotonic()
        try: dist.recv(torch.ones(3), 1) if rank == 0 else dist.all_reduce(torch.ones(3))
        except dist.PeerLost as e: print(e.rank, "rank 1 has left the group" in str(e), time.monotonic() - begin < {SOON})
        os._exit(0)
    """))
    assert [out for _, out, _ in results] == ["1 True True\n", "", "1 True True\n"], results


def test_the_holder_of_the_store_may_end_first(tmp_path):
    """Rank 0 does what it has to and ends; the others go on."""
    results = finish(start(tmp_path, 3, """
        pair = dist.new_group([1, 2])
        dist.barrier()
        begin = time.monotonic()
        if rank == 0:
            dist.destroy_process_group(); print(f"left after {time.monotonic() - begin:.2f} s"); os._exit(0)
        while time.monotonic() - begin < 3:
            t = torch.ones(1); dist.all_reduce(t, group=pair); assert float(t) == 2
            time.sleep(0.05)
            done = torch.tensor([time.monotonic() - begin > 2.9]).int(); dist.broadcast(done, 1, group=pair)
            if int(done): break
        print("done")
    """))
    assert [status for status, _, _ in results] == [0, 0, 0] and [out for _, out, _ in results[1:]] == ["done\n"] * 2, results
    assert float(results[0][1].split()[2]) < 1.5, results[0]


def test_a_timeout_names_who_is_missing(tmp_path):
    results = finish(start(tmp_path, 2, """
        dist.all_reduce(torch.ones(1))
        if rank == 1:
            time.sleep(6)
        try:
            dist.barrier()
        except dist.DistBackendError as e:
            print(e)
    """, init="dist.init_process_group('gloo', timeout=datetime.timedelta(seconds=2))"))
    assert "rank 0 has waited for other ranks for 2 s in barrier()" in results[0][1], results
    assert "the last call of rank 1 is all_reduce(" in results[0][1]


def test_the_timeout_of_one_call(tmp_path):
    """In a group that would wait for half an hour."""
    results = finish(start(tmp_path, 2, """
        seconds = lambda n: datetime.timedelta(seconds=n)
        dist.barrier(timeout=seconds(20))
        t = torch.zeros(1); w = dist.irecv(t, 1 - rank)
        try: w.wait(seconds(0.3))
        except dist.DistBackendError as e: print(e)
        dist.barrier(); dist.send(torch.ones(1), 1 - rank); w.wait(seconds(20)); assert float(t) == 1
        if rank == 1: time.sleep(4)
        try: dist.barrier(timeout=seconds(1))
        except dist.DistBackendError as e: print(e)
    """))
    for status, out, err in results:
        assert status == 0 and "Operation timed out! recv(float32 [1]" in out and "rank 0 has waited for other ranks for 1 s in barrier()" in out, out + err


def test_a_message_that_does_not_come(tmp_path):
    """It is waited for as long as the group says, and may come later."""
    results = finish(start(tmp_path, 2, """
        if rank == 1: time.sleep(3); dist.send(torch.ones(1), 0)
        else:
            t = torch.zeros(1); w = dist.irecv(t, 1)
            try: w.wait()
            except dist.DistBackendError as e: print(e)
            time.sleep(2); assert w.wait() and float(t) == 1
    """, init="dist.init_process_group('gloo', timeout=datetime.timedelta(seconds=1.5))"))
    assert [status for status, _, _ in results] == [0, 0] and "not finished after 1.5 s, the timeout of the group" in results[0][1], results


def test_monitored_barrier(tmp_path):
    out = run(tmp_path, 3, """
        try:
            if rank != 2:
                dist.monitored_barrier(timeout=datetime.timedelta(seconds=1), wait_all_ranks=True)
        except RuntimeError as e:
            print(e)
        dist.barrier()
    """)
    assert out[0] == "[Rank 0]: Rank 2 failed to pass monitoredBarrier in 1000 ms\n"


@pytest.mark.parametrize("wait", ["dist.barrier()", "loss.backward()"])
def test_ctrl_c_ends_a_wait(tmp_path, wait):
    processes = start(tmp_path, 2, f"""
        model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1))
        loss = model(torch.ones(1, 2)).sum()
        print("begun", flush=True)
        if rank == 1: time.sleep(20)
        {wait}
    """)
    try:
        assert processes[0].stdout.readline() == "begun\n"
        time.sleep(0.5)
        begin = time.monotonic()
        processes[0].send_signal(signal.SIGINT)
        out, err = processes[0].communicate(timeout=15)
        assert processes[0].returncode in (1, -signal.SIGINT) and "KeyboardInterrupt" in err and time.monotonic() - begin < SOON, out + err
    finally:
        for p in processes:
            p.kill()
            p.wait()


def test_nobody_comes():
    with pytest.raises(argand.distributed.DistStoreError):
        argand.distributed.init_process_group("gloo", f"tcp://127.0.0.1:{free_port()}", rank=0, world_size=2,
                                              timeout=datetime.timedelta(seconds=1))
    assert not argand.distributed.is_initialized()


def test_a_fork_has_no_group(tmp_path):
    out = run(tmp_path, 2, """
        dist.barrier()
        if os.fork() == 0:
            try: dist.all_reduce(torch.ones(1)); status = 1
            except dist.DistBackendError as e: status = 0 if "forked" in str(e) else 2
            os._exit(status)
        print(os.waitstatus_to_exitcode(os.wait()[1]))
        dist.barrier()
    """)
    assert out == ["0\n", "0\n"]


def test_gradients_of_collectives(tmp_path):
    run(tmp_path, 3, """
        import argand.distributed.nn.functional as F
        torch.set_default_dtype(torch.float64)
        def leaf(of=rank, n=3): return (torch.arange(n) + 1.0 + 10 * of).requires_grad_()
        weights = [torch.arange(3) * 0.5 + r + 1 for r in range(size)]  # of rank r's sum
        def grad(x, *outs):
            sum((weights[rank] * o).sum() for o in outs).backward(); return x.grad.tolist()
        total = sum(weights).tolist()
        x = leaf(); y = F.all_reduce(x); assert y.tolist() == sum(leaf(r) for r in range(size)).tolist() and grad(x, y) == total
        x = leaf(); y = F.broadcast(x, 1); assert y.tolist() == leaf(1).tolist() and grad(x, y) == (total if rank == 1 else [0] * 3)
        x = leaf(); y = F.reduce(x, 1); assert grad(x, y) == weights[1].tolist()
        x = leaf(); ys = F.all_gather(x); assert [y.tolist() for y in ys] == [leaf(r).tolist() for r in range(size)] and grad(x, *ys) == total
        x = leaf(); ys = F.gather(x, 2); assert rank != 2 or [y.tolist() for y in ys] == [leaf(r).tolist() for r in range(size)]
        (sum((weights[rank] * y).sum() for y in ys) + 0 * x.sum()).backward(); assert x.grad.tolist() == weights[2].tolist()
        xs = [leaf(10 * rank + r) for r in range(size)]; y = F.scatter(xs, 1); assert y.tolist() == leaf(10 + rank).tolist()
        (weights[rank] * y).sum().backward(); assert [x.grad.tolist() for x in xs] == [(w if rank == 1 else 0 * w).tolist() for w in weights]
        xs = [leaf(10 * rank + r) for r in range(size)]; ys = F.all_to_all([torch.empty(3)] * size, xs)
        assert [y.tolist() for y in ys] == [leaf(10 * r + rank).tolist() for r in range(size)]
        sum((weights[rank] * y).sum() for y in ys).backward(); assert [x.grad.tolist() for x in xs] == [w.tolist() for w in weights]
        xs = [leaf(r) for r in range(size)]; y = F.reduce_scatter(torch.empty(3), xs); assert y.tolist() == [3 * v for v in leaf(rank).tolist()]
        (weights[rank] * y).sum().backward(); assert [x.grad.tolist() for x in xs] == [w.tolist() for w in weights]
        x = leaf(rank, 6); y = F.all_to_all_single(torch.empty(6), x); (y * (rank + 1)).sum().backward(); assert x.grad.tolist() == [1, 1, 2, 2, 3, 3]
    """)


def test_mpi_is_not_for_processes_of_another_launcher(tmp_path):
    """To MPI each would be alone, and train alone: packages take MPI where it is said to be there."""
    run(tmp_path, 2, """
        assert not dist.is_mpi_available() and not dist.is_backend_available("mpi")
        dist.destroy_process_group()
        try: dist.init_process_group("mpi")
        except ValueError as e: assert f"this one is rank {rank} of 2 of another launcher" in str(e), e
        else: assert False
    """)


NO_MPI = pytest.mark.skipif(not argand.distributed.is_mpi_available() or not shutil.which("mpirun"), reason="MPI is not installed")


def mpirun(size, *program, timeout=60):
    env = dict(os.environ, PYTHONPATH=str(PACKAGE), OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_NUM_THREADS="1")
    ended = subprocess.run(["mpirun", "--oversubscribe", "-n", str(size), sys.executable, "-B", *map(str, program)], env=env, text=True,
                           capture_output=True, timeout=timeout)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert sorted(ended.stdout.split("\n"))[1:] == [f"done {rank}" for rank in range(size)], ended.stdout + ended.stderr


@NO_MPI
@pytest.mark.parametrize("size", [2, 3, 4])
def test_every_dtype_and_reduction_by_mpi(size):
    mpirun(size, PROGRAM, "mpi", timeout=400)


@NO_MPI
def test_mpi(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent("""
        import os, argand as torch, argand.distributed as dist
        dist.init_process_group("mpi")
        rank, size = dist.get_rank(), dist.get_world_size()
        for n in (3, 100_000):
            t = torch.arange(n).float() * (rank + 1); dist.all_reduce(t); assert t.equal(torch.arange(n).float() * sum(range(1, size + 1)))
            t = torch.full((n,), float(rank)); dist.broadcast(t, 1); assert t.equal(torch.ones(n))
        got = [None] * size; dist.all_gather_object(got, "x" * rank); assert got == ["x" * r for r in range(size)]
        if rank == 0: dist.send(torch.ones(4), 2, tag=9)
        if rank == 2: assert dist.recv(t := torch.zeros(4), tag=9) == 0 and t.sum() == 4
        pair = dist.new_group([0, 2])
        if rank != 1: dist.barrier(pair)
        model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 2)); model(torch.ones(2, 3) * rank).sum().backward()
        assert model.module.weight.grad.tolist() == [[2.0] * 3] * 2
        dist.barrier(); dist.destroy_process_group()
        os.write(1, f"done {rank}\\n".encode())  # mpirun mixes lines that come in pieces
    """))
    mpirun(3, script)
