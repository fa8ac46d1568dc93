"""DataParallel over the GPUs of one process: what comes out, and the gradients, are those of one GPU."""
import copy

import argand as torch
import pytest
from argand import nn

pytestmark = pytest.mark.skipif(torch.cuda.device_count() < 2, reason="there are no two GPUs")


def test_data_parallel():
    torch.manual_seed(0)
    one = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.BatchNorm1d(16).eval(), nn.Linear(16, 3)).to("cuda:0")
    several = nn.DataParallel(copy.deepcopy(one))
    x = torch.randn(11, 6, device="cuda:0")
    y = torch.randint(0, 3, (11,), device="cuda:0")
    optimizers = [torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9) for m in (one, several)]
    for _ in range(5):
        losses = []
        for model, optimizer in zip((one, several), optimizers):
            optimizer.zero_grad()
            out = model(x)
            assert out.device == torch.device("cuda:0") and out.shape == (11, 3)
            loss = nn.functional.cross_entropy(out, y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    for a, b in zip(one.parameters(), several.parameters()):
        assert torch.allclose(a, b, atol=1e-5)


def test_an_error_of_one_part_comes_back():
    class Picky(nn.Module):
        def forward(self, x):
            if x.get_device() == 1:
                raise ValueError("not here")
            return x
    model = nn.DataParallel(Picky().to("cuda:0"))
    with pytest.raises(ValueError, match="not here"):
        model(torch.ones(4, 2, device="cuda:0"))


def test_copies_between_gpus():
    x = torch.arange(1000.0, device="cuda:0")
    assert torch.equal(x.to("cuda:1").cpu(), x.cpu()) and x.to("cuda:1").get_device() == 1
    with torch.cuda.device(1):
        assert torch.ones(1, device="cuda").get_device() == 1


def test_comm():
    from argand.cuda import comm
    x = torch.randn(10, 3, device="cuda:0")
    copies = comm.broadcast(x, [0, 1])
    assert [c.get_device() for c in copies] == [0, 1] and all(torch.equal(c.cpu(), x.cpu()) for c in copies)
    assert torch.equal(comm.reduce_add(copies, 1).cpu(), (x + x).cpu()) and comm.reduce_add(copies).get_device() == 0
    sums = comm.reduce_add_coalesced(comm.broadcast_coalesced([x, x * 2], [0, 1]), 0)
    assert torch.equal(sums[0], x + x) and torch.equal(sums[1], x * 4)
    parts = comm.scatter(x, [1, 0], chunk_sizes=[3, 7])
    assert [(p.get_device(), len(p)) for p in parts] == [(1, 3), (0, 7)]
    assert torch.equal(comm.gather(parts, destination=0), x)
    out = torch.empty(10, 3, device="cuda:1")
    assert comm.gather(parts, out=out) is out and torch.equal(out.cpu(), x.cpu())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_transformer_on_both(dtype):
    """Attention, layer norms, dropout of none and shared weights: outputs and gradients are those of one GPU."""
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
    one = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).to("cuda:0", dtype)
    several = nn.DataParallel(copy.deepcopy(one))
    x = torch.randn(6, 20, 64, device="cuda:0", dtype=dtype)
    near = dict(rtol=1e-4, atol=1e-4) if dtype == torch.float32 else dict(rtol=5e-2, atol=5e-2)
    for _ in range(3):
        outs = [model(x) for model in (one, several)]
        assert torch.allclose(*outs, **near)
        for model, out in zip((one, several), outs):
            model.zero_grad()
            (out.float() ** 2).mean().backward()
    for a, b in zip(one.parameters(), several.parameters()):
        assert torch.allclose(a.grad, b.grad, **near)
