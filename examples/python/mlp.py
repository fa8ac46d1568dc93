"""A network of two layers learns a function of two numbers; gradients of several batches make one step."""
import torch
from torch import nn

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.rand(512, 2)
y = (torch.sin(6 * x[:, :1]) * x[:, 1:]).to(device)
x = x.to(device)

model = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1)).to(device)
print(model)
optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=60, gamma=0.5)
accumulate = 4

for epoch in range(1, 161):
    optimizer.zero_grad()
    for part_x, part_y in zip(x.chunk(accumulate), y.chunk(accumulate)):
        loss = nn.functional.mse_loss(model(part_x), part_y) / accumulate
        loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    schedule.step()
    if epoch % 40 == 0:
        with torch.no_grad():
            print(f"epoch {epoch:3d}  lr {schedule.get_last_lr()[0]:.4f}  loss {nn.functional.mse_loss(model(x), y).item():.5f}")
