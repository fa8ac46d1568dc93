"""parametrizations.orthogonal: matrices and gradients recorded from PyTorch 2.15, what training keeps, refusals."""
import copy

import argand as torch
import pytest
from argand import nn
from argand.nn.utils import parametrizations, parametrize
from argand.nn.utils.parametrizations import orthogonal

MAPS = ("matrix_exp", "cayley", "householder")


def layer(rows, columns):
    module = nn.Linear(columns, rows, bias=False, dtype=torch.float64)
    with torch.no_grad():
        module.weight.copy_(torch.sin(torch.arange(rows * columns, dtype=torch.float64) ** 2).reshape(rows, columns))
    return module


def is_orthogonal(m):
    m = m if m.shape[-2] >= m.shape[-1] else m.mT
    return torch.allclose(m.mT @ m, torch.eye(m.shape[-1], dtype=m.dtype).expand(*m.shape[:-2], -1, -1), atol=1e-12)


RECORDED = {
    (3, 3, "matrix_exp", True): (
        [0, 0.7996629390678, -0.6004491517868, 0.3837244913827, -0.554483342694, -0.7384468412743, -0.9234476242392,
         -0.2304070453706, -0.3068502545714],
        [0, 0, 0, 1.883343103839, 0, 0, 1.412516485749, -2.685841100585, 0]),
    (3, 3, "matrix_exp", False): (
        [0.5158485569517, -0.6813639275585, 0.5192720525052, -0.1127022128366, 0.546901107912, 0.8295766326183,
         -0.8492340534344, -0.4864590181985, 0.2053269249289],
        [0, 0, 0, 2.99152486144, 0, 0, 6.051460008036, 11.25326279137, 0]),
    (3, 3, "cayley", True): (
        [0, 0.7996629390678, -0.6004491517868, 0.3837244913827, -0.554483342694, -0.7384468412743, -0.9234476242392,
         -0.2304070453706, -0.3068502545714],
        [0, 0, 0, 1.883343103839, 0, 0, 1.412516485749, -2.685841100585, 0]),
    (3, 3, "cayley", False): (
        [0.6195131746412, -0.5839077215019, 0.5246476905662, -0.04013607558269, 0.6439168745657, 0.764041984505,
         -0.7839595154616, -0.4943913747427, 0.3754792227237],
        [0, 0, 0, 3.057365019354, 0, 0, 4.09159818694, 7.988047397167, 0]),
    (3, 3, "householder", True): (
        [0, 0.7996629390678, -0.6004491517868, 0.3837244913827, -0.554483342694, -0.7384468412743, -0.9234476242392,
         -0.2304070453706, -0.3068502545714],
        [0, 0, 0, 3.766686207677, 0, 0, 2.825032971498, -5.37168220117, 0]),
    (3, 3, "householder", False): (
        [0, 0.7996629390678, -0.6004491517868, 0.3837244913827, -0.554483342694, -0.7384468412743, -0.9234476242392,
         -0.2304070453706, -0.3068502545714],
        [0, 0, 0, 0.1404323057744, 0, 0, 0.7707883504807, -4.999246277435, 0]),
    (3, 2, "matrix_exp", True): (
        [0, 0.9521064797184, -0.9346529594163, 0.1087187948361, -0.3555613104014, -0.2857857150516],
        [0, 0, 3.656060159722, 0, 2.882492100652, 3.739615673519]),
    (3, 2, "matrix_exp", False): (
        [0.6901625581529, 0.6567001245257, -0.6927145018605, 0.7210553320531, -0.2093376751472, -0.220961884871],
        [0, 0, 2.706552598841, 0, 5.252481953643, 3.677406294385]),
    (3, 2, "cayley", True): (
        [0, 0.9521064797184, -0.9346529594163, 0.1087187948361, -0.3555613104014, -0.2857857150516],
        [0, 0, 3.656060159722, 0, 2.882492100652, 3.739615673519]),
    (3, 2, "cayley", False): (
        [0.7194022918487, 0.6314793243538, -0.6640949813912, 0.7473796773549, -0.2035637447432, -0.206536875135],
        [0, 0, 2.119481369454, 0, 4.80641065676, 3.506688372376]),
    (3, 2, "householder", True): (
        [0, 0.9521064797184, -0.9346529594163, 0.1087187948361, -0.3555613104014, -0.2857857150516],
        [0, 0, 7.312120319444, 0, 5.764984201304, 7.479231347038]),
    (3, 2, "householder", False): (
        [0, 0.9521064797184, -0.9346529594163, 0.1087187948361, -0.3555613104014, -0.2857857150516],
        [0, 0, 2.169266626945, 0, 6.566566760101, 7.4740255544]),
}


