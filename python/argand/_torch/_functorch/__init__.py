"""Internal names of torch.func that packages import."""
