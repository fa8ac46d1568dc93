"""As torch.utils.deterministic."""

fill_uninitialized_memory = False  # accepted: what empty() gives stays as it is
