"""What the pages on DistributedDataParallel and on writing distributed programs show: a step, a checkpoint, a model in parts, messages."""
import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from saying import say
from torch.nn.parallel import DistributedDataParallel

RANKS = 3


class Parts(torch.nn.Module):
    """A model whose halves are each on a device of their own."""

    def __init__(self, first, second):
        super().__init__()
        self.first, self.second = first, second
        self.layers = torch.nn.ModuleList([torch.nn.Linear(10, 10).to(first), torch.nn.Linear(10, 5).to(second)])

    def forward(self, x):
        return self.layers[1](self.layers[0](x.to(self.first)).relu().to(self.second))


def one_step(rank, name, model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(torch.randn(20, 10)), torch.randn(20, 5))
    loss.backward()
    optimizer.step()
    say(f"[{rank}] {name}: {loss.item():.6f} {sum(p.double().sum().item() for p in model.parameters()):.5f}")


def messages(rank):
    number = torch.zeros(1)
    if rank == 0:
        number += 1
        dist.isend(number, 1).wait()
    elif rank == 1:
        dist.irecv(number, 0).wait()
    group = dist.new_group([0, 1])
    total = torch.ones(1)
    if rank < 2:
        dist.all_reduce(total, group=group)
    # A ring of sums, in two buffers in turn.
    mine, sent, received = torch.full((4,), float(rank)), torch.full((4,), float(rank)), torch.empty(4)
    for _ in range(RANKS - 1):
        request = dist.isend(sent, (rank + 1) % RANKS)
        dist.recv(received, (rank - 1) % RANKS)
        mine += received
        request.wait()
        sent, received = received, sent
    say(f"[{rank}] messages: {number.item()} {total.item()} {mine.tolist()}")


def worker(rank, folder):
    os.environ.update(MASTER_ADDR="localhost", MASTER_PORT=os.environ["FREE_PORT"])
    dist.init_process_group("gloo", rank=rank, world_size=RANKS)
    torch.manual_seed(rank)
    model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(10, 10), torch.nn.ReLU(), torch.nn.Linear(10, 5)))
    one_step(rank, "a step", model)
    path = folder + "/model.pt"
    if rank == 0:
        torch.save(model.state_dict(), path)
    dist.barrier()
    model.load_state_dict(torch.load(path, map_location={"cuda:0": f"cuda:{rank}"}, weights_only=True))
    one_step(rank, "after the checkpoint", model)
    one_step(rank, "in parts", DistributedDataParallel(Parts("cpu", "cpu:0")))
    messages(rank)
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(worker, args=(sys.argv[1],), nprocs=RANKS, join=True)
