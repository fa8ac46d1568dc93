"""Trains a small gated layer with the op, and compares it with the composition of ops that it stands for."""
import torch
from custom_op_example import silu_mul
from torch import nn


class Gated(nn.Module):
    def __init__(self, size, hidden):
        super().__init__()
        self.gate, self.up = nn.Linear(size, hidden), nn.Linear(size, hidden)
        self.down = nn.Linear(hidden, size)

    def forward(self, x):
        return self.down(silu_mul(self.gate(x), self.up(x)))


def main():
    torch.manual_seed(0)
    gate, up = (torch.randn(3, 5, dtype=torch.float64, requires_grad=True) for _ in range(2))
    difference = (silu_mul(gate, up) - nn.functional.silu(gate) * up).abs().max().item()
    print("agrees with silu(gate) * up:", difference < 1e-12)
    print("gradients are right:", torch.autograd.gradcheck(silu_mul, (gate, up)))
    print("without elements:", tuple(silu_mul(gate.detach().to("meta"), up.detach().to("meta")).shape))
    model, x = Gated(4, 16), torch.randn(64, 4)
    y = x.roll(1, 1) * x
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(201):
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            print(f"step {step}: loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
