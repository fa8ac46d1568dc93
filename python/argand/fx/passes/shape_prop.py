"""ShapeProp: runs a graph and notes the shapes of its nodes' results."""
import typing

import argand

from ..interpreter import Interpreter
from ..node import map_aggregate

__all__ = ["TensorMetadata", "ShapeProp"]


class TensorMetadata(typing.NamedTuple):
    """The properties of a tensor without its values."""
    shape: argand.Size
    dtype: argand.dtype
    requires_grad: bool
    stride: tuple
    memory_format: object
    is_quantized: bool
    qparams: dict


def _extract_tensor_metadata(result, include_contiguity=True):
    memory_format = None
    if include_contiguity:
        for candidate in (argand.contiguous_format, argand.channels_last, argand.channels_last_3d):
            if result.is_contiguous(memory_format=candidate):
                memory_format = candidate
                break
    return TensorMetadata(result.shape, result.dtype, result.requires_grad, result.stride(), memory_format, False, {})


class ShapeProp(Interpreter):
    """propagate(*args) runs the graph and sets node.meta["tensor_meta"] and node.meta["type"] of every node."""

    def __init__(self, gm, fake_mode=None):
        super().__init__(gm)
        if fake_mode is not None:
            raise NotImplementedError("ShapeProp(fake_mode=...): Argand has no fake tensors; propagate() computes")

    def run_node(self, n):
        """The node's value, whose shape it notes."""
        result = super().run_node(n)
        found = []

        def metadata(value):
            if not isinstance(value, argand.Tensor):
                return value
            found.append(value)
            return _extract_tensor_metadata(value)
        meta = map_aggregate(result, metadata)
        if found:
            n.meta["tensor_meta"] = meta
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args):
        """run()"""
        return super().run(*args)
