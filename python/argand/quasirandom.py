"""Numbers that fill a cube evenly, as torch.quasirandom: a name."""
from ._refused import refused_class

SobolEngine = refused_class("torch.quasirandom.SobolEngine", "the table of direction numbers is not here; scipy.stats.qmc.Sobol has one")
