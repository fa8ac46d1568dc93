"""ResNet (He et al. 2015); the two-convolution blocks of 18 and 34 layers and the bottlenecks of 50."""
from .. import _C, nn
from ..nn import functional as F
from ._weights import build


def _conv(inputs, outputs, kernel, stride=1):
    return nn.Conv2d(inputs, outputs, kernel, stride, (kernel - 1) // 2, bias=False)


class Block(nn.Module):
    """Two 3 x 3 convolutions, or one between two of 1 x 1, with a shortcut connection."""

    def __init__(self, inputs, width, stride, bottleneck):
        super().__init__()
        outputs = 4 * width if bottleneck else width
        if bottleneck:
            convolutions = [(inputs, width, 1), (width, width, 3, stride), (width, outputs, 1)]
        else:
            convolutions = [(inputs, width, 3, stride), (width, width, 3)]
        for i, sizes in enumerate(convolutions, 1):
            setattr(self, f"conv{i}", _conv(*sizes))
            setattr(self, f"bn{i}", nn.BatchNorm2d(sizes[1]))
        self.count, self.downsample = len(convolutions), None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(_conv(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = x
        for i in range(1, self.count + 1):
            y = getattr(self, f"bn{i}")(getattr(self, f"conv{i}")(y))
            if i < self.count:
                y = F.relu(y, inplace=True)
        y += x if self.downsample is None else self.downsample(x)
        return F.relu(y, inplace=True)


class ResNet(nn.Module):
    """Images [N, 3, H, W] -> scores [N, num_classes]; `stages` says how many blocks each of the four has."""

    def __init__(self, stages, bottleneck, num_classes=1000):
        super().__init__()
        self.conv1, self.bn1 = _conv(3, 64, 7, 2), nn.BatchNorm2d(64)
        inputs = 64
        for i, count in enumerate(stages):
            blocks, width = [], 64 << i
            for j in range(count):
                blocks.append(Block(inputs, width, 2 if i > 0 and j == 0 else 1, bottleneck))
                inputs = 4 * width if bottleneck else width
            setattr(self, f"layer{i + 1}", nn.Sequential(*blocks))
        self.fc = nn.Linear(inputs, num_classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x)), inplace=True), 3, 2, 1)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))


def _resnet(name, weights, num_classes):
    table = _C._architecture(name)
    return build(name, lambda classes: ResNet(table["stages"], table["bottleneck"], classes), "fc.weight", weights, num_classes)


def resnet18(*, weights=None, num_classes=None):
    """18 layers; weights: a file, or a published name such as "IMAGENET1K_V1" or "DEFAULT"."""
    return _resnet("resnet18", weights, num_classes)


def resnet34(*, weights=None, num_classes=None):
    """34 layers; weights: a file, or a published name such as "IMAGENET1K_V1" or "DEFAULT"."""
    return _resnet("resnet34", weights, num_classes)


def resnet50(*, weights=None, num_classes=None):
    """50 layers; weights: a file, or a published name such as "IMAGENET1K_V1", "IMAGENET1K_V2" or "DEFAULT"."""
    return _resnet("resnet50", weights, num_classes)
