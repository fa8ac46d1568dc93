"""Rows measured from Python, the same source for both libraries: prints JSON {row: seconds}.

    python_rows.py torch|argand cpu|cuda [THREADS [ROWS]]     ROWS: a regular expression

`bench/python.py` runs it for either side in turn.
"""
import importlib
import json
import re
import sys
import time


def least(step, synchronize, seconds=0.4, repeats=5):
    """The least mean of several runs of about `seconds`."""
    step()
    step()
    synchronize()
    count, took = 1, 0.0
    while took < seconds / 10:
        start = time.perf_counter()
        for _ in range(count):
            step()
        synchronize()
        took = time.perf_counter() - start
        count *= 2
    count = max(1, int(count / 2 * seconds / took))
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(count):
            step()
        synchronize()
        best = min(best, (time.perf_counter() - start) / count)
    return best


def main():
    torch = importlib.import_module(sys.argv[1])
    device = sys.argv[2]
    if len(sys.argv) > 3:
        torch.set_num_threads(int(sys.argv[3]))
    nn, F = torch.nn, torch.nn.functional
    torch.manual_seed(0)
    synchronize = torch.cuda.synchronize if device == "cuda" else lambda: None
    rows = {}

    wanted = re.compile(sys.argv[4] if len(sys.argv) > 4 else "")

    def row(name, step, **options):
        if wanted.search(name):
            rows[name] = least(step, synchronize, **options)

    def trainer(model, loss_of, optimizer=None):
        optimizer = optimizer or torch.optim.SGD(model.parameters(), lr=0.01)

        def step():
            optimizer.zero_grad()
            loss_of().backward()
            optimizer.step()
        return step

    a, b = torch.randn(8, device=device), torch.randn(8, device=device)
    row("op/mul8", lambda: a * b)
    row("op/add8_function", lambda: torch.add(a, b))
    row("op/view", lambda: a.view(2, 4))
    row("op/index", lambda: a[2:4])
    row("op/shape", lambda: a.shape)

    x, y = torch.randn(32, 10, device=device), torch.randn(32, 1, device=device)
    linear = nn.Linear(10, 1).to(device)
    row("step/linear_10_1_b32", trainer(linear, lambda: F.mse_loss(linear(x), y)))

    mx, my = torch.randn(64, 64, device=device), torch.randint(0, 10, (64,), device=device)
    mlp = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10)).to(device)
    row("step/mlp_64_32_10_b64", trainer(mlp, lambda: F.cross_entropy(mlp(mx), my), torch.optim.Adam(mlp.parameters())))

    cx, cy = torch.randn(64, 1, 28, 28, device=device), torch.randint(0, 10, (64,), device=device)
    cnn = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1),
                        nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(32 * 49, 10)).to(device)
    row("step/cnn_b64", trainer(cnn, lambda: F.cross_entropy(cnn(cx), cy)))

    i2h, i2o = nn.Linear(57 + 128, 128).to(device), nn.Linear(57 + 128, 18).to(device)
    letters = torch.zeros(10, 1, 57, device=device)
    label = torch.tensor([3], device=device)
    cells = nn.ModuleList([i2h, i2o])

    def char_rnn():
        hidden = torch.zeros(1, 128, device=device)
        for letter in letters:
            both = torch.cat((letter, hidden), 1)
            hidden, out = i2h(both), i2o(both)
        return F.nll_loss(F.log_softmax(out, 1), label)
    row("step/char_rnn_10_letters", trainer(cells, char_rnn))

    sequence = torch.randn(50, 32, 64, device=device)
    for name in ("LSTM", "GRU"):
        layer = getattr(nn, name)(64, 128).to(device)
        row(f"step/{name.lower()}_t50_b32_h128", trainer(layer, lambda layer=layer: layer(sequence)[0].square().mean()))

    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(256, 4, 512, dropout=0.0, batch_first=True), 2,
                                    enable_nested_tensor=False).to(device)
    tokens = torch.randn(8, 64, 256, device=device)
    row("step/transformer_encoder_2x256_b8_t64", trainer(encoder, lambda: encoder(tokens).square().mean()))

    q, k, v = (torch.randn(4, 8, 512, 64, device=device) for _ in range(3))
    row("attention/b4_h8_t512_d64", lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True))
    json.dump(rows, sys.stdout)


if __name__ == "__main__":
    main()
