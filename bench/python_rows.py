"""Rows measured from Python, the same source for both libraries: prints one JSON object a line as it goes.

    python_rows.py torch|argand cpu|cuda [--threads N] [--rows REGEX] [--after NAME]

`bench/python.py` runs it for either side in turn.  {"begun": name} comes before a row, then {"row": name, "samples": [seconds, ...]}
with what else is known of it, or {"row": name, "error": text}; --after goes on behind a row that took the process with it.

Steps of small networks have rows for PyTorch's other forms, too: NAME@graph is the whole step captured by hand as a CUDA graph
(on a GPU), NAME@compile has its loss by torch.compile.  Argand has none of them: it replays by itself.
"""
import argparse
import gc
import importlib
import json
import re
import signal
import sys
import time
import traceback
from pathlib import Path

ROW_SECONDS = 150  # after which a row, and its process, is given up


class Row:
    """`build()` gives the step to measure; of `work` units it does, so many a second are shown, and its peak of memory."""

    def __init__(self, name, build, work=0, unit="", form=None):
        self.name, self.build, self.work, self.unit, self.form = name, build, work, unit, form

    def in_form(self, form):
        return Row(f"{self.name}@{form}", self.build, self.work, self.unit, form)


class Library:
    """torch or argand, on a device; random numbers come from the CPU, whose streams are the same in both."""

    def __init__(self, name, device):
        self.torch = importlib.import_module(name)
        self.is_ours = name == "argand"
        if self.is_ours:
            importlib.import_module("argand._torch.install").install()  # examples/python says `import torch`
        self.device = device
        self.large = device == "cuda"
        self.synchronize = self.torch.cuda.synchronize if device == "cuda" else lambda: None
        self.form = None  # of the row that is being built: None, "graph" or "compile"

    def randn(self, *sizes, **options):
        return self.torch.randn(*sizes).to(self.device, **options)

    def randint(self, high, *sizes):
        return self.torch.randint(0, high, sizes).to(self.device)

    def trainer(self, parameters, loss_of, optimizer=None):
        optimizer = optimizer or self.torch.optim.SGD(parameters, lr=0.01)
        given = self.torch.compile(loss_of) if self.form == "compile" else loss_of

        def step():
            optimizer.zero_grad()
            given().backward()
            optimizer.step()
        step.loss_of = loss_of
        return self.captured(step) if self.form == "graph" else step

    def adam(self, parameters):
        """Adam for a CUDA graph, which needs the count of steps on the device."""
        return self.torch.optim.Adam(parameters, **({"capturable": True} if self.form == "graph" else {}))

    def captured(self, step):
        """The step as a CUDA graph, as PyTorch's documentation has it: some steps on a stream of their own, then the capture."""
        cuda, stream = self.torch.cuda, self.torch.cuda.Stream()
        stream.wait_stream(cuda.current_stream())
        with cuda.stream(stream):
            for _ in range(3):
                step()
        cuda.current_stream().wait_stream(stream)
        graph = cuda.CUDAGraph()
        with cuda.graph(graph):
            step()

        def replay():
            graph.replay()
        return replay

    def autocast(self, loss_of):
        """In bfloat16 on a GPU; few CPUs multiply in it."""
        def within():
            with self.torch.autocast(self.device, dtype=self.torch.bfloat16, enabled=self.large):
                return loss_of()
        return within


def means(step, synchronize, seconds, repeats):
    """The means of several runs of about `seconds`; two of at least one step where a step takes longer."""
    count, took = 1, 0.0
    while took < seconds / 10:
        start = time.perf_counter()
        for _ in range(count):
            step()
        synchronize()
        took = time.perf_counter() - start
        count *= 2
    each = took / (count / 2)
    if each > seconds:
        repeats = 2
    count, found = max(1, int(seconds / each)), []
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(count):
            step()
        synchronize()
        found.append((time.perf_counter() - start) / count)
    return found


