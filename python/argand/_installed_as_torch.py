"""Importing this makes `import torch` mean Argand: for interpreters that a program run by `python -m argand` starts."""
from ._as_torch import install

install()
