"""The command argandrun."""
from ..distributed.run import main
from .install import install


def argandrun():
    """Starts workers in which `import torch` means Argand."""
    install()
    return main()
