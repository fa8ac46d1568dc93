"""Where somebody speaks in a recording: the trained weights of Silero VAD (PyPI silero-vad) on speech of Debian's pocketsphinx-testdata.

The network looks at 512 samples of 16 kHz at a time: magnitudes of a short-time Fourier transform, four convolutions, an LSTM cell.
"""
import torch
import torch.nn.functional as F
from packaged import load, package, system_file
from torch import nn


class SpeechDetector(nn.Module):
    def __init__(self):
        super().__init__()
        self.stft_conv = nn.Conv1d(1, 258, 256, stride=128, bias=False)  # 129 cosines and 129 sines
        self.conv1 = nn.Conv1d(129, 128, 3, padding=1)
        self.conv2 = nn.Conv1d(128, 64, 3, stride=2, padding=1)
        self.conv3 = nn.Conv1d(64, 64, 3, stride=2, padding=1)
        self.conv4 = nn.Conv1d(64, 128, 3, padding=1)
        self.lstm_cell = nn.LSTMCell(128, 128)
        self.final_conv = nn.Conv1d(128, 1, 1)

    def forward(self, samples, state):
        """64 samples from before and 512 new ones [N, 576] -> the probability of speech [N], and the next state."""
        wave = self.stft_conv(F.pad(samples.unsqueeze(1), (0, 64), mode="reflect"))
        x = (wave[:, :129] ** 2 + wave[:, 129:] ** 2).sqrt()
        for layer in (self.conv1, self.conv2, self.conv3, self.conv4):
            x = F.relu(layer(x))
        state = self.lstm_cell(x.squeeze(-1), state)
        return torch.sigmoid(self.final_conv(F.relu(state[0]).unsqueeze(-1))).flatten(), state


def probabilities(model, samples):
    """The probability for each 512 samples of a recording; silence fills up the last ones."""
    samples = F.pad(samples, (64, -len(samples) % 512))
    state, found = None, []
    for at in range(64, len(samples), 512):
        p, state = model(samples[None, at - 64:at + 512], state)
        found.append(p.item())
    return found


def spans(found, threshold=0.5):
    """[(first, last)] of the runs above the threshold."""
    out: list[tuple[int, int]] = []
    for i, p in enumerate(found):
        if p >= threshold and out and out[-1][1] == i - 1:
            out[-1] = (out[-1][0], i)
        elif p >= threshold:
            out.append((i, i))
    return out


def main():
    weights = package("silero_vad", "silero-vad") / "data" / "silero_vad_16k.safetensors"
    recording = system_file("usr/share/pocketsphinx/test/data/numbers.raw", "pocketsphinx-testdata")
    model = SpeechDetector().eval()
    model.load_state_dict(load(weights))
    samples = torch.frombuffer(bytearray(recording.read_bytes()), dtype=torch.int16).float() / 32768
    with torch.no_grad():
        found = probabilities(model, samples)
        silence = probabilities(model, torch.zeros(16000))
    for first, last in spans(found):
        print(f"speech from {first * 0.032:.3f} s to {(last + 1) * 0.032:.3f} s, surest {max(found[first:last + 1]):.4f}")
    print("every tenth:", " ".join(f"{p:.4f}" for p in found[::10]))
    print(f"mean {sum(found) / len(found):.4f}, of silence at most {max(silence):.4f}")


if __name__ == "__main__":
    main()
