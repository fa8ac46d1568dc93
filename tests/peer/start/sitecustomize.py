"""Python imports this when it starts, in the processes that PyTorch's tests start: in them, too, torch is Argand."""
import os
import sys

if "ARGAND_SUITE_SOURCES" in os.environ:
    sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    import adapter
    adapter.install(os.environ["ARGAND_SUITE_SOURCES"])
