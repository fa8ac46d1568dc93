"""cuSPARSELt, as torch.backends.cusparselt: it is not used."""


def is_available():
    """False."""
    return False
