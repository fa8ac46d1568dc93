"""Whole models trained for a few steps; test_nn_programs.py compares their losses with PyTorch's.

Run with PyTorch's Python, this file writes PyTorch's losses to nn_programs.json.
"""
import json
import math
import os

import numpy as np

RECORDED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "nn_programs.json")


def train(torch, model, batches, loss_of, steps, lr):
    """Plain SGD; the losses."""
    losses = []
    for step in range(steps):
        loss = loss_of(model, *batches[step % len(batches)])
        model.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        with torch.no_grad():
            for param in model.parameters():
                param.add_(param.grad, alpha=-lr)
        losses.append(loss.item())
    return losses


def gpt(torch):
    """A language model with tied embeddings, causal attention written out, weight decay left out."""
    nn, F = torch.nn, torch.nn.functional
    width, heads, layers, vocabulary, length = 32, 4, 2, 50, 16

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.c_attn = nn.Linear(width, 3 * width)
            self.c_proj = nn.Linear(width, width)
            self.dropout = nn.Dropout(0.1)
            self.register_buffer("mask", torch.tril(torch.ones(length, length)).view(1, 1, length, length))

        def forward(self, x):
            n, t, c = x.size()
            q, k, v = (p.view(n, t, heads, c // heads).transpose(1, 2) for p in self.c_attn(x).split(width, dim=2))
            scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
            scores = scores.masked_fill(self.mask[:, :, :t, :t] == 0, float("-inf"))
            y = self.dropout(F.softmax(scores, dim=-1)) @ v
            return self.c_proj(y.transpose(1, 2).contiguous().view(n, t, c))

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.ln_1, self.attn, self.ln_2 = nn.LayerNorm(width), Attention(), nn.LayerNorm(width, bias=False)
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"),
                                     nn.Linear(4 * width, width),
                                     nn.Dropout(0.1))

        def forward(self, x):
            x = x + self.attn(self.ln_1(x))
            return x + self.mlp(self.ln_2(x))

    class GPT(nn.Module):
        def __init__(self):
            super().__init__()
            self.transformer = nn.ModuleDict(dict(
                wte=nn.Embedding(vocabulary, width), wpe=nn.Embedding(length, width),
                h=nn.ModuleList([Block() for _ in range(layers)]), ln_f=nn.LayerNorm(width)))
            self.lm_head = nn.Linear(width, vocabulary, bias=False)
            self.transformer.wte.weight = self.lm_head.weight
            self.apply(self._init_weights)
            for name, p in self.named_parameters():
                if name.endswith("c_proj.weight"):
                    nn.init.normal_(p, mean=0.0, std=0.02 / math.sqrt(2 * layers))

        def _init_weights(self, module):
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, mean=0.0, std=0.02)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
            elif isinstance(module, nn.Embedding):
                nn.init.normal_(module.weight, mean=0.0, std=0.02)

        def forward(self, ids, targets):
            x = self.transformer.wte(ids) + self.transformer.wpe(torch.arange(ids.size(1)))
            for block in self.transformer.h:
                x = block(x)
            logits = self.lm_head(self.transformer.ln_f(x))
            return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1)

    torch.manual_seed(0)
    text = np.random.default_rng(0).integers(0, vocabulary, (3, 4, length + 1))
    batches = [(torch.tensor(t[:, :-1].copy()), torch.tensor(t[:, 1:].copy())) for t in text]
    return train(torch, GPT(), batches, lambda m, x, y: m(x, y), 12, 0.5)


def digits(torch):
    """The convolutional network of PyTorch's MNIST example."""
    nn, F = torch.nn, torch.nn.functional

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(1, 32, 3, 1)
            self.conv2 = nn.Conv2d(32, 64, 3, 1)
            self.dropout1 = nn.Dropout(0.25)
            self.dropout2 = nn.Dropout(0.5)
            self.fc1 = nn.Linear(9216, 128)
            self.fc2 = nn.Linear(128, 10)

        def forward(self, x):
            x = F.relu(self.conv2(F.relu(self.conv1(x))))
            x = torch.flatten(self.dropout1(F.max_pool2d(x, 2)), 1)
            x = self.dropout2(F.relu(self.fc1(x)))
            return F.log_softmax(self.fc2(x), dim=1)

    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    batches = [(torch.tensor(rng.standard_normal((8, 1, 28, 28)).astype("float32")),
                torch.tensor(rng.integers(0, 10, 8)))
               for _ in range(2)]
    return train(torch, Net(), batches, lambda m, x, y: F.nll_loss(m(x), y), 6, 0.1)


def residual(torch):
    """Residual blocks with batch norm, a squeeze-excitation gate, strided and grouped convolutions; training mode."""
    nn, F = torch.nn, torch.nn.functional

    class Block(nn.Module):
        def __init__(self, channels, out, stride):
            super().__init__()
            self.conv1 = nn.Conv2d(channels, out, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(out)
            self.conv2 = nn.Conv2d(out, out, 3, padding=1, groups=2, bias=False)
            self.bn2 = nn.BatchNorm2d(out)
            self.gate = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(out, 4, 1), nn.ReLU(inplace=True),
                                      nn.Conv2d(4, out, 1), nn.Hardsigmoid())
            self.down = nn.Sequential(nn.Conv2d(channels, out, 1, stride), nn.BatchNorm2d(out))
            nn.init.zeros_(self.bn2.weight)

        def forward(self, x):
            y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
            return F.relu(y * self.gate(y) + self.down(x))

    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.Hardswish(), Block(8, 16, 2),
                        Block(16, 16, 1),
                        nn.AdaptiveAvgPool2d((1, 1)), nn.Flatten(), nn.Dropout(0.2), nn.Linear(16, 5))
    for m in net.modules():
        if isinstance(m, nn.Conv2d):
            nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")
    batches = [(torch.tensor(rng.standard_normal((4, 3, 12, 12)).astype("float32")),
                torch.tensor(rng.integers(0, 5, 4)))
               for _ in range(2)]
    losses = train(torch, net, batches, lambda m, x, y: F.cross_entropy(m(x), y, label_smoothing=0.1), 8, 0.2)
    with torch.no_grad():
        return losses + net.eval()(batches[0][0]).flatten().tolist()


PROGRAMS = {"gpt": gpt, "digits": digits, "residual": residual}

if __name__ == "__main__":
    import torch
    with open(RECORDED, "w") as file:
        json.dump({name: program(torch) for name, program in PROGRAMS.items()}, file, indent=0)
        file.write("\n")
