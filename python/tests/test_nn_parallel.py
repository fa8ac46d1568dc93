"""DataParallel's parts, with the CPU in the place of several GPUs."""
import threading

import pytest

import argand as torch
import argand.nn as nn
from argand.nn.parallel import gather, parallel_apply, replicate, scatter, scatter_kwargs

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
