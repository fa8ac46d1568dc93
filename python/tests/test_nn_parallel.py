"""DataParallel's parts, with the CPU in the place of several GPUs."""
import threading

import pytest

import argand as torch
import argand.nn as nn
from argand.nn.parallel import gather, parallel_apply, replicate, scatter, scatter_kwargs
from argand.nn.parallel.replicate import Replicas
from pretended_gpu import run

DEVICES = ["cpu", "cpu", "cpu"]


def model():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 4), nn.Linear(4, 4))
    net[3].weight = net[2].weight  # shared
    return net


def test_parts_are_the_whole():
    net = model()
    x = torch.randn(7, 3, requires_grad=True)
    expected = net(x)
    expected.pow(2).sum().backward()
    wanted = [p.grad.clone() for p in net.parameters()] + [x.grad.clone()]
    net.zero_grad()
    x.grad = None
    inputs, kwargs = scatter_kwargs((x,), {}, DEVICES)
    assert [len(i[0]) for i in inputs] == [3, 3, 1]
    replicas = replicate(net, DEVICES)
    assert all(not list(r.parameters()) for r in replicas)
    y = gather(parallel_apply(replicas, inputs, kwargs), "cpu")
    assert torch.allclose(y, expected)
    y.pow(2).sum().backward()
    for got, want in zip([p.grad for p in net.parameters()] + [x.grad], wanted):
        assert torch.allclose(got, want, atol=1e-6)


def test_containers():
    parts = scatter({"a": torch.arange(4), "b": (torch.arange(4), "text")}, DEVICES[:2])
    assert parts[1]["a"].tolist() == [2, 3] and parts[0]["b"][1] == "text"
    joined = gather([{"a": p["a"], "b": [p["b"][0], None]} for p in parts], "cpu")
    assert joined["a"].tolist() == [0, 1, 2, 3] and joined["b"][1] is None
    assert gather([torch.tensor(1.0), torch.tensor(2.0)], "cpu").tolist() == [1.0, 2.0]


def test_threads_keep_grad_mode_and_raise():
    modes, threads = [], set()

    class Record(nn.Module):
        def forward(self, x):
            modes.append(torch.is_grad_enabled())
            threads.add(threading.get_ident())
            return x

    with torch.no_grad():
        parallel_apply([Record(), Record()], [torch.ones(1), torch.ones(1)])
    assert modes == [False, False] and threading.get_ident() not in threads

    class Wrong(nn.Module):
        def forward(self, x):
            raise ValueError("here")

    with pytest.raises(ValueError, match="here"):
        parallel_apply([Record(), Wrong()], [torch.ones(1), torch.ones(1)])


def test_pass_through_without_gpus():
    net = model()
    parallel = nn.DataParallel(net)
    if parallel.device_ids:
        pytest.skip("there are GPUs")
    x = torch.randn(2, 3)
    assert torch.equal(parallel(x), net(x)) and torch.equal(nn.parallel.data_parallel(net, x), net(x))


def train(net, forward, steps=3):
    """Parameters after some steps of SGD with momentum."""
    torch.manual_seed(1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for _ in range(steps):
        x, y = torch.randn(7, 3), torch.randn(7, 4)
        optimizer.zero_grad()
        (forward(x) - y).pow(2).mean().backward()
        optimizer.step()
    return [p.detach().clone() for p in net.parameters()]


def kept(net, devices=DEVICES):
    """A forward through replicas that are kept."""
    replicas = Replicas([torch.device(d) for d in devices])

    def forward(x):
        inputs, _ = scatter_kwargs((x,), {}, devices)
        return gather(parallel_apply(replicas.make(net, len(inputs)), inputs), "cpu")
    return forward


def test_kept_replicas_follow_the_module():
    one, several = model().double(), model().double()
    torch.set_default_dtype(torch.double)
    try:
        for a, b in zip(train(one, one), train(several, kept(several))):
            assert torch.allclose(a, b, rtol=1e-12, atol=1e-12)
    finally:
        torch.set_default_dtype(torch.float)


@pytest.mark.parametrize("write", [
    lambda p: p.mul_(2), lambda p: p.data.mul_(2), lambda p: setattr(p, "data", p.data * 2), lambda p: p.numpy().__imul__(2),
    lambda p: p.set_(p * 2), lambda p: p.view(-1)[:2].zero_(), lambda p: p.swap(p) if hasattr(p, "swap") else p.add_(1)])
def test_copies_are_as_new_as_the_parameters(write):
    net = nn.Linear(3, 4)
    replicas = Replicas([torch.device(d) for d in DEVICES])
    before = [r.weight for r in replicas.make(net, 3)]
    again = replicas.make(net, 3)
    assert all(a.data_ptr() == b.weight.data_ptr() for a, b in zip(before, again))  # kept
    with torch.no_grad():
        write(net.weight)
        for replica in replicas.make(net, 3):
            assert torch.equal(replica.weight, net.weight)
        replicas.make(net, 3)[1].weight.zero_()  # a forward that writes into its own copy
        assert torch.equal(replicas.make(net, 3)[1].weight, net.weight)


def test_buffers_of_the_first_device_stay():
    net = nn.BatchNorm1d(3)
    replicas = Replicas([torch.device(d) for d in DEVICES])
    for step in range(3):
        copies = replicas.make(net, 3)
        before = net.running_mean.clone()
        assert all(torch.equal(r.running_mean, before) and r.num_batches_tracked == step for r in copies)
        for i, r in enumerate(copies):
            r(torch.randn(5, 3) + i)
        assert not torch.equal(net.running_mean, before) and torch.equal(copies[0].running_mean, net.running_mean)
        assert copies[1].running_mean.data_ptr() != net.running_mean.data_ptr()


def test_unused_parameters_stay_without_gradients():
    net = nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3), nn.Linear(3, 3)])
    replicas = replicate(net, DEVICES)
    x = torch.randn(2, 3)
    (replicas[0][0](x).sum() + replicas[1][0](x).sum() + replicas[2][1](x).sum()).backward()
    assert torch.allclose(net[0].bias.grad, torch.full((3,), 4.0)) and torch.allclose(net[1].bias.grad, torch.full((3,), 2.0))
    assert net[2].bias.grad is None and net[2].weight.grad is None


