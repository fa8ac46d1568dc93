"""The order of einsum's products, as torch.backends.opt_einsum: from left to right."""
enabled = False
strategy = None


def is_available():
    """False: the package opt_einsum is not used."""
    return False
