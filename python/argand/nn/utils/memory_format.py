"""The memory format of convolutions' weights."""
from ..modules.conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d


def _convert(module, memory_format, classes):
    for m in module.modules():
        if isinstance(m, classes):
            m.weight.data = m.weight.detach().clone().contiguous(memory_format=memory_format)
    return module


def convert_conv2d_weight_memory_format(module, memory_format):
    """Lays the weights of all two-dimensional convolutions out in a memory format."""
    return _convert(module, memory_format, (Conv2d, ConvTranspose2d))


def convert_conv3d_weight_memory_format(module, memory_format):
    """Lays the weights of all three-dimensional convolutions out in a memory format."""
    return _convert(module, memory_format, (Conv3d, ConvTranspose3d))
