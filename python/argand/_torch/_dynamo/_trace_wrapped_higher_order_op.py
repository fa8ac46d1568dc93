"""What PyTorch does to index tensors while it traces."""
import contextlib


class TransformGetItemToIndex(contextlib.nullcontext):
    """A scope in which x[i] with a tensor i of one element can be mapped by vmap(): it always can."""