def calls(lib):
    torch = lib.torch
    a, b = lib.randn(8), lib.randn(8)
    yield Row("op/mul8", lambda: lambda: a * b)
    yield Row("op/add8_function", lambda: lambda: torch.add(a, b))
    yield Row("op/view", lambda: lambda: a.view(2, 4))
    yield Row("op/index", lambda: lambda: a[2:4])
    yield Row("op/shape", lambda: lambda: a.shape)


def small_nets(lib):
    nn, F = lib.torch.nn, lib.torch.nn.functional

    def linear():
        x, y, net = lib.randn(32, 10), lib.randn(32, 1), nn.Linear(10, 1).to(lib.device)
        return lib.trainer(net.parameters(), lambda: F.mse_loss(net(x), y))
    yield Row("step/linear_10_1_b32", linear)

    def mlp():
        x, y = lib.randn(64, 64), lib.randint(10, 64)
        net = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10)).to(lib.device)
        return lib.trainer(net.parameters(), lambda: F.cross_entropy(net(x), y), lib.adam(net.parameters()))
    yield Row("step/mlp_64_32_10_b64", mlp)

    def cnn():
        x, y = lib.randn(64, 1, 28, 28), lib.randint(10, 64)
        net = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1),
                            nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(32 * 49, 10)).to(lib.device)
        return lib.trainer(net.parameters(), lambda: F.cross_entropy(net(x), y))
    yield Row("step/cnn_b64", cnn)

    def char_rnn():
        i2h, i2o = nn.Linear(57 + 128, 128).to(lib.device), nn.Linear(57 + 128, 18).to(lib.device)
        letters = F.one_hot(lib.randint(57, 32), 57).float().unsqueeze(1)
        label = lib.torch.tensor([3], device=lib.device)

        def loss():
            hidden = lib.torch.zeros(1, 128, device=lib.device)
            for letter in letters:
                both = lib.torch.cat((letter, hidden), 1)
                hidden, out = i2h(both), i2o(both)
            return F.nll_loss(F.log_softmax(out, 1), label)
        return lib.trainer(nn.ModuleList([i2h, i2o]).parameters(), loss)
    yield Row("step/char_rnn_32_letters", char_rnn)

    def recurrent(name):
        x, net = lib.randn(50, 32, 64), getattr(nn, name)(64, 128).to(lib.device)
        return lib.trainer(net.parameters(), lambda: net(x)[0].square().mean())
    yield Row("step/lstm_t50_b32_h128", lambda: recurrent("LSTM"))
    yield Row("step/gru_t50_b32_h128", lambda: recurrent("GRU"))

    def encoder():
        layer = nn.TransformerEncoderLayer(256, 4, 512, dropout=0.0, batch_first=True)
        net, x = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).to(lib.device), lib.randn(8, 64, 256)
        return lib.trainer(net.parameters(), lambda: net(x).square().mean())
    yield Row("step/transformer_encoder_2x256_b8_t64", encoder)


def other_forms(lib):
    """PyTorch's rows of the small networks as captured graphs and under torch.compile."""
    forms = [] if lib.is_ours else ["graph", "compile"] if lib.device == "cuda" else ["compile"]
    for row in small_nets(lib):
        for form in forms:
            yield row.in_form(form)


