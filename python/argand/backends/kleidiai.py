"""KleidiAI, as torch.backends.kleidiai: it is not used."""


def is_available():
    """False."""
    return False
