"""A small convolutional network tells four drawn shapes apart; it is saved on the way and the copy goes on the same."""
import os
import tempfile

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split


class Shapes(Dataset):
    """16 x 16 pictures of a bar, a column, a square or a cross, with noise."""

    def __init__(self, count, generator):
        self.labels = torch.randint(0, 4, (count,), generator=generator)
        self.noise = torch.rand(count, 1, 16, 16, generator=generator) * 0.5
        self.places = torch.randint(3, 12, (count, 2), generator=generator)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        picture = self.noise[i].clone()
        row, column = self.places[i].tolist()
        label = self.labels[i].item()
        if label in (0, 3):
            picture[0, row, column - 3:column + 4] += 1
        if label in (1, 3):
            picture[0, row - 3:row + 4, column] += 1
        if label == 2:
            picture[0, row - 2:row + 3, column - 2:column + 3] += 1
        return picture, label


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.drop = nn.Dropout(0.2)
        self.fc = nn.Linear(16 * 4 * 4, 4)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm(self.conv1(x))), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc(self.drop(torch.flatten(x, 1)))


def train(model, optimizer, loader, device):
    model.train()
    total = 0.0
    for pictures, labels in loader:
        pictures, labels = pictures.to(device, non_blocking=True), labels.to(device, non_blocking=True)
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(model(pictures), labels)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(labels)
    return total / len(loader.dataset)


def test(model, loader, device):
    model.eval()
    right = 0
    with torch.no_grad():
        for pictures, labels in loader:
            right += (model(pictures.to(device)).argmax(1).cpu() == labels).sum().item()
    return right / len(loader.dataset)


def main():
    torch.manual_seed(1)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    data = Shapes(800, torch.Generator().manual_seed(2))
    training, testing = random_split(data, [640, 160], generator=torch.Generator().manual_seed(3))
    loader = DataLoader(training, batch_size=32, shuffle=True, pin_memory=device.type == "cuda",
                        generator=torch.Generator().manual_seed(4))
    test_loader = DataLoader(testing, batch_size=160)
    model = Net().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, weight_decay=1e-4)
    for epoch in range(1, 7):
        loss = train(model, optimizer, loader, device)
        print(f"epoch {epoch}  loss {loss:.4f}  accuracy {test(model, test_loader, device):.3f}")
    path = os.path.join(tempfile.mkdtemp(), "checkpoint.pt")
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 6}, path)

    copy = Net().to(device)
    copy_optimizer = torch.optim.SGD(copy.parameters(), lr=1.0, momentum=0.9)
    saved = torch.load(path)
    copy.load_state_dict(saved["model"])
    copy_optimizer.load_state_dict(saved["optimizer"])
    print("same accuracy again:", test(copy, test_loader, device) == test(model, test_loader, device))
    pictures, labels = next(iter(test_loader))
    for m, o in ((model, optimizer), (copy, copy_optimizer)):
        m.eval()
        o.zero_grad()
        F.cross_entropy(m(pictures.to(device)), labels.to(device)).backward()
        o.step()
    print("same weights after one more step:", all(torch.equal(a, b) for a, b in zip(model.parameters(), copy.parameters())))


if __name__ == "__main__":
    main()