def test_gradients_of_gradients_pass_the_replicas():
    net = model().double()
    x = torch.randn(4, 3, dtype=torch.double, requires_grad=True)

    def penalty(y):
        grads = torch.autograd.grad(y.sum(), x, create_graph=True)[0]
        return grads.pow(2).sum()
    wanted = torch.autograd.grad(penalty(net(x)), list(net.parameters()), allow_unused=True)
    inputs, _ = scatter_kwargs((x,), {}, DEVICES)
    y = gather(parallel_apply(replicate(net, DEVICES[:len(inputs)]), inputs), "cpu")
    got = torch.autograd.grad(penalty(y), list(net.parameters()), allow_unused=True)
    for a, b in zip(got, wanted):
        assert (a is None) == (b is None) and (a is None or torch.allclose(a, b, rtol=1e-12, atol=1e-12))


def test_threads_have_the_modes_of_the_caller():
    seen = []

    class Look(nn.Module):
        def forward(self, x):
            seen.append((torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"), torch.is_grad_enabled(),
                         torch.is_inference_mode_enabled(), (x @ x).dtype))
            return x
    x = torch.ones(2, 2)
    with torch.autocast("cpu", torch.float16):
        parallel_apply([Look(), Look()], [x, x])
    with torch.inference_mode():
        parallel_apply([Look(), Look()], [x, x])
    assert seen == [(True, torch.float16, True, False, torch.float16)] * 2 + [(False, torch.bfloat16, False, True, torch.float32)] * 2


def test_modules_make_their_replicas():
    class Counting(nn.Linear):
        def _replicate_for_data_parallel(self):
            replica = super()._replicate_for_data_parallel()
            replica.made = True
            return replica
    net = nn.Sequential(Counting(2, 2))
    replica = replicate(net, DEVICES)[1]
    assert replica[0].made and replica._is_replica and list(replica[0]._former_parameters) == ["weight", "bias"]
    assert not hasattr(net[0], "made")


def test_replicas_on_one_gpu(tmp_path):
    """Two replicas on one device share its stream for gradients."""
    out = run(tmp_path, """
from torch.nn.parallel import replicate
net = torch.nn.Linear(3, 2).to("cuda")
first, second = replicate(net, ["cuda:0", "cuda:0"])
(first(torch.ones(4, 3, device="cuda")).sum() + second(torch.ones(4, 3, device="cuda")).sum()).backward()
assert net.weight.grad.shape == (2, 3) and net.weight.grad.is_cuda
""")
    assert out.returncode == 0, out.stderr


def test_training_on_two_gpus(tmp_path):
    """Everything is issued on the device of its operands: pretended devices refuse memory of one another."""
    out = run(tmp_path, """
from torch import nn
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(32, 5)).cuda()
model = nn.DataParallel(net)
assert model.device_ids == [0, 1], model.device_ids
optimizer = torch.optim.Adam(net.parameters(), fused=True)
for _ in range(3):
    x, y = torch.randn(6, 3, 8, 8), torch.randint(0, 5, (6,))
    with torch.autocast("cuda", torch.bfloat16):
        out = model(x.cuda())
    loss = nn.functional.cross_entropy(out.float(), y.cuda())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    assert out.device == torch.device("cuda:0") and out.shape == (6, 5)
    torch.cuda.synchronize(1)
with torch.cuda.device(1):
    x = torch.ones(3, device="cuda")
    assert x.get_device() == 1 and (x + 1).get_device() == 1
    assert torch.cuda.current_stream().device.index == 1
assert torch.cuda.current_device() == 0 and (x * 2).get_device() == 1
print("trained")
""", gpus=2)
    assert out.stdout.strip() == "trained", out.stdout + out.stderr
