"""What the package knows of each dtype that tensors have: its names in PyTorch, and how NumPy describes it.

_dtype_limits.py has the limits of dtypes, also of those that tensors cannot have.
"""
from . import _C


class Facts:
    """One dtype: the beginning of FloatTensor and FloatStorage, the name of the method that converts to it, and that of storages, and
    the type in NumPy's array interface, None if it has none."""

    def __init__(self, kind, method, typestr, of_storages=None):
        self.kind, self.method, self.typestr, self.of_storages = kind, method, typestr, of_storages or method


FACTS = {
    _C.float64: Facts("Double", "double", "<f8"), _C.float32: Facts("Float", "float", "<f4"), _C.float16: Facts("Half", "half", "<f2"),
    _C.bfloat16: Facts("BFloat16", "bfloat16", None),
    _C.int64: Facts("Long", "long", "<i8"), _C.int32: Facts("Int", "int", "<i4"), _C.int16: Facts("Short", "short", "<i2"),
    _C.int8: Facts("Char", "char", "|i1"), _C.uint8: Facts("Byte", "byte", "|u1"), _C.bool: Facts("Bool", "bool", "|b1"),
    _C.complex128: Facts("ComplexDouble", "cdouble", "<c16", "complex_double"),
    _C.complex64: Facts("ComplexFloat", "cfloat", "<c8", "complex_float"),
}
TYPESTRS = {dtype: facts.typestr for dtype, facts in FACTS.items() if facts.typestr is not None}
TENSOR_TYPES = {dtype: f"{facts.kind}Tensor" for dtype, facts in FACTS.items()}      # what x.type() says
STORAGE_TYPES = {dtype: f"{facts.kind}Storage" for dtype, facts in FACTS.items()}
# The classes of tensors that PyTorch has: none of complex numbers.
TENSOR_CLASSES = {name: dtype for dtype, name in TENSOR_TYPES.items() if not dtype.is_complex}
