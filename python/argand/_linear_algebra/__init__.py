"""Functions of matrices that are written in Python, and those that PyTorch removed."""
