"""The type of compiled modules."""
from .._refused import refused_class
from ..nn.modules.module import Module

# compile() gives a module back: none is one.
OptimizedModule = refused_class("torch._dynamo.eval_frame.OptimizedModule",
                                "there is no compiler; torch.compile() gives modules back as they are", Module)


def is_dynamo_supported():
    """False: there is no compiler."""
    return False
