"""Linear and bilinear maps."""
from ... import _C
from ..._tensor_arguments import need_tensors

linear = _C.linear


def bilinear(input1, input2, weight, bias=None) -> "_C.Tensor":
    """x1 W x2 + b for [*, I], [*, J], weight [O, I, J] and bias [O]: [*, O]."""
    need_tensors("bilinear", input1=input1, input2=input2, weight=weight, **({} if bias is None else {"bias": bias}))
    device = input1.device.type
    from ...amp.autocast_mode import autocast, is_autocast_enabled
    if not is_autocast_enabled(device):
        return _bilinear(input1, input2, weight, bias)
    # One op of PyTorch's: computed in the dtypes that it is given, which are made one on a GPU.
    given = [input1, input2, weight] + ([] if bias is None else [bias])
    with autocast(device, enabled=False):
        if device == "cuda":
            given = [t.to(_widest(given)) if t.is_floating_point() else t for t in given]
        return _bilinear(*given, *([None] if bias is None else []))


def _widest(tensors):
    dtype = tensors[0].dtype
    for t in tensors[1:]:
        dtype = _C.promote_types(dtype, t.dtype)
    return dtype


def _bilinear(input1, input2, weight, bias):
    outputs, size1, size2 = weight.shape
    if input1.shape[:-1] != input2.shape[:-1]:
        raise RuntimeError(f"bilinear(): input batch dimensions do not match: got {list(input1.shape)} and "
                           f"{list(input2.shape)}")
    if input1.shape[-1] != size1 or input2.shape[-1] != size2:
        which, given, wanted = (1, input1.shape[-1], size1)
        if given == wanted:
            which, given, wanted = (2, input2.shape[-1], size2)
        raise RuntimeError(f"bilinear(): input{which} size does not match weight size: got {given} but expected "
                           f"{wanted}")
    left = input1.reshape(-1, size1) @ weight.permute(1, 0, 2).reshape(size1, outputs * size2)
    product = left.reshape(-1, outputs, size2) * input2.reshape(-1, 1, size2)
    result = product.sum(-1, dtype=product.dtype).reshape(*input1.shape[:-1], outputs)
    return result if bias is None else result + bias
