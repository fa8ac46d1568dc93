"""XNNPACK, a library of kernels for mobile devices: it is not used."""


def __getattr__(name):
    if name == "enabled":  # False, and no switch
        return False
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
