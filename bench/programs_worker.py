"""The programs of bench/programs.py in one library: `python -m argand programs_worker.py REGEX`, or with PyTorch's Python.

Prints a line of JSON for each row: the seconds of the steps, and the most memory of the GPU in bytes.
"""
import json
import re
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

CUDA, SECONDS = "cuda", 2.0
ROWS = {}


def row(make):
    """make() gives a function that makes one step, and may take its number."""
    ROWS[make.__name__] = make
    return make


def random_sizes(count, least, most, seed=1):
    return torch.randint(least, most + 1, (count,), generator=torch.Generator().manual_seed(seed)).tolist()


def trains(net, loss_of, inputs, make_optimizer=torch.optim.SGD, **options):
    optimizer = make_optimizer(net.parameters(), **options)

    def step(i):
        optimizer.zero_grad()
        loss_of(net, inputs(i)).backward()
        optimizer.step()
        return net.parameters()
    return step


def infers(net, x):
    net.to(CUDA).eval()

    def step(i):
        with torch.no_grad():
            return net(x)
    return step


# ---- float32 with the settings that hold at first


@row
def resnet18_b32_train():
    import torchvision
    x, y = torch.randn(32, 3, 224, 224, device=CUDA), torch.randint(1000, (32,), device=CUDA)
    return trains(torchvision.models.resnet18().to(CUDA), lambda net, at: F.cross_entropy(net(at[0]), at[1]), lambda i: (x, y), lr=0.01, momentum=0.9)


@row
def resnet18_b256_infer():
    import torchvision
    return infers(torchvision.models.resnet18(), torch.randn(256, 3, 224, 224, device=CUDA))


@row
def mobilenet_v3_large_b256_infer():
    import torchvision
    return infers(torchvision.models.mobilenet_v3_large(), torch.randn(256, 3, 224, 224, device=CUDA))


@row
def dcgan_b128():
    def up(c, o, *how):
        return [nn.ConvTranspose2d(c, o, 4, *how, bias=False), nn.BatchNorm2d(o), nn.ReLU(True)]

    def down(c, o):
        return [nn.Conv2d(c, o, 4, 2, 1, bias=False), nn.BatchNorm2d(o), nn.LeakyReLU(0.2, True)]
    maker = nn.Sequential(*up(100, 512, 1, 0), *up(512, 256, 2, 1), *up(256, 128, 2, 1), *up(128, 64, 2, 1),
                          nn.ConvTranspose2d(64, 3, 4, 2, 1, bias=False), nn.Tanh()).to(CUDA)
    judge = nn.Sequential(nn.Conv2d(3, 64, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, True), *down(64, 128), *down(128, 256), *down(256, 512),
                          nn.Conv2d(512, 1, 4, 1, 0, bias=False), nn.Flatten(0)).to(CUDA)
    of_maker, of_judge = (torch.optim.Adam(net.parameters(), lr=2e-4, betas=(0.5, 0.999)) for net in (maker, judge))
    real, ones, zeros = torch.randn(128, 3, 64, 64, device=CUDA), torch.ones(128, device=CUDA), torch.zeros(128, device=CUDA)

    def step(i):
        loss = F.binary_cross_entropy_with_logits
        fake = maker(torch.randn(128, 100, 1, 1, device=CUDA))
        of_judge.zero_grad()
        (loss(judge(real), ones) + loss(judge(fake.detach()), zeros)).backward()
        of_judge.step()
        of_maker.zero_grad()
        loss(judge(fake), ones).backward()
        of_maker.step()
        return [*maker.parameters(), *judge.parameters()]
    return step


@row
def deeplab_b2_train():
    import torchvision
    net = torchvision.models.segmentation.deeplabv3_resnet50(weights_backbone=None, num_classes=21).to(CUDA)
    x, y = torch.randn(2, 3, 256, 256, device=CUDA), torch.randint(21, (2, 256, 256), device=CUDA)
    return trains(net, lambda net, at: F.cross_entropy(net(at[0])["out"], at[1]), lambda i: (x, y), lr=0.01)


@row
def unet3d_small():
    def block(c, o):
        return nn.Sequential(nn.Conv3d(c, o, 3, padding=1), nn.InstanceNorm3d(o, affine=True), nn.LeakyReLU(0.01),
                             nn.Conv3d(o, o, 3, padding=1), nn.InstanceNorm3d(o, affine=True), nn.LeakyReLU(0.01))

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.c, self.d, self.e = block(1, 16), block(16, 32), block(32, 64), block(96, 32), block(48, 16)
            self.last = nn.Conv3d(16, 3, 1)

        def forward(self, x):
            def up(t):
                return F.interpolate(t, scale_factor=2, mode="trilinear", align_corners=False)
            a = self.a(x)
            b = self.b(F.max_pool3d(a, 2))
            c = self.c(F.max_pool3d(b, 2))
            d = self.d(torch.cat([up(c), b], 1))
            return self.last(self.e(torch.cat([up(d), a], 1)))
    x, y = torch.randn(1, 1, 64, 64, 64, device=CUDA), torch.randint(3, (1, 64, 64, 64), device=CUDA)
    return trains(Net().to(CUDA), lambda net, at: F.cross_entropy(net(at[0]), at[1]), lambda i: (x, y), torch.optim.Adam, lr=1e-3)