def models(lib):
    """Models of published sizes; on the CPU with smaller batches."""
    nn, F = lib.torch.nn, lib.torch.nn.functional
    mixed = "_bf16" if lib.large else ""

    steps, batch = (128, 64) if lib.large else (32, 16)

    def lstm():
        net, x, y = nn.LSTM(512, 512, 2).to(lib.device), lib.randn(steps, batch, 512), lib.randn(steps, batch, 512)
        return lib.trainer(net.parameters(), lambda: F.mse_loss(net(x)[0], y), lib.torch.optim.Adam(net.parameters()))
    yield Row(f"model/lstm_2x512_b{batch}_t{steps}", lstm, batch * steps, "tokens/s")

    length, pairs, words = (128, 64, 32000) if lib.large else (16, 4, 32000)

    class Translator(nn.Module):
        """Transformer base."""

        def __init__(self):
            super().__init__()
            self.words, self.places = nn.Embedding(words, 512), nn.Embedding(length, 512)
            self.body = nn.Transformer(512, 8, 6, 6, 2048, batch_first=True)
            self.head = nn.Linear(512, words)

        def forward(self, source, target, mask):
            source, target = (self.words(t) + self.places.weight for t in (source, target))
            return self.head(self.body(source, target, tgt_mask=mask, tgt_is_causal=True))

    def transformer():
        net, source, target = Translator().to(lib.device), lib.randint(words, pairs, length), lib.randint(words, pairs, length + 1)
        mask = nn.Transformer.generate_square_subsequent_mask(length, device=lib.device)
        loss = lib.autocast(lambda: F.cross_entropy(net(source, target[:, :-1], mask).flatten(0, 1), target[:, 1:].flatten()))
        return lib.trainer(net.parameters(), loss, lib.torch.optim.Adam(net.parameters(), lr=1e-4, betas=(0.9, 0.98)))
    yield Row(f"model/transformer_base_b{pairs}_t{length}+{length}{mixed}", transformer, 2 * pairs * length, "tokens/s")

    texts, context = (32, 1024) if lib.large else (1, 64)

    def gpt2():
        sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples" / "python"))
        net, tokens = importlib.import_module("gpt2").GPT2().to(lib.device), lib.randint(50257, texts, context + 1)
        return lib.trainer(None, lib.autocast(lambda: net.loss(tokens)), net.optimizer(lr=6e-4))
    yield Row(f"model/gpt2_124M_b{texts}_t{context}{mixed}", gpt2, texts * context, "tokens/s")


def published(lib):
    return lib.torch.models if lib.is_ours else importlib.import_module("torchvision.models")


def training(lib):
    """Published networks with channels last; on the CPU the smallest of them."""
    torch = lib.torch

    def step(name, batch):
        torch.backends.cudnn.benchmark = True
        net = getattr(published(lib), name)().to(lib.device).to(memory_format=torch.channels_last)
        x = lib.randn(batch, 3, 224, 224).to(memory_format=torch.channels_last)
        y = lib.randint(1000, batch)
        loss = lib.autocast(lambda: torch.nn.functional.cross_entropy(net(x), y))
        return lib.trainer(None, loss, torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9))
    cases = [("resnet50", 256), ("resnet18", 256), ("mobilenet_v3_large", 256)] if lib.large else [("resnet18", 8)]
    for name, batch in cases:
        yield Row(f"train/{name}_b{batch}{'_bf16' if lib.large else ''}", lambda case=(name, batch): step(*case), batch, "img/s")


def inference(lib):
    """Published networks as each library runs them best: batch norms folded, channels last; nothing is compiled."""
    torch = lib.torch

    def network(name, dtype, batch):
        torch.backends.cudnn.allow_tf32 = dtype == "tf32"  # PyTorch's default, in both then; else in neither
        dtype = torch.float32 if dtype == "tf32" else getattr(torch, dtype)
        models = published(lib)
        model = getattr(models, name)().eval()
        if lib.is_ours:
            models.fuse(model)
        else:
            model = importlib.import_module("torch.fx.experimental.optimization").fuse(model)
        model = model.to(lib.device, dtype).to(memory_format=torch.channels_last)
        x = lib.randn(batch, 3, 224, 224, dtype=dtype).to(memory_format=torch.channels_last)

        def step():
            with torch.inference_mode():
                return model(x)
        return step
    large = 256 if lib.large else 16
    cases = [("resnet18", "float32", 1), ("resnet18", "float32", large), ("mobilenet_v3_large", "float32", 1)]
    if lib.large:
        cases += [("resnet18", "tf32", 1), ("resnet18", "tf32", large), ("mobilenet_v3_large", "tf32", 1),
                  ("resnet18", "float16", 1), ("resnet18", "float16", large), ("mobilenet_v3_large", "float16", large)]
    else:
        cases += [("mobilenet_v3_large", "float32", large)]
    for name, dtype, batch in cases:
        yield Row(f"infer/{name}_b{batch}_{dtype}", lambda case=(name, dtype, batch): network(*case), batch, "img/s")


