"""torchrun: starts the workers of a program on one or several nodes.

    argandrun --nproc-per-node 4 train.py
    python -m argand -m torch.distributed.run --nproc-per-node 4 train.py

Where `import torch` means Argand in this process, it does in the workers.  Every option may be given as an environment variable, too:
PET_NPROC_PER_NODE=4.
"""
import os
import runpy
import sys
import uuid
from argparse import ArgumentParser, REMAINDER

from argand._surface import alias  # by its whole name, as torch.distributed.run, which may be the name of this program, is in torch
from ._launch.options import add_options
from ._launch.output import say
from .elastic.multiprocessing import DefaultLogsSpecs, SignalException, Std
from .elastic.multiprocessing.errors import ChildFailedError, record
from .launcher.api import LaunchConfig, elastic_launch

__all__ = ["config_from_args", "determine_local_world_size", "get_args_parser", "main", "parse_args", "parse_min_max_nnodes", "run",
           "run_script_path"]


def get_args_parser():
    """The parser of torchrun's arguments."""
    parser = ArgumentParser(description="Starts the workers of a program on one or several nodes, as torchrun does.", allow_abbrev=True)
    add_options(parser)
    parser.add_argument("training_script", help="the program that every worker runs; its own arguments follow")
    parser.add_argument("training_script_args", nargs=REMAINDER)
    return parser


def parse_args(args):
    """The arguments of a command line."""
    return get_args_parser().parse_args(args)


def parse_min_max_nnodes(nnodes):
    """"4" is (4, 4), "2:4" is (2, 4)."""
    parts = nnodes.split(":")
    if len(parts) > 2 or not all(part.isdigit() for part in parts):
        raise RuntimeError(f'nnodes={nnodes} is not in "MIN:MAX" format')
    return int(parts[0]), int(parts[-1])


def determine_local_world_size(nproc_per_node):
    """The number of workers: a number, "cpu", "gpu" or "auto"."""
    from ..cuda import device_count
    if str(nproc_per_node).isdigit():
        return int(nproc_per_node)
    gpus = device_count() if nproc_per_node in ("gpu", "auto") else 0
    if nproc_per_node == "gpu" and gpus == 0:
        raise ValueError("Cuda is not available.")
    if nproc_per_node in ("cpu", "gpu", "auto"):
        return gpus or len(os.sched_getaffinity(0))
    raise ValueError(f"Unsupported nproc_per_node value: {nproc_per_node}")


def _rendezvous_settings(text):
    settings = {}
    for part in filter(None, text.split(",")):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not (name and equals and value):
            raise ValueError(f"The rendezvous configuration string must be in format <key1>=<value1>,...,<keyN>=<valueN>, got {text!r}")
        settings[name] = value
    return settings


def _logs_specs_class(name):
    if name is None:
        return DefaultLogsSpecs
    from importlib.metadata import entry_points
    found = list(entry_points(group="torchrun.logs_specs", name=name))
    if not found:
        raise ValueError(f"Could not find entrypoint under 'torchrun.logs_specs[{name}]' key")
    return found[0].load()


def _local_ranks(text):
    if not text:
        return None
    try:
        return {int(part) for part in text.split(",")}
    except ValueError:
        raise ValueError("--local_ranks_filter must be a comma-separated list of integers e.g. --local_ranks_filter=0,1,2") from None


def config_from_args(args):
    """(LaunchConfig, command or function, its arguments) of what parse_args() returned."""
    min_nodes, max_nodes = parse_min_max_nnodes(args.nnodes)
    workers = determine_local_world_size(args.nproc_per_node)
    if workers > 1 and "OMP_NUM_THREADS" not in os.environ:
        os.environ["OMP_NUM_THREADS"] = "1"
        say("OMP_NUM_THREADS is 1 in each worker, as it is not set")
    settings = _rendezvous_settings(args.rdzv_conf)
    endpoint = args.rdzv_endpoint
    if args.rdzv_backend == "static":
        settings["rank"] = args.node_rank
        endpoint = endpoint or f"{args.master_addr}:{args.master_port or 29500}"
    if args.numa_binding is not None:
        raise NotImplementedError("--numa-binding: workers are not bound to CPUs here; start them by numactl: "
                                  "argandrun --no-python numactl --cpunodebind=N python ...")
    logs = _logs_specs_class(args.logs_specs)(log_dir=args.log_dir, redirects=Std.from_str(args.redirects), tee=Std.from_str(args.tee),
                                              local_ranks_filter=_local_ranks(args.local_ranks_filter))
    config = LaunchConfig(
        min_nodes, max_nodes, workers, logs, args.rdzv_id, args.role, endpoint, args.rdzv_backend, settings,
        max_restarts=args.max_restarts, monitor_interval=args.monitor_interval, start_method=args.start_method,
        log_line_prefix_template=args.log_line_prefix_template or os.environ.get("TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE"),
        local_addr=args.local_addr, event_log_handler=args.event_log_handler, signals_to_handle=args.signals_to_handle,
        duplicate_stdout_filters=args.duplicate_stdout_filters, duplicate_stderr_filters=args.duplicate_stderr_filters,
        virtual_local_rank=args.virtual_local_rank, shutdown_timeout=args.shutdown_timeout)
    return (config, *_command(args))


def _command(args):
    """(command or function, arguments): a worker is Argand's where this process is."""
    own = list(args.training_script_args)
    if not getattr(args, "use_env", True):
        own.insert(0, "--local-rank=${local_rank}")
    if args.run_path:
        return run_script_path, [args.training_script, *own]
    if args.no_python:
        if args.module:
            raise ValueError("Don't use both the '--no-python' flag and the '--module' flag at the same time.")
        return args.training_script, own
    python = ["-u", *(["-m", "argand"] if alias.torch is not None else []), *(["-m"] if args.module else [])]
    return os.environ.get("PYTHON_EXEC", sys.executable), [*python, args.training_script, *own]


def run_script_path(training_script, *training_script_args):
    """Runs a program in this interpreter."""
    sys.argv = [training_script, *training_script_args]
    runpy.run_path(training_script, run_name="__main__")


def run(args):
    """Starts the workers that parse_args() returned, and waits for them."""
    is_alone = args.rdzv_backend == "static" and not args.rdzv_endpoint and args.master_port is None \
        and parse_min_max_nnodes(args.nnodes)[1] == 1
    if args.standalone or is_alone:
        args.rdzv_backend, args.rdzv_endpoint, args.rdzv_id = "c10d", "localhost:0", str(uuid.uuid4())
    config, command, command_args = config_from_args(args)
    elastic_launch(config, command)(*command_args)


def main(args=None, start=lambda args: run(parse_args(args))):
    """The program: 1 if a worker failed, 128 and the signal's number after a signal, 2 for what it cannot be asked."""
    try:
        record(start)(args)
    except ChildFailedError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except SignalException as error:
        return 128 + error.sigval
    except (AssertionError, NotImplementedError, OSError, RuntimeError, ValueError) as error:
        say(error)
        return 1 if isinstance(error, (OSError, RuntimeError)) and not isinstance(error, NotImplementedError) else 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
