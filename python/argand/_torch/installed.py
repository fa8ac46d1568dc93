"""Importing this makes `import torch` mean Argand: for interpreters that a program run by `python -m argand` starts."""
from .install import install

install()