def attention(lib):
    attend = lib.torch.nn.functional.scaled_dot_product_attention

    def float32():
        q, k, v = (lib.randn(4, 8, 512, 64) for _ in range(3))
        return lambda: attend(q, k, v, is_causal=True)
    yield Row("attention/b4_h8_t512_d64", float32)

    def dropout():
        q, k, v, g = (lib.randn(1, 1, 8192, 64) for _ in range(4))
        for t in (q, k, v):
            t.requires_grad_()
        return lambda: lib.torch.autograd.grad(attend(q, k, v, dropout_p=0.1), (q, k, v), g)
    yield Row("attention/b1_h1_t8192_d64_dropout_and_backward", dropout)

    batch, heads, length, width = (4, 16, 4096, 128) if lib.large else (1, 2, 1024, 128)
    forward = 2 * batch * heads * length * length * width  # half of two products

    def bfloat16(backward):
        q, k, v, g = (lib.randn(batch, heads, length, width, dtype=lib.torch.bfloat16) for _ in range(4))
        if not backward:
            return lambda: attend(q, k, v, is_causal=True)
        for t in (q, k, v):
            t.requires_grad_()
        return lambda: lib.torch.autograd.grad(attend(q, k, v, is_causal=True), (q, k, v), g)
    name = f"attention/b{batch}_h{heads}_t{length}_d{width}_bf16"
    yield Row(name, lambda: bfloat16(False), forward, "FLOP/s")
    yield Row(name + "_and_backward", lambda: bfloat16(True), 3.5 * forward, "FLOP/s")


def measure(lib, row):
    cuda, found = lib.torch.cuda, {"row": row.name, "work": row.work, "unit": row.unit}
    lib.torch.manual_seed(0)
    lib.form = row.form
    step = row.build()
    loss_of = getattr(step, "loss_of", None)
    losses = [loss_of().item()] if loss_of else []
    if lib.device == "cuda" and row.work:
        cuda.reset_peak_memory_stats()
    step()
    step()
    if loss_of:
        found["losses"] = losses + [loss_of().item()]
    found["samples"] = means(step, lib.synchronize, *((0.4, 5) if lib.large else (0.2, 4)))
    if lib.device == "cuda" and row.work:
        found["peak"] = cuda.max_memory_allocated()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", choices=["torch", "argand"])
    parser.add_argument("device", choices=["cpu", "cuda"])
    parser.add_argument("--threads", type=int)
    parser.add_argument("--rows", default="")
    parser.add_argument("--after", default="")
    args = parser.parse_args()
    lib = Library(args.library, args.device)
    if args.threads:
        lib.torch.set_num_threads(args.threads)
    rows = [row for part in (calls, small_nets, other_forms, models, training, inference, attention) for row in part(lib) if re.search(args.rows, row.name)]
    names = [row.name for row in rows]
    for row in rows[names.index(args.after) + 1 if args.after else 0:]:
        print(json.dumps({"begun": row.name}), flush=True)
        signal.alarm(ROW_SECONDS)
        try:
            found = measure(lib, row)
        except Exception as error:
            traceback.print_exc()
            found = {"row": row.name, "error": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"}
        print(json.dumps(found), flush=True)
        gc.collect()
        if lib.device == "cuda":
            lib.synchronize()  # after some errors nothing works on this device: the process ends, and another goes on
            lib.torch.cuda.empty_cache()
    signal.alarm(0)


if __name__ == "__main__":
    main()
