"""torch.distributed in a group of one process, beside what PyTorch does in one."""
import subprocess
import sys

import argand as torch
import argand.distributed as dist
import pytest


@pytest.fixture
def group(monkeypatch):
    for name, value in {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29512", "RANK": "0", "WORLD_SIZE": "1"}.items():
        monkeypatch.setenv(name, value)
    dist.init_process_group("gloo")
    yield dist.group.WORLD
    if dist.is_initialized():
        dist.destroy_process_group()


def test_without_a_group():
    assert dist.is_available() and not dist.is_initialized() and dist.is_gloo_available()
    assert not dist.is_nccl_available()
    for call in (dist.get_rank, dist.get_world_size, dist.get_backend, dist.barrier, dist.new_group,
                 lambda: dist.all_reduce(torch.ones(1)), lambda: torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))):
        with pytest.raises(ValueError, match="Default process group has not been initialized"):
            call()
    with pytest.raises(AssertionError, match="Process group cannot be None"):
        dist.destroy_process_group()


def test_how_a_group_is_made(monkeypatch, tmp_path):
    for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ValueError, match="environment variable RANK expected, but not set"):
        dist.init_process_group("gloo")
    with pytest.raises(ValueError, match="environment variable MASTER_ADDR expected"):
        dist.init_process_group("gloo", rank=0, world_size=1)
    with pytest.raises(ValueError, match="rank parameter missing"):
        dist.init_process_group("gloo", "tcp://127.0.0.1:29513")
    with pytest.raises(ValueError, match="nope"):
        dist.init_process_group("nope", "tcp://127.0.0.1:29513", rank=0, world_size=1)
    with pytest.raises(NotImplementedError, match="backend 'nccl'"):
        dist.init_process_group("nccl", f"file://{tmp_path}/x", rank=0, world_size=4)
    assert not dist.is_initialized()
    for options in ({"init_method": "tcp://127.0.0.1:29513", "rank": 0, "world_size": 1}, {"init_method": f"file://{tmp_path}/x?rank=0&world_size=1"},
                    {"store": dist.HashStore(), "rank": 0, "world_size": 1}):
        dist.init_process_group("gloo", **options)
        with pytest.raises(ValueError, match="twice"):
            dist.init_process_group("gloo", **options)
        dist.destroy_process_group()
        assert not dist.is_initialized()


def test_groups(group):
    assert (dist.get_rank(), dist.get_world_size(), dist.get_backend()) == (0, 1, "gloo") and group.rank() == 0 and group.size() == 1
    assert dist.get_process_group_ranks(None) == [0] and dist.get_global_rank(group, 0) == dist.get_group_rank(group, 0) == 0
    other = dist.new_group([0])
    assert dist.get_rank(other) == 0 and dist.get_world_size(other) == 1
    none = dist.new_group([])
    assert none == dist.GroupMember.NON_GROUP_MEMBER and dist.get_rank(none) == dist.get_world_size(none) == -1
    for ranks in ([0, 1], [1]):
        with pytest.raises(ValueError, match="new group's"):
            dist.new_group(ranks)
    mine, everyone = dist.new_subgroups(1)
    assert everyone == [mine] and dist.get_rank(mine) == 0
    with pytest.raises(ValueError, match="must not exceed the world size"):
        dist.new_subgroups(2)
    dist.destroy_process_group(other)
    with pytest.raises(ValueError, match="Invalid process group"):
        dist.get_rank(other)
    sampler = torch.utils.data.DistributedSampler(range(3), shuffle=False)
    assert list(sampler) == [0, 1, 2]


def test_collectives_give_what_they_get(group):
    t, x = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0])
    for op in ("SUM", "AVG", "PRODUCT", "MIN", "MAX"):
        assert dist.all_reduce(t, getattr(dist.ReduceOp, op)) is None and t.equal(x)
    dist.broadcast(t, 0)
    dist.reduce(t, 0)
    work = dist.all_reduce(t, async_op=True)
    assert work.wait() and work.is_completed() and work.get_future().wait()[0] is t and t.equal(x)
    outputs = [torch.zeros(2)]
    dist.all_gather(outputs, x)
    assert outputs[0].equal(x) and outputs[0] is not x
    for call in (lambda out: dist.all_gather_into_tensor(out, x), lambda out: dist.gather(x, [out], 0), lambda out: dist.scatter(out, [x], 0),
                 lambda out: dist.reduce_scatter(out, [x]), lambda out: dist.reduce_scatter_tensor(out, x),
                 lambda out: dist.all_to_all([out], [x]), lambda out: dist.all_to_all_single(out, x, [2], [2])):
        out = torch.zeros(2)
        call(out)
        assert out.equal(x)
    dist.barrier()
    dist.monitored_barrier()
    assert dist.barrier(async_op=True).wait()
    objects, thing = [None], {"a": [1]}
    dist.all_gather_object(objects, thing)
    assert objects == [thing] and objects[0] is not thing
    dist.broadcast_object_list(objects, 0)
    gathered = [None]
    dist.gather_object(thing, gathered)
    received = [None]
    dist.scatter_object_list(received, [thing])
    assert gathered == received == objects


def test_what_one_process_cannot_do(group):
    x = torch.ones(2)
    for call, message in ((lambda: dist.send(x, 0), "Invalid destination rank"), (lambda: dist.recv(x, 0), "Invalid source rank"),
                          (lambda: dist.broadcast(x, 1), "Global rank 1 is not part of group"),
                          (lambda: dist.all_gather([x, x], x), "expected 1 outputs, one for each rank, got 2"),
                          (lambda: dist.gather(x), "gather_list"), (lambda: dist.scatter(x), "scatter_list"),
                          (lambda: dist.all_to_all_single(x, x, [1, 1]), "expected 1 output split sizes, got 2")):
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(RuntimeError, match="expected all tensors to be float32, got float64"):
        dist.all_gather([torch.ones(2, dtype=torch.float64)], x)
    with pytest.raises(RuntimeError, match="expected the output of its own rank to have 2 elements"):
        dist.all_gather([torch.ones(3)], x)
    with pytest.raises(TypeError, match="expected tensor to be a tensor, got list"):
        dist.all_reduce([x])
    with pytest.raises(ValueError, match="PREMUL_SUM needs a factor"):
        dist.all_reduce(x, dist.ReduceOp.PREMUL_SUM)


def test_a_model_of_one_process(group):
    plain = torch.nn.Linear(2, 1)
    model = torch.nn.parallel.DistributedDataParallel(plain, find_unused_parameters=True)
    x = torch.ones(3, 2)
    with model.no_sync():
        model(x).sum().backward()
    assert model.module is plain and list(model.state_dict()) == ["module.weight", "module.bias"]
    assert plain.weight.grad.tolist() == [[3, 3]] and model(x).equal(plain(x))
    with pytest.raises(RuntimeError, match="is not needed when a module doesn't have any parameter"):
        torch.nn.parallel.DistributedDataParallel(torch.nn.ReLU())
    with pytest.raises(TypeError, match="must be callable"):
        model.register_comm_hook(None, None)
    with pytest.raises(TypeError, match="expected mixed_precision to be a _MixedPrecision, got int"):
        torch.nn.parallel.DistributedDataParallel(plain, mixed_precision=1)


def test_an_import_does_not_load_them():
    program = "import sys, argand; print([n for n in sys.modules if n.startswith('argand.distributed.')])"
    assert subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.strip() == "[]"
