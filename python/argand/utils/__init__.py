"""Tools for training programs, as torch.utils."""
