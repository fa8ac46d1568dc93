"""A trainer that keeps snapshots and goes on from them, as torchrun's tutorials and minGPT have it; started twice."""
import os
import sys

import torch
from saying import say
from torch.distributed import destroy_process_group, init_process_group
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, random_split
from torch.utils.data.distributed import DistributedSampler


class Characters(Dataset):
    def __init__(self, length):
        text = "In the beginning there was a lamp, and it burnt oil. " * 20
        number = {c: i for i, c in enumerate(sorted(set(text)))}
        self.ids, self.length, self.count = [number[c] for c in text], length, len(number)

    def __len__(self):
        return len(self.ids) - self.length

    def __getitem__(self, i):
        part = torch.tensor(self.ids[i:i + self.length + 1])
        return part[:-1], part[1:]


class Block(torch.nn.Module):
    def __init__(self, width, length):
        super().__init__()
        self.norm1, self.norm2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.attention = torch.nn.MultiheadAttention(width, 4, batch_first=True)
        self.register_buffer("mask", torch.ones(length, length).tril().bool().logical_not())
        self.mlp = torch.nn.Sequential(torch.nn.Linear(width, 4 * width), torch.nn.GELU(), torch.nn.Linear(4 * width, width))

    def forward(self, x):
        n = self.norm1(x)
        x = x + self.attention(n, n, n, attn_mask=self.mask, need_weights=False)[0]
        return x + self.mlp(self.norm2(x))


class Model(torch.nn.Module):
    def __init__(self, count, length, width=32):
        super().__init__()
        self.token, self.place = torch.nn.Embedding(count, width), torch.nn.Parameter(torch.zeros(1, length, width))
        self.blocks = torch.nn.Sequential(Block(width, length), Block(width, length))
        self.head = torch.nn.Linear(width, count, bias=False)

    def forward(self, ids, targets):
        scores = self.head(self.blocks(self.token(ids) + self.place))
        return torch.nn.functional.cross_entropy(scores.flatten(0, 1), targets.flatten())


def main(folder, epochs):
    torch.manual_seed(0)
    init_process_group("gloo")
    rank, path = int(os.environ["RANK"]), os.path.join(folder, "snapshot.pt")
    data = Characters(24)
    train, test = random_split(data, [0.9, 0.1], generator=torch.Generator().manual_seed(1))
    loaders = [DataLoader(part, batch_size=16, num_workers=1, sampler=DistributedSampler(part)) for part in (train, test)]
    model = Model(data.count, 24)
    decayed = [p for p in model.parameters() if p.dim() == 2]
    others = [p for p in model.parameters() if p.dim() != 2]
    optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}], lr=3e-3)
    scaler, begin = torch.amp.GradScaler("cpu", enabled=False), 0
    if os.path.exists(path):
        snapshot = torch.load(path, map_location="cpu")
        model.load_state_dict(snapshot["model"])
        optimizer.load_state_dict(snapshot["optimizer"])
        begin = snapshot["epoch"]
        say(f"[{rank}] goes on from epoch {begin}")
    model = DistributedDataParallel(model)
    for epoch in range(begin, epochs):
        for loader, training in zip(loaders, (True, False)):
            loader.sampler.set_epoch(epoch)
            for step, (ids, targets) in enumerate(loader):
                if step == (6 if training else 2):
                    break
                with torch.set_grad_enabled(training), torch.amp.autocast("cpu", enabled=False):
                    loss = model(ids, targets)
                if training:
                    optimizer.zero_grad(set_to_none=True)
                    scaler.scale(loss).backward()
                    scaler.unscale_(optimizer)
                    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                    scaler.step(optimizer)
                    scaler.update()
                say(f"[{rank}] epoch {epoch} {'train' if training else 'test'} {step}: {loss.item():.5f}")
        if rank == 0:
            torch.save({"model": model.module.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch + 1}, path)
    destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1], 1 if not os.path.exists(sys.argv[1] + "/snapshot.pt") else 2)
