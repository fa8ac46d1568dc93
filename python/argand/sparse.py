"""Sparse tensors, as torch.sparse: names, for annotations and isinstance().  There are none."""
from ._named_modules import names_of as _names_of
from ._refused import refused, refused_class

__path__ = []  # PyTorch has modules below it: see _named_modules.py

__all__ = ["addmm", "as_sparse_gradcheck", "check_sparse_tensor_invariants", "log_softmax", "mm", "sampled_addmm", "softmax", "solve",
           "spdiags", "spsolve", "sum", "to_sparse_semi_structured", "SparseSemiStructuredTensor", "SparseSemiStructuredTensorCUSPARSELT",
           "SparseSemiStructuredTensorCUTLASS", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor", "IntTensor", "LongTensor",
           "ShortTensor"]

globals().update({name: (refused if name[0].islower() else refused_class)("torch.sparse." + name, "there are no sparse tensors")
                  for name in __all__})


__getattr__ = _names_of(__name__)
