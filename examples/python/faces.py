"""Faces in a photo: the three trained networks of MTCNN (Zhang et al. 2016; PyPI facenet-pytorch, files of PyTorch's legacy format)
on the astronaut of Debian's python3-skimage, or on the photos that are named.

The first network looks at the photo in many sizes, a window of 12 pixels at a time, the next two at what it found.
"""
import sys

import torch
import torch.nn.functional as F
from packaged import missing, package, system_file
from torch import nn


class Stage(nn.Module):
    """Convolutions and pools, then either heads of 1 x 1 convolutions, or a linear layer and linear heads."""

    def __init__(self, layers, dense, heads):
        super().__init__()
        self.steps, inputs = [], 3
        for i, (outputs, kernel, pool) in enumerate(layers, 1):
            self.add_module(f"conv{i}", nn.Conv2d(inputs, outputs, kernel))
            self.add_module(f"prelu{i}", nn.PReLU(outputs))
            self.steps.append((f"conv{i}", f"prelu{i}", pool))
            inputs = outputs
        self.dense, self.heads, n = dense, [f"{'dense' if dense else 'conv'}{name}" for name in heads], len(layers) + 1
        if dense:
            self.dense_layer, self.dense_prelu = f"dense{n}", f"prelu{n}"
            self.add_module(self.dense_layer, nn.Linear(*dense))
            self.add_module(self.dense_prelu, nn.PReLU(dense[1]))
        for name, outputs in zip(self.heads, heads.values()):
            self.add_module(name, nn.Linear(dense[1], outputs) if dense else nn.Conv2d(inputs, outputs, 1))

    def forward(self, x):
        """Probability of a face, and what the other heads say."""
        for conv, prelu, pool in self.steps:
            x = getattr(self, prelu)(getattr(self, conv)(x))
            if pool:
                x = F.max_pool2d(x, pool, 2, ceil_mode=True)
        if self.dense:
            x = getattr(self, self.dense_prelu)(getattr(self, self.dense_layer)(x.permute(0, 3, 2, 1).flatten(1)))
        first, *others = (getattr(self, head)(x) for head in self.heads)
        return first.softmax(1)[:, 1], *others


STAGES = {"pnet": ([(10, 3, 2), (16, 3, 0), (32, 3, 0)], None, {"4_1": 2, "4_2": 4}),
          "rnet": ([(28, 3, 3), (48, 3, 3), (64, 2, 0)], (576, 128), {"5_1": 2, "5_2": 4}),
          "onet": ([(32, 3, 3), (64, 3, 3), (64, 3, 2), (128, 2, 0)], (1152, 256), {"6_1": 2, "6_2": 4, "6_3": 10})}


def best(boxes, scores, most, add=0, smaller=False):
    """Indices of boxes, the surest first, that overlap no surer one by more than `most` of their union (or of the smaller)."""
    sides = (boxes[:, 2:4] - boxes[:, :2] + add).clamp(min=0)
    areas, order, kept = sides.prod(1), scores.argsort(descending=True, stable=True), []
    while len(order):
        i, order = order[0], order[1:]
        kept.append(i.item())
        low, high = torch.maximum(boxes[i, :2], boxes[order, :2]), torch.minimum(boxes[i, 2:4], boxes[order, 2:4])
        both = (high - low + add).clamp(min=0).prod(1)
        whole = torch.minimum(areas[i], areas[order]) if smaller else areas[i] + areas[order] - both
        order = order[both / whole <= most]
    return torch.tensor(kept, dtype=torch.long)


def squares(boxes):
    sides = boxes[:, 2:4] - boxes[:, :2]
    side = sides.max(1, keepdim=True).values
    low = boxes[:, :2] + sides * 0.5 - side * 0.5
    return torch.cat([low, low + side], 1)


def moved(boxes, by, add):
    """Each edge by its share of the box's sides."""
    sides = (boxes[:, 2:4] - boxes[:, :2] + add).repeat(1, 2)
    return boxes[:, :4] + by * sides


