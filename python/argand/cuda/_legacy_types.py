"""torch.cuda.FloatTensor, torch.cuda.FloatStorage and the like, from before there were dtypes."""
from .. import _C
from .._tensor import typed_tensor
from .._typed_storage import on_gpus

for _name, _dtype in {"Float": "float32", "Double": "float64", "Half": "float16", "BFloat16": "bfloat16", "Byte": "uint8",
                      "Char": "int8", "Short": "int16", "Int": "int32", "Long": "int64", "Bool": "bool"}.items():
    globals()[_name + "Tensor"] = typed_tensor(_name + "Tensor", getattr(_C, _dtype), "cuda")
del _name, _dtype

globals().update(on_gpus())
