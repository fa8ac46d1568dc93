"""torch.cuda.FloatTensor, torch.cuda.FloatStorage and the like, from before there were dtypes."""
from .._dtypes import TENSOR_CLASSES
from .._typed_tensors import typed_tensor
from .._typed_storage import on_gpus

globals().update({_name: typed_tensor(_name, _dtype, "cuda") for _name, _dtype in TENSOR_CLASSES.items()})
globals().update(on_gpus())
