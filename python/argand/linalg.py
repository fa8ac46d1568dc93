"""Linear algebra, as torch.linalg: the library's functions whose names begin with linalg_."""
from . import _C
from ._C import LinAlgError  # noqa: F401

globals().update({name.removeprefix("linalg_"): function for name, function in vars(_C).items() if name.startswith("linalg_")})