# ---- batches of another size each step


@row
def cnn_of_all_sizes():
    net = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 32, 3, padding=1),
                        nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)).to(CUDA)
    count = 4096
    n, h, w = random_sizes(count, 1, 16), random_sizes(count, 32, 160, 2), random_sizes(count, 32, 160, 3)

    def inputs(i):
        i %= count
        return torch.randn(n[i], 3, h[i], w[i], device=CUDA), torch.randint(10, (n[i],), device=CUDA)
    return trains(net, lambda net, at: F.cross_entropy(net(at[0]), at[1]), inputs, lr=0.01)


@row
def lstm_packed_random_lengths():
    net, last = nn.LSTM(128, 256, batch_first=True).to(CUDA), nn.Linear(256, 10).to(CUDA)
    both = nn.ModuleList([net, last])
    lengths = [sorted(random_sizes(32, 5, 60, i), reverse=True) for i in range(200)]

    def loss(_, at):
        packed = nn.utils.rnn.pack_padded_sequence(at[0], at[2], batch_first=True)
        return F.cross_entropy(last(net(packed)[1][0][0]), at[1])

    def inputs(i):
        of = lengths[i % 200]
        return torch.randn(32, of[0], 128, device=CUDA), torch.randint(10, (32,), device=CUDA), torch.tensor(of)
    return trains(both, loss, inputs, torch.optim.Adam, lr=1e-3)


@row
def encoder_random_lengths():
    net = nn.TransformerEncoder(nn.TransformerEncoderLayer(128, 4, 512, batch_first=True, dropout=0.0), 2).to(CUDA)
    lengths = random_sizes(4096, 8, 200)
    return trains(net, lambda net, x: net(x).square().mean(), lambda i: torch.randn(16, lengths[i % 4096], 128, device=CUDA), lr=0.01)


# ---- single operations


@row
def scatter_reduce_amax_10m():
    at, x = torch.randint(100_000, (10_000_000,), device=CUDA), torch.randn(10_000_000, device=CUDA)
    to = torch.zeros(100_000, device=CUDA)
    return lambda i: to.scatter_reduce(0, at, x, "amax")


@row
def scatter_reduce_mean_10m():
    at, x = torch.randint(100_000, (10_000_000,), device=CUDA), torch.randn(10_000_000, device=CUDA)
    to = torch.zeros(100_000, device=CUDA)
    return lambda i: to.scatter_reduce(0, at, x, "mean")


@row
def cdist_top10():
    a, b = torch.randn(4096, 128, device=CUDA), torch.randn(20000, 128, device=CUDA)
    return lambda i: torch.cdist(a, b).topk(10, largest=False)


@row
def attention_float_mask():
    q, k, v = (torch.randn(4, 8, 2048, 64, device=CUDA, dtype=torch.bfloat16, requires_grad=True) for _ in range(3))
    mask = torch.randn(2048, 2048, device=CUDA, dtype=torch.bfloat16)

    def step(i):
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return torch.autograd.grad(out.sum(), (q, k, v))
    return step


@row
def unique_counts_2m():
    x = torch.randint(100_000, (2_000_000,), device=CUDA)
    return lambda i: torch.unique(x, return_counts=True)


@row
def cross_entropy_of_float_logits():
    x, y = torch.randn(8192, 50304, device=CUDA, dtype=torch.bfloat16, requires_grad=True), torch.randint(50304, (8192,), device=CUDA)
    return lambda i: torch.autograd.grad(F.cross_entropy(x.float(), y), x)


@row
def stft_16x160000():
    x, window = torch.randn(16, 160_000, device=CUDA), torch.hann_window(1024, device=CUDA)
    return lambda i: torch.istft(torch.stft(x, 1024, 256, window=window, return_complex=True), 1024, 256, window=window)


def samples(step):
    """Seconds of single steps: the device has ended the step before and ends this one."""
    for i in range(5):
        step(i)
    torch.cuda.synchronize()
    found, i, end = [], 5, time.perf_counter() + SECONDS
    while time.perf_counter() < end or len(found) < 5:
        begin = time.perf_counter()
        kept = step(i)
        torch.cuda.synchronize()
        found.append(time.perf_counter() - begin)
        del kept
        i += 1
    return found


for name, make in ROWS.items():
    if not re.search(sys.argv[1], name):
        continue
    torch.manual_seed(1)
    found = {"row": "programs/" + name}
    try:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        found["samples"] = samples(make())
        found["peak"] = torch.cuda.max_memory_allocated()
    except Exception as error:  # a row that fails says so, and others go on
        found["error"] = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    print(json.dumps(found), flush=True)
