"""What PyTorch calls experimental."""
