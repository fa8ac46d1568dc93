"""Engines of quantized tensors, as torch.backends.quantized: there are none."""
engine = "none"
supported_engines = ["none"]
