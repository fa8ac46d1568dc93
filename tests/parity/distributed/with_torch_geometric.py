"""Graphs of torch_geometric, of which each rank takes its own."""
import torch
import torch.distributed as dist
from saying import say
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data.distributed import DistributedSampler
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import MLP, GCNConv, GINConv, global_add_pool


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.last = GCNConv(6, 16), GINConv(MLP([16, 16, 16], norm=None)), torch.nn.Linear(16, 2)

    def forward(self, graphs):
        x = self.first(graphs.x, graphs.edge_index).relu()
        return self.last(global_add_pool(self.second(x, graphs.edge_index).relu(), graphs.batch))


def graph(i):
    nodes = 5 + i % 4
    return Data(x=torch.randn(nodes, 6), edge_index=torch.randint(0, nodes, (2, 12)), y=torch.tensor([i % 2]))


dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(12)
graphs = [graph(i) for i in range(64)]
sampler = DistributedSampler(graphs, num_replicas=dist.get_world_size(), rank=rank)
model = DistributedDataParallel(Network())
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(3):
    sampler.set_epoch(epoch)
    total = torch.zeros(2)
    for batch in DataLoader(graphs, batch_size=8, sampler=sampler):
        loss = torch.nn.functional.cross_entropy(model(batch), batch.y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += torch.tensor([loss.item() * batch.num_graphs, batch.num_graphs])
    dist.all_reduce(total)
    say(f"[{rank}] {epoch} {total[0] / total[1]:.5f} of {total[1]:.0f}")
dist.destroy_process_group()
