"""Training on images as PyTorch's example for ImageNet does it: mp.spawn, DistributedSampler, sums of the meters of all ranks."""
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from saying import say
from torch.utils.data import DataLoader, Subset, TensorDataset
from torch.utils.data.distributed import DistributedSampler

RANKS = 2


class Meter:
    """The mean of what it was given."""

    def __init__(self):
        self.sum = self.count = 0

    def update(self, value, count):
        self.sum, self.count = self.sum + value * count, self.count + count

    def all_reduce(self):
        both = torch.tensor([self.sum, self.count], dtype=torch.float32)
        dist.all_reduce(both, dist.ReduceOp.SUM, async_op=False)
        self.sum, self.count = both.tolist()

    def mean(self):
        return self.sum / self.count


def hits(scores, labels, k):
    with torch.no_grad():
        _, best = scores.topk(k, 1, True, True)
        return best.t().eq(labels.view(1, -1)).reshape(-1).float().sum().item() * 100 / len(labels)


def network():
    return torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, 2, 1, bias=False), torch.nn.BatchNorm2d(8), torch.nn.ReLU(inplace=True),
                               torch.nn.Conv2d(8, 16, 3, 2, 1), torch.nn.BatchNorm2d(16), torch.nn.ReLU(),
                               torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(16, 10))


def worker(rank, folder):
    dist.init_process_group("gloo", f"file://{folder}/meet", world_size=RANKS, rank=rank)
    torch.manual_seed(5)
    images, labels = torch.randn(170, 3, 16, 16), torch.randint(0, 10, (170,))
    train, valid = TensorDataset(images, labels), TensorDataset(images[:83], labels[:83])
    model = torch.nn.parallel.DistributedDataParallel(network())
    criterion = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.1)
    samplers = DistributedSampler(train), DistributedSampler(valid, shuffle=False, drop_last=True)
    loaders = [DataLoader(part, batch_size=16, num_workers=1, sampler=s) for part, s in zip((train, valid), samplers)]
    for epoch in range(2):
        samplers[0].set_epoch(epoch)
        model.train()
        for step, (x, y) in enumerate(loaders[0]):
            scores = model(x)
            loss = criterion(scores, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            say(f"[{rank}] epoch {epoch} {step}: {loss.item():.5f}, {hits(scores, y, 1):.2f} %, {hits(scores, y, 5):.2f} %")
        model.eval()
        loss_of_all, hits_of_all = Meter(), Meter()

        def measure(loader):
            with torch.no_grad():
                for x, y in loader:
                    scores = model(x)
                    loss_of_all.update(criterion(scores, y).item(), len(y))
                    hits_of_all.update(hits(scores, y, 1), len(y))
        measure(loaders[1])
        loss_of_all.all_reduce()
        hits_of_all.all_reduce()
        measure(DataLoader(Subset(valid, range(len(samplers[1]) * RANKS, len(valid))), batch_size=16))
        say(f"[{rank}] epoch {epoch}: {loss_of_all.mean():.5f}, {hits_of_all.mean():.2f} % of {hits_of_all.count:.0f}")
        schedule.step()
        if rank == 0:
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "schedule": schedule.state_dict()},
                       folder + "/checkpoint.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(worker, nprocs=RANKS, args=(sys.argv[1],))
    say(*sorted(torch.load(sys.argv[1] + "/checkpoint.pt")["model"]))
