"""XNNPACK, a library of products for telephones: it is not there."""


def __getattr__(name):
    if name == "enabled":  # False, and no switch
        return False
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
