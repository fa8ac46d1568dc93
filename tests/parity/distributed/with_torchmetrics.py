"""Metrics of torchmetrics, whose states are sums and lists of different lengths, over all ranks."""
import torch
import torch.distributed as dist
from saying import say
from torchmetrics import CatMetric, MeanMetric, MeanSquaredError, MetricCollection, PearsonCorrCoef
from torchmetrics.classification import MulticlassAccuracy, MulticlassAUROC, MulticlassConfusionMatrix, MulticlassF1Score

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(rank)
classes = MetricCollection([MulticlassAccuracy(4), MulticlassAUROC(4), MulticlassF1Score(4), MulticlassConfusionMatrix(4)])
for _ in range(3 + rank):
    classes(torch.randn(10 + rank, 4).softmax(-1), torch.randint(0, 4, (10 + rank,)))
for name, value in classes.compute().items():
    say(f"[{rank}] {name}", *(f"{each:.5f}" for each in value.flatten().tolist()))
mean, all_values, correlation, error = MeanMetric(), CatMetric(), PearsonCorrCoef(), MeanSquaredError()
for i in range(2 + rank):
    a, b = torch.randn(5), torch.randn(5)
    mean.update(a.mean())
    all_values.update(a[:i + 1])
    correlation.update(a, b)
    error.update(a, b)
for metric in (mean, all_values, correlation, error):
    value = metric.compute()
    say(f"[{rank}] {type(metric).__name__} {value.sum().item():.5f} {tuple(value.shape)}")
dist.destroy_process_group()
