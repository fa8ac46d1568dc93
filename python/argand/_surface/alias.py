"""What `import torch` gives in this process, if that is Argand."""

torch = None  # the module, which argand._torch.install sets
