"""torch.distributed.launch: torchrun that also gives each worker --local-rank, unless --use-env."""
import sys
import warnings

from .run import get_args_parser, run
from .run import main as _main

__all__ = ["launch", "main", "parse_args"]


def parse_args(args):
    """The arguments of a command line."""
    parser = get_args_parser()
    parser.add_argument("--use-env", "--use_env", action="store_true", default=False,
                        help="workers get LOCAL_RANK in their environment only")
    return parser.parse_args(args)


def launch(args):
    """Starts what parse_args() returned."""
    if args.no_python and not args.use_env:
        raise ValueError("When using the '--no-python' flag, you must also set the '--use-env' flag.")
    run(args)


def main(args=None):
    """The program."""
    warnings.warn("torch.distributed.launch is deprecated: use torchrun, and read LOCAL_RANK from the environment", FutureWarning,
                  stacklevel=2)
    return _main(args, lambda given: launch(parse_args(given)))


if __name__ == "__main__":
    sys.exit(main())
