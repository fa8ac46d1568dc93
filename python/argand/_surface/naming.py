"""The names of our modules, with and without the package's name."""
PACKAGE = __name__.partition(".")[0]


def short(module):
    """The name of one of our modules within the package; "" is the package itself."""
    return module.partition(".")[2]


def full(short_name):
    """The other way around."""
    return f"{PACKAGE}.{short_name}" if short_name else PACKAGE
