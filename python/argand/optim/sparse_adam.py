"""SparseAdam: only its name."""
from .._refused import refused_class
from .optimizer import Optimizer

SparseAdam = refused_class("torch.optim.sparse_adam.SparseAdam",
                           "gradients are dense, those of Embedding(sparse=True) too; use Adam", Optimizer)
