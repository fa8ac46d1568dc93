"""What would go on between processes, as torch.distributed.algorithms: names."""
