"""Modules that PyTorch calls experimental, as torch.fx.experimental."""
