"""PyTorch's side of bench/sequences.h: yields (name, work), the same work under the same names."""
import torch
import torch.nn.functional as F
from torch import nn


def step(parameters, loss_of):
    optimizer = torch.optim.SGD(parameters, lr=0.01)

    def work():
        optimizer.zero_grad()
        loss_of().backward()
        optimizer.step()
    return work


def rows(device):
    x = torch.randn(50, 32, 64, device=device)
    for name, layer in (("lstm", nn.LSTM), ("gru", nn.GRU)):
        net = layer(64, 128).to(device)
        yield f"step/{name}_t50_b32_h128", step(net.parameters(), lambda: net(x)[0].square().mean())
    i2h, i2o = nn.Linear(57 + 128, 128).to(device), nn.Linear(57 + 128, 18).to(device)
    letters = F.one_hot(torch.randint(57, (32,), device=device), 57).float().unsqueeze(1)
    label = torch.tensor([3], device=device)

    def char_rnn():
        hidden = torch.zeros(1, 128, device=device)
        for letter in letters.unbind():
            both = torch.cat((letter, hidden), 1)
            hidden, out = i2h(both), i2o(both)
        return F.nll_loss(F.log_softmax(out, 1), label)
    yield "step/char_rnn_32_letters", step([*i2h.parameters(), *i2o.parameters()], char_rnn)
    encoder, tokens = nn.TransformerEncoderLayer(256, 4, 512, dropout=0.0).to(device), torch.randn(64, 8, 256, device=device)
    yield "step/transformer_layer_256_b8_t64", step(encoder.parameters(), lambda: encoder(tokens).square().mean())
    q, k, v = (torch.randn(4, 8, 512, 64, device=device) for _ in range(3))
    yield "attention/b4_h8_t512_d64", lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True)
