"""Schedules of learning rates, as torch.optim.lr_scheduler."""
from .base import EPOCH_DEPRECATION_WARNING, LRScheduler, _LRScheduler  # noqa: F401
from .combined import ChainedScheduler, ReduceLROnPlateau, SequentialLR  # noqa: F401
from .cycles import CyclicLR, OneCycleLR  # noqa: F401
from .schedules import (ConstantLR, CosineAnnealingLR, CosineAnnealingWarmRestarts, ExponentialLR,  # noqa: F401
                        LambdaLR, LinearLR, MultiplicativeLR, MultiStepLR, PolynomialLR, StepLR)
