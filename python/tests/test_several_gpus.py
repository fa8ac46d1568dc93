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
