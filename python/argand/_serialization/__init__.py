"""Files of torch.save that are more than data, and settings of torch.serialization."""