@pytest.mark.parametrize("name, trivial", [(n, t) for n in MAPS for t in (True, False)])
@pytest.mark.parametrize("rows, columns", [(3, 3), (3, 2)])
def test_values_are_pytorchs(rows, columns, name, trivial):
    module = layer(rows, columns)
    torch.manual_seed(3)
    orthogonal(module, orthogonal_map=name, use_trivialization=trivial)
    value, gradient = RECORDED[rows, columns, name, trivial]
    assert module.weight.flatten().tolist() == pytest.approx(value, rel=1e-11, abs=1e-12)
    (module.weight * torch.arange(rows * columns).reshape(rows, columns)).sum().backward()
    assert module.parametrizations.weight.original.grad.flatten().tolist() == pytest.approx(gradient, rel=1e-11, abs=1e-12)


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("rows, columns", [(4, 4), (5, 3), (3, 5)])
def test_training_keeps_it(rows, columns, name):
    module = orthogonal(layer(rows, columns), orthogonal_map=name)
    before = module.weight.detach().clone()
    optimizer = torch.optim.SGD(module.parameters(), lr=0.05)
    for _ in range(5):
        optimizer.zero_grad()
        (module(torch.ones(2, columns, dtype=torch.float64)) - torch.arange(rows)).square().sum().backward()
        optimizer.step()
        assert is_orthogonal(module.weight)
    assert not torch.allclose(before, module.weight, atol=1e-3)
    parametrize.remove_parametrizations(module, "weight")
    assert isinstance(module.weight, nn.Parameter) and is_orthogonal(module.weight)


def test_assignment():
    module = orthogonal(layer(4, 4))
    q = torch.linalg.qr(layer(4, 4).weight.detach() + 1).Q
    module.weight = q
    assert torch.allclose(module.weight, q, atol=1e-14)
    plain = orthogonal(layer(5, 3), use_trivialization=False)
    plain.weight = thin = torch.linalg.qr(layer(5, 3).weight.detach() - 1).Q
    assert torch.allclose(plain.weight, thin, atol=1e-14)
    with pytest.raises(NotImplementedError, match="use_trivialization=False"):
        orthogonal(layer(4, 4), use_trivialization=False).weight = q
    with pytest.raises(ValueError, match="Expected a matrix"):
        module.weight = thin


def test_batches_and_chains():
    module = nn.Module()
    module.w = nn.Parameter(torch.sin(torch.arange(18.0, dtype=torch.float64) ** 2).reshape(2, 3, 3))
    assert is_orthogonal(orthogonal(module, "w").w)
    other = parametrize.transfer_parametrizations_and_params(module, nn.Module())
    assert other.w.equal(module.w) and other.parametrizations.w.original is module.parametrizations.w.original


@pytest.mark.parametrize("message, call", [
    ("no parameter or buffer", lambda: orthogonal(layer(2, 2), "x")), ("Got a tensor of 1", lambda: orthogonal(nn.Linear(2, 2), "bias")),
    ("has to be one of", lambda: orthogonal(layer(2, 2), orthogonal_map="x")),
    ("complex", lambda: orthogonal(nn.Linear(2, 2, dtype=torch.complex64), orthogonal_map="householder"))])
def test_refusals(message, call):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("wrap", ["weight_norm", "spectral_norm", "orthogonal"])
def test_copies_are_apart_and_load(wrap):
    net = torch.nn.Sequential(getattr(parametrizations, wrap)(torch.nn.Linear(4, 3)), torch.nn.ReLU(), torch.nn.Linear(3, 2))
    x = torch.randn(5, 4)
    net(x).sum().backward()
    net.eval()
    twin = copy.deepcopy(net)
    before = net(x).detach()
    assert twin(x).equal(before) and not {p.data_ptr() for p in net.parameters()} & {p.data_ptr() for p in twin.parameters()}
    optimizer = torch.optim.SGD(twin.parameters(), lr=0.5)
    optimizer.zero_grad()
    twin(x).pow(2).sum().backward()
    optimizer.step()
    assert net(x).equal(before) and not twin(x).equal(before)
    net.load_state_dict(twin.state_dict())
    assert net(x).equal(twin(x))


def test_weight_norm_loads_what_the_older_way_has_saved():
    old, x = torch.nn.Sequential(torch.nn.utils.weight_norm(torch.nn.Linear(4, 3))), torch.randn(5, 4)
    assert set(old.state_dict()) == {"0.bias", "0.weight_g", "0.weight_v"}
    new = torch.nn.Sequential(parametrizations.weight_norm(torch.nn.Linear(4, 3)))
    for net in (new, copy.deepcopy(new)):
        net.load_state_dict(old.state_dict())
        assert torch.allclose(net(x), old(x), atol=1e-6)
        before, state = net(x), old.state_dict()
        state["0.weight_g"] = torch.ones(7)
        with pytest.raises(RuntimeError, match="size mismatch for 0.parametrizations.weight.original0"):
            net.load_state_dict({**state, "0.bias": torch.zeros(3)})
        assert net(x).equal(before)  # checked before anything is changed
        del state["0.weight_g"]
        with pytest.raises(RuntimeError, match='Missing key.*original0.*Unexpected key.*weight_v|Unexpected key.*weight_v'):
            net.load_state_dict(state)
