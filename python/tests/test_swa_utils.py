"""optim.swa_utils: averages of models, the schedule, the statistics of batch normalization."""
import copy

import argand as torch
import pytest
from argand import nn
from argand.optim.swa_utils import (SWALR, AveragedModel, get_ema_avg_fn, get_ema_multi_avg_fn, get_swa_avg_fn,
                                    get_swa_multi_avg_fn, update_bn)


def models(n=4):
    torch.manual_seed(0)
    return [nn.Linear(3, 2) for _ in range(n)]


def averaged(**options):
    average = AveragedModel(models()[0], **options)
    for model in models():
        average.update_parameters(model)
    return average


@pytest.mark.parametrize("options", [{}, {"avg_fn": get_swa_avg_fn()}, {"multi_avg_fn": get_swa_multi_avg_fn()}])
def test_mean(options):
    average = averaged(**options)
    expected = sum(m.weight.detach() for m in models()) / 4
    assert torch.allclose(average.module.weight, expected, atol=1e-6) and average.n_averaged.item() == 4
    x = torch.ones(1, 3)
    assert torch.equal(average(x), average.module(x)) and average.module.weight.requires_grad
    assert list(average.state_dict()) == ["n_averaged", "module.weight", "module.bias"]


@pytest.mark.parametrize("options", [{"avg_fn": get_ema_avg_fn(0.9)}, {"multi_avg_fn": get_ema_multi_avg_fn(0.9)}])
def test_exponential_average(options):
    average, expected = averaged(**options), None
    for model in models():
        w = model.weight.detach()
        expected = w.clone() if expected is None else 0.9 * expected + 0.1 * w
    assert torch.allclose(average.module.weight, expected, atol=1e-6)


def test_buffers():
    source = nn.BatchNorm1d(2)
    plain, whole = AveragedModel(source), AveragedModel(source, use_buffers=True)
    for mean in (2.0, 4.0):
        source.running_mean.fill_(mean)
        plain.update_parameters(source)
        whole.update_parameters(source)
    assert plain.module.running_mean.tolist() == [4, 4] and whole.module.running_mean.tolist() == [3, 3]


def test_refusals():
    with pytest.raises(AssertionError, match="Only one of avg_fn and multi_avg_fn should be provided"):
        AveragedModel(nn.Linear(1, 1), avg_fn=get_swa_avg_fn(), multi_avg_fn=get_swa_multi_avg_fn())
    with pytest.raises(ValueError, match="Invalid decay value 2 provided"):
        get_ema_avg_fn(2)


def test_update_bn():
    model = nn.Sequential(nn.BatchNorm1d(2), nn.Dropout(0.5))
    momentum = model[0].momentum
    model[0].running_mean.fill_(100.0)
    model.eval()
    batches = [torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[5.0, 6.0], [7.0, 8.0]])]
    update_bn(batches, model)
    assert model[0].running_mean.tolist() == [4, 5] and model[0].momentum == momentum and not model.training
    again = copy.deepcopy(model)
    update_bn([(b, "label") for b in batches], again)
    assert again[0].running_mean.tolist() == [4, 5]


def test_schedule():
    # Printed by PyTorch 2.15.
    for options, expected in (
            (dict(anneal_epochs=4), [0.5, 0.4340990257669732, 0.275, 0.11590097423302682, 0.05, 0.05, 0.05]),
            (dict(anneal_epochs=3, anneal_strategy="linear"), [0.5, 0.35000000000000003, 0.2, 0.05, 0.05, 0.05, 0.05]),
            (dict(anneal_epochs=0), [0.05] * 7)):
        sgd = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.5)
        schedule, rates = SWALR(sgd, 0.05, **options), []
        for _ in range(7):
            rates.append(sgd.param_groups[0]["lr"])
            sgd.step()
            schedule.step()
        assert rates == expected
