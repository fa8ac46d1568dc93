#!/usr/bin/env python3
"""argand.models beside torchvision's, by the Python front: state dicts of torchvision load as they are, and the outputs agree.

    models.py [--argand PATH]

Prints for each network the difference of the outputs relative to the largest, eager and fused, and that of both libraries from
torchvision's network in float64: where PyTorch itself is farther from it than the tolerance, we may be a quarter farther than it.
With the path of the command, `argand predict` is compared with torchvision's preset of an image.  Last `N passed, N failed`.
Without torchvision nothing is done, with exit status 77.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

import any_processor  # noqa: F401  before torch

try:
    import torch
    import torchvision.models
except ImportError as error:
    other = os.environ.pop("ARGAND_TORCH_PYTHON", None)  # popped: tried once
    if other:
        os.execv(other, [other, *sys.argv])
    print(f"models: skipped, because this Python has no torchvision ({error}; ARGAND_TORCH_PYTHON may name one that has)")
    sys.exit(77)
import argand

TOLERANCE = 1e-5
NAMES = ("resnet18", "resnet34", "resnet50", "mobilenet_v3_small", "mobilenet_v3_large")


def trained(name):
    """Random weights as training leaves them: statistics, scales and biases that are not 0 and 1, outputs of size 1."""
    model = getattr(torchvision.models, name)()
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, torch.nn.BatchNorm2d):
                module.weight.uniform_(0.5, 1.5)
                module.bias.uniform_(-0.3, 0.3)
        model(torch.randn(8, 3, 96, 96))
        for module in model.modules():  # the running statistics become those of a batch
            if isinstance(module, torch.nn.BatchNorm2d):
                module.momentum = 1.0
        model(torch.randn(8, 3, 96, 96))
    return model.eval()


def relative(got, wanted):
    return ((got.double() - wanted.double()).abs().max() / wanted.abs().max()).item()


def ours_of(model, x):
    return torch.from_numpy(model(argand.from_numpy(x.numpy())).numpy())


def agrees(name, folder):
    theirs, path = trained(name), os.path.join(folder, "weights.pth")
    torch.save(theirs.state_dict(), path)
    ours = getattr(argand.models, name)(weights=path).eval()
    assert list(ours.state_dict()) == list(theirs.state_dict()), name
    x = torch.randn(4, 3, 224, 224)
    wanted = theirs(x)
    eager = ours_of(ours, x)
    fused = ours_of(argand.models.fuse(ours), x)
    exact = theirs.double()(x.double())
    apart = [relative(y, wanted) for y in (eager, fused)]
    off = [relative(y, exact) for y in (wanted, eager, fused)]
    print(f"{name}: {apart[0]:.1e}, fused {apart[1]:.1e}; from float64: PyTorch {off[0]:.1e}, Argand {off[1]:.1e}, fused {off[2]:.1e}")
    return max(apart) <= TOLERANCE or (off[0] > TOLERANCE and max(off[1:]) <= 1.25 * off[0])


def predicts(name, folder, command):
    """The command's probabilities of a picture that must be scaled, within 0.001."""
    import numpy
    from PIL import Image
    from torchvision.transforms._presets import ImageClassification
    y, x = numpy.mgrid[0:427, 0:640]
    picture = numpy.stack([127 + 120 * numpy.sin(x / 17 + y / 90), 127 + 120 * numpy.cos(y / 11), (x + y) % 256], -1)
    picture = Image.fromarray(picture.astype("uint8"))
    image, weights = os.path.join(folder, "picture.png"), os.path.join(folder, "weights.pth")
    picture.save(image)
    model = trained(name)
    torch.save(model.state_dict(), weights)
    wanted = model(ImageClassification(crop_size=224)(picture)[None]).softmax(1)[0]
    out = subprocess.run([command, "predict", "--model", name, "--weights", weights, "--top", "5", image], check=True,
                         capture_output=True, text=True).stdout
    found = re.findall(r"([0-9.]+)%  (\d+)\n", out)
    print(f"argand predict --model {name}: {found}; torchvision: "
          f"{[(round(100 * p, 2), i) for p, i in zip(*(t.tolist() for t in wanted.topk(5)))]}")
    return len(found) == 5 and all(abs(float(p) / 100 - wanted[int(i)].item()) < 0.001 for p, i in found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--argand", help="the command")
    args = parser.parse_args()
    passed = []
    for name in NAMES:
        torch.manual_seed(0)
        with tempfile.TemporaryDirectory() as folder, torch.no_grad(), argand.no_grad():
            passed.append(agrees(name, folder))
            if args.argand and name in ("resnet18", "mobilenet_v3_small"):
                passed.append(predicts(name, folder, args.argand))
    print(f"{sum(passed)} passed, {len(passed) - sum(passed)} failed")
    return not all(passed)


if __name__ == "__main__":
    sys.exit(main())
