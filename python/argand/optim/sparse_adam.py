"""SparseAdam: its name."""


class SparseAdam:
    """Adam for gradients of few rows.  There are no sparse gradients: making one raises NotImplementedError."""

    def __init__(self, *_, **__):
        raise NotImplementedError("torch.optim.SparseAdam: gradients are dense, those of Embedding(sparse=True) too; use Adam")
