"""Names of the inside of torch.func that packages take."""
