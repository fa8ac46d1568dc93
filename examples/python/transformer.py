"""An encoder and a decoder, their halves written out, learn to write dates in another form: "3 may 21" as "2021-05-03"."""
import math

import torch
import torch.nn.functional as F
from torch import nn

MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
SYMBOLS = ["<pad>", "<start>", "<end>"] + sorted(set("0123456789- " + "".join(MONTHS)))
INDEX = {s: i for i, s in enumerate(SYMBOLS)}
PAD, START, END = 0, 1, 2


def dates(count):
    days = torch.randint(1, 29, (count,)).tolist()
    months = torch.randint(0, 12, (count,)).tolist()
    years = torch.randint(0, 100, (count,)).tolist()
    pairs = [(f"{d} {MONTHS[m]} {y:02d}", f"20{y:02d}-{m + 1:02d}-{d:02d}") for d, m, y in zip(days, months, years)]
    sources = torch.full((count, 9), PAD)
    targets = torch.full((count, 12), PAD)
    for row, (source, target) in enumerate(pairs):
        sources[row, :len(source)] = torch.tensor([INDEX[c] for c in source])
        targets[row] = torch.tensor([START] + [INDEX[c] for c in target] + [END])
    return pairs, sources, targets


class Positions(nn.Module):
    table: torch.Tensor

    def __init__(self, width, length=64):
        super().__init__()
        place = torch.arange(length).unsqueeze(1)
        rate = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
        table = torch.zeros(length, width)
        table[:, 0::2] = torch.sin(place * rate)
        table[:, 1::2] = torch.cos(place * rate)
        self.register_buffer("table", table)

    def forward(self, x):
        return x + self.table[:x.size(1)]


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x, memory, mask=None):
        def split(t):
            return t.view(t.size(0), t.size(1), self.heads, -1).transpose(1, 2)
        q, k, v = split(self.query(x)), split(self.key(memory)), split(self.value(memory))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        mixed = F.softmax(scores, dim=-1) @ v
        return self.out(mixed.transpose(1, 2).contiguous().view(x.shape))


class Layer(nn.Module):
    """A layer of the encoder, or of the decoder, which also attends to the encoder's output."""

    def __init__(self, width, heads, decodes):
        super().__init__()
        self.own = Attention(width, heads)
        self.other = Attention(width, heads) if decodes else None
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, width))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3 if decodes else 2))

    def forward(self, x, own_mask, memory=None, memory_mask=None):
        normed = self.norms[0](x)
        x = x + self.own(normed, normed, own_mask)
        if self.other is not None:
            x = x + self.other(self.norms[2](x), memory, memory_mask)
        return x + self.feed(self.norms[1](x))


class Transformer(nn.Module):
    def __init__(self, width=48, heads=4, layers=2):
        super().__init__()
        self.embed = nn.Embedding(len(SYMBOLS), width, padding_idx=PAD)
        self.positions = Positions(width)
        self.encoder = nn.ModuleList(Layer(width, heads, False) for _ in range(layers))
        self.decoder = nn.ModuleList(Layer(width, heads, True) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.out = nn.Linear(width, len(SYMBOLS))

    def encode(self, source):
        mask = (source != PAD)[:, None, None, :]
        x = self.positions(self.embed(source))
        for layer in self.encoder:
            x = layer(x, mask)
        return x, mask

    def decode(self, target, memory, memory_mask):
        size = target.size(1)
        mask = torch.ones(size, size, dtype=torch.bool, device=target.device).tril()
        x = self.positions(self.embed(target))
        for layer in self.decoder:
            x = layer(x, mask, memory, memory_mask)
        return self.out(self.norm(x))

    def forward(self, source, target):
        return self.decode(target, *self.encode(source))


def main():
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = Transformer().to(device)
    print("parameters:", sum(p.numel() for p in model.parameters()))
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for step in range(1, 181):
        _, source, target = dates(64)
        source, target = source.to(device), target.to(device)
        logits = model(source, target[:, :-1])
        loss = F.cross_entropy(logits.reshape(-1, len(SYMBOLS)), target[:, 1:].reshape(-1), ignore_index=PAD)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 45 == 0:
            print(f"step {step}  loss {loss.item():.3f}")
    model.eval()
    pairs, source, _ = dates(100)
    with torch.no_grad():
        memory, mask = model.encode(source.to(device))
        written = torch.full((100, 1), START, device=device)
        for _ in range(11):
            following = model.decode(written, memory, mask)[:, -1].argmax(-1, keepdim=True)
            written = torch.cat([written, following], 1)
    texts = ["".join(SYMBOLS[i] for i in row if i > END) for row in written.tolist()]
    right = sum(text == pair[1] for text, pair in zip(texts, pairs))
    print(f"right: {right} of 100, as {pairs[0][0]!r} -> {texts[0]!r}")


if __name__ == "__main__":
    main()
