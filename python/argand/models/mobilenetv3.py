"""MobileNetV3 (Howard et al. 2019)."""
from .. import _C, nn
from ..nn import functional as F
from ._weights import build


def _conv(inputs, outputs, kernel, activation=None, stride=1, groups=1):
    layers = [nn.Conv2d(inputs, outputs, kernel, stride, (kernel - 1) // 2, groups=groups, bias=False),
              nn.BatchNorm2d(outputs, eps=0.001, momentum=0.01)]
    return nn.Sequential(*layers, *([activation(inplace=True)] if activation else []))


class Squeeze(nn.Module):
    """Squeeze-and-excitation: scales channels by the output of a small network on their means."""

    def __init__(self, channels):
        super().__init__()
        quarter = channels // 4
        nearest = max(8, (quarter + 4) // 8 * 8)  # a multiple of 8 that is not less than 0.9 of it
        narrow = nearest + 8 if nearest < 0.9 * quarter else nearest
        self.fc1, self.fc2 = nn.Conv2d(channels, narrow, 1), nn.Conv2d(narrow, channels, 1)

    def forward(self, x):
        return F.hardsigmoid(self.fc2(F.relu(self.fc1(F.adaptive_avg_pool2d(x, 1)), inplace=True))) * x


class InvertedResidual(nn.Module):
    """Expansion, depthwise convolution, projection, with a shortcut connection where the shape stays."""

    def __init__(self, inputs, kernel, expanded, outputs, squeeze, hardswish, stride):
        super().__init__()
        activation = nn.Hardswish if hardswish else nn.ReLU
        layers = [_conv(inputs, expanded, 1, activation)] if expanded != inputs else []
        layers.append(_conv(expanded, expanded, kernel, activation, stride, expanded))
        if squeeze:
            layers.append(Squeeze(expanded))
        self.block = nn.Sequential(*layers, _conv(expanded, outputs, 1))
        self.around = stride == 1 and inputs == outputs

    def forward(self, x):
        y = self.block(x)
        if self.around:
            y += x
        return y


class MobileNetV3(nn.Module):
    """Images [N, 3, H, W] -> scores [N, num_classes]; `blocks` are the arguments of the residual blocks after the channels."""

    def __init__(self, blocks, hidden, num_classes=1000):
        super().__init__()
        layers, inputs = [_conv(3, 16, 3, nn.Hardswish, stride=2)], 16
        for block in blocks:
            layers.append(InvertedResidual(inputs, *block))
            inputs = block[2]
        self.features = nn.Sequential(*layers, _conv(inputs, 6 * inputs, 1, nn.Hardswish))
        self.classifier = nn.Sequential(nn.Linear(6 * inputs, hidden), nn.Hardswish(inplace=True),
                                        nn.Dropout(0.2, inplace=True), nn.Linear(hidden, num_classes))
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out")
            elif isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, 0, 0.01)
            if isinstance(module, (nn.Conv2d, nn.Linear)) and module.bias is not None:
                nn.init.zeros_(module.bias)

    def forward(self, x):
        return self.classifier(F.adaptive_avg_pool2d(self.features(x), 1).flatten(1))


def _mobilenet(name, weights, num_classes):
    table = _C._architecture(name)
    return build(name, lambda classes: MobileNetV3(table["blocks"], table["hidden"], classes), "classifier.3.weight", weights,
                 num_classes)


def mobilenet_v3_small(*, weights=None, num_classes=None):
    """The small one; weights: a file, or a published name such as "IMAGENET1K_V1" or "DEFAULT"."""
    return _mobilenet("mobilenet_v3_small", weights, num_classes)


def mobilenet_v3_large(*, weights=None, num_classes=None):
    """The large one; weights: a file, or a published name such as "IMAGENET1K_V1", "IMAGENET1K_V2" or "DEFAULT"."""
    return _mobilenet("mobilenet_v3_large", weights, num_classes)