def cut(photo, boxes, size):
    """What is in the boxes, scaled to size x size; edges count from 1 and both belong to the box."""
    height, width = photo.shape[2:]
    out = []
    for left, top, right, bottom in boxes.trunc().long().tolist():
        part = photo[:, :, max(top, 1) - 1:min(bottom, height), max(left, 1) - 1:min(right, width)]
        out.append(F.interpolate(part, (size, size), mode="area"))
    return normal(torch.cat(out))


def normal(pixels):
    return (pixels - 127.5) / 128


def candidates(pnet, photo, smallest):
    height, width = photo.shape[2:]
    scale, boxes, scores = 12 / smallest, [], []
    while min(height, width) * scale >= 12:
        small = F.interpolate(photo, (int(height * scale + 1), int(width * scale + 1)), mode="area")
        p, by = pnet(normal(small))
        at = (p[0] >= 0.6).nonzero()
        corner = at.flip(1).float() * 2
        found = torch.cat([((corner + 1) / scale).floor(), ((corner + 12) / scale).floor(), by[0].permute(1, 2, 0)[at[:, 0], at[:, 1]]], 1)
        score = p[0][at[:, 0], at[:, 1]]
        keep = best(found, score, 0.5)
        boxes.append(found[keep])
        scores.append(score[keep])
        scale *= 0.709
    every, its_scores = torch.cat(boxes), torch.cat(scores)
    keep = best(every, its_scores, 0.7)
    return squares(moved(every[keep], every[keep, 4:], 0))


def detect(nets, photo, smallest=20):
    """A photo of bytes [H, W, 3] -> boxes [N, 4], probabilities [N], and eyes, nose, corners of the mouth [N, 5, 2]."""
    photo = photo.permute(2, 0, 1).unsqueeze(0).float()
    nothing = torch.zeros(0, 4), torch.zeros(0), torch.zeros(0, 5, 2)
    boxes = candidates(nets["pnet"], photo, smallest)
    if not len(boxes):
        return nothing
    p, by = nets["rnet"](cut(photo, boxes, 24))
    boxes, by, p = boxes[p > 0.7], by[p > 0.7], p[p > 0.7]
    keep = best(boxes, p, 0.7)
    boxes = squares(moved(boxes[keep], by[keep], 1))
    if not len(boxes):
        return nothing
    p, by, points = nets["onet"](cut(photo, boxes, 48))
    boxes, by, points, p = boxes[p > 0.7], by[p > 0.7], points[p > 0.7], p[p > 0.7]
    sides = boxes[:, 2:4] - boxes[:, :2] + 1
    points = points.view(-1, 2, 5).transpose(1, 2) * sides[:, None] + boxes[:, None, :2] - 1
    boxes = moved(boxes, by, 1)
    keep = best(boxes, p, 0.7, add=1, smaller=True)
    return boxes[keep], p[keep], points[keep]


def main():
    try:
        import numpy
        from PIL import Image
    except ImportError:
        missing("Pillow and NumPy")
    folder = package("facenet_pytorch", "facenet-pytorch") / "data"
    photos = sys.argv[1:] or [system_file("usr/lib/python3/dist-packages/skimage/data/astronaut.png", "python3-skimage")]
    nets = {name: Stage(*parts).eval() for name, parts in STAGES.items()}
    for name, net in nets.items():
        net.load_state_dict(torch.load(folder / f"{name}.pt"))
    for path in photos:
        pixels = numpy.array(Image.open(path).convert("RGB"))
        with torch.no_grad():
            boxes, scores, points = detect(nets, torch.from_numpy(pixels))
        for box, score, five in zip(boxes, scores, points):
            print("face at", " ".join(f"{v:.2f}" for v in box.tolist()), f"probability {score.item():.5f}")
            print("  eyes, nose, mouth:", ", ".join(f"{x:.1f} {y:.1f}" for x, y in five.tolist()))
        print(f"{len(boxes)} found")


if __name__ == "__main__":
    main()
