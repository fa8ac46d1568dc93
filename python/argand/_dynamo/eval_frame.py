"""The type of compiled modules."""
from ..nn.modules.module import Module


class OptimizedModule(Module):
    """What PyTorch's compile() makes of a module: here compile() gives the module back, so none is one."""

    def __init__(self, mod, dynamo_ctx=None):
        raise NotImplementedError("torch._dynamo.OptimizedModule: there is no compiler; torch.compile() gives modules back as they are")
