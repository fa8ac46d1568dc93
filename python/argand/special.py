"""Special functions, as torch.special: the library's functions whose names begin with special_."""
from . import _C

globals().update({name.removeprefix("special_"): function for name, function in vars(_C).items() if name.startswith("special_")})
