"""The names of places in PyTorch's dispatcher, which programs give to functions."""


class DispatchKey:
    """Places in PyTorch's dispatcher, by name.  Argand has none: calls are looked up by device alone."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"DispatchKey.{self.name}"


for _name in ("CPU", "CUDA", "Meta", "Autograd", "AutogradCPU", "AutogradCUDA", "AutocastCPU", "AutocastCUDA", "AutocastXPU",
              "BackendSelect", "CompositeExplicitAutograd", "CompositeImplicitAutograd", "Dense", "Functionalize", "Python", "Undefined"):
    setattr(DispatchKey, _name, DispatchKey(_name))


class DispatchKeySet:
    """Several of them."""

    def __init__(self, *keys):
        self.keys = frozenset(keys)

    def __or__(self, other):
        return DispatchKeySet(*self.keys, *other.keys)

    def has(self, key):
        """Whether the key is one of them."""
        return key in self.keys
