"""python -m argand SCRIPT [ARGUMENT...]  or  python -m argand -m MODULE [ARGUMENT...]

Runs a program written for PyTorch: in this process `import torch`, `torch.nn.functional`, ... mean Argand.
"""
import runpy
import sys

from ._torch.install import install


def main():
    arguments = sys.argv[1:]
    as_module = arguments[:1] == ["-m"]
    if as_module:
        arguments = arguments[1:]
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__.strip())
        return 0 if arguments else 2
    install()
    sys.argv = arguments
    if as_module:
        sys.path.insert(0, "")
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
    else:
        import os
        sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
        runpy.run_path(arguments[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
