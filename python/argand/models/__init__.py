"""Published networks for images: ResNet and MobileNetV3, with torchvision's names of parameters and initial weights.

    net = argand.models.resnet18(weights="resnet18-f37072fd.pth").eval()
    net = argand.models.resnet18(weights="IMAGENET1K_V1").eval()       # from the cache, else the net
    argand.models.fuse(net)

`import torchvision.models` stays torchvision's own.
"""
from ._fuse import fuse
from ._weights import load_weights
from .mobilenetv3 import MobileNetV3, mobilenet_v3_large, mobilenet_v3_small
from .resnet import ResNet, resnet18, resnet34, resnet50

__all__ = ["ResNet", "resnet18", "resnet34", "resnet50", "MobileNetV3", "mobilenet_v3_large", "mobilenet_v3_small", "fuse",
           "load_weights"]
