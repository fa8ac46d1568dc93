"""Sparse tensors on GPUs: there are none."""
