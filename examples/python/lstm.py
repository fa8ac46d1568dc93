"""nn.LSTM with its states given and kept: it adds up numbers it sees one after the other."""
import torch
from torch import nn

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
lstm = nn.LSTM(input_size=1, hidden_size=32, num_layers=2, batch_first=True).to(device)
head = nn.Linear(32, 1).to(device)
optimizer = torch.optim.Adam([*lstm.parameters(), *head.parameters()], lr=0.01)

for step in range(1, 101):
    numbers = (torch.rand(32, 20, 1) - 0.5).to(device)
    target = numbers.cumsum(1)
    h0, c0 = torch.zeros(2, 32, 32, device=device), torch.zeros(2, 32, 32, device=device)
    # In two halves: the states of the first go on in the second.
    first, (h, c) = lstm(numbers[:, :10], (h0, c0))
    second, (h, c) = lstm(numbers[:, 10:], (h, c))
    loss = nn.functional.mse_loss(head(torch.cat([first, second], 1)), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 25 == 0:
        print(f"step {step}  loss {loss.item():.4f}")
print("states:", tuple(h.shape), tuple(c.shape))
