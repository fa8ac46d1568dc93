"""PyTorch's tensors without data: here those are meta tensors."""
