"""PyTorch's tensors without data: here those are meta tensors."""
from .fake_tensor import FakeTensor, FakeTensorMode  # noqa: F401
