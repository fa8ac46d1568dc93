"""A recurrent network written by hand learns the next letter of a text, and writes some of its own."""
import torch
from torch import nn

TEXT = ("an argand lamp burns with a round wick, so that air flows inside and outside of the flame. its light is that of "
        "ten candles. the glass chimney came later, by chance, and made the flame steady. before it people read by the "
        "light of the fire; after it they read at night. ")
LETTERS = sorted(set(TEXT))


def one_hot(letter):
    out = torch.zeros(1, len(LETTERS))
    out[0][LETTERS.index(letter)] = 1
    return out


class RNN(nn.Module):
    def __init__(self, input_size, hidden_size, output_size):
        super().__init__()
        self.hidden_size = hidden_size
        self.i2h = nn.Linear(input_size + hidden_size, hidden_size)
        self.i2o = nn.Linear(input_size + hidden_size, output_size)
        self.softmax = nn.LogSoftmax(dim=1)

    def forward(self, letter, hidden):
        combined = torch.cat((letter, hidden), 1)
        hidden = torch.tanh(self.i2h(combined))
        return self.softmax(self.i2o(combined)), hidden

    def initHidden(self):
        return torch.zeros(1, self.hidden_size)


def main():
    torch.manual_seed(0)
    rnn = RNN(len(LETTERS), 64, len(LETTERS))
    criterion = nn.NLLLoss()
    optimizer = torch.optim.Adam(rnn.parameters(), lr=0.01)
    length = 24
    for step in range(1, 121):
        start = int(torch.randint(0, len(TEXT) - length - 1, (1,)))
        piece = TEXT[start:start + length + 1]
        hidden = rnn.initHidden()
        rnn.zero_grad()
        loss = torch.zeros(())
        for now, following in zip(piece, piece[1:]):
            output, hidden = rnn(one_hot(now), hidden)
            loss = loss + criterion(output, torch.tensor([LETTERS.index(following)]))
        loss.backward()
        optimizer.step()
        if step % 30 == 0:
            print(f"step {step}  loss per letter {loss.item() / length:.4f}")
    with torch.no_grad():
        hidden, letter, written = rnn.initHidden(), "t", "t"
        for _ in range(40):
            output, hidden = rnn(one_hot(letter), hidden)
            letter = LETTERS[output.topk(1)[1][0][0].item()]
            written += letter
    print("written:", written)


if __name__ == "__main__":
    main()
