"""GPT-2 written with the library's layers; a tiny one learns the text of char_rnn.py letter by letter and goes on with it.

`GPT2()` with its defaults is the smallest of the published sizes: 124 million parameters.
"""
import math

import torch
import torch.nn.functional as F
from torch import nn

from char_rnn import LETTERS, TEXT


class Attention(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.into = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (t.view(batch, length, self.heads, -1).transpose(1, 2) for t in self.into(x).split(width, dim=2))
        mixed = F.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout if self.training else 0.0, is_causal=True)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads, dropout)
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"), nn.Linear(4 * width, width))
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        x = x + self.drop(self.attention(self.norm1(x)))
        return x + self.drop(self.feed(self.norm2(x)))


class GPT2(nn.Module):
    def __init__(self, vocabulary=50304, context=1024, layers=12, heads=12, width=768, dropout=0.0):
        super().__init__()
        self.context = context
        self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        self.drop = nn.Dropout(dropout)
        self.blocks = nn.ModuleList(Block(width, heads, dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.tokens.weight
        self.apply(self.start)
        for block in self.blocks:  # what is added to the stream 2 * layers times stays of the size of one
            for last in (block.attention.out, block.feed[2]):
                nn.init.normal_(last.weight, std=0.02 / math.sqrt(2 * layers))

    @staticmethod
    def start(module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=0.02)
            if getattr(module, "bias", None) is not None:
                nn.init.zeros_(module.bias)

    def forward(self, tokens):
        x = self.drop(self.tokens(tokens) + self.places(torch.arange(tokens.size(1), device=tokens.device)))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))

    def loss(self, tokens):
        """The loss of predicting each token after the first from those before it."""
        logits = self(tokens[:, :-1])
        return F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())

    def optimizer(self, lr, decay=0.1):
        """AdamW that lets only matrices decay."""
        matrices = [p for p in self.parameters() if p.dim() >= 2]
        vectors = [p for p in self.parameters() if p.dim() < 2]
        return torch.optim.AdamW([{"params": matrices, "weight_decay": decay}, {"params": vectors, "weight_decay": 0.0}],
                                 lr=lr, betas=(0.9, 0.95))

    @torch.no_grad()
    def go_on(self, tokens, count):
        """Appends the most probable token, `count` times."""
        for _ in range(count):
            likeliest = self(tokens[:, -self.context:])[:, -1].argmax(-1, keepdim=True)
            tokens = torch.cat([tokens, likeliest], 1)
        return tokens


def main():
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    text = torch.tensor([LETTERS.index(letter) for letter in TEXT])
    model = GPT2(vocabulary=len(LETTERS), context=32, layers=2, heads=4, width=64).to(device)
    print("parameters:", sum(p.numel() for p in model.parameters()))
    optimizer = model.optimizer(lr=5e-3)
    for step in range(1, 241):
        starts = torch.randint(0, len(text) - model.context, (8,)).tolist()
        pieces = torch.stack([text[s:s + model.context + 1] for s in starts]).to(device)
        loss = model.loss(pieces)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 60 == 0:
            print(f"step {step}  loss per letter {loss.item():.4f}")
    model.eval()
    beginning = torch.tensor([[LETTERS.index(letter) for letter in "the glass"]], device=device)
    print("written:", "".join(LETTERS[i] for i in model.go_on(beginning, 40)[0].tolist()))


if __name__ == "__main__":
    main()
