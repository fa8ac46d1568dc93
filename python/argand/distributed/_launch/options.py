"""The options of torchrun, with PyTorch's names and defaults."""
import os
import sys
from argparse import SUPPRESS, Action, ArgumentTypeError


class _PrintCompletion(Action):
    """Prints what a shell needs to complete the options; no program has to be named."""

    def __call__(self, parser, *given):
        try:
            import shtab
        except ImportError:
            parser.error("--print-completion: needs the package shtab: pip install shtab")
        print(shtab.complete(parser, shell=given[1]))
        sys.exit(0)


def _separated(text):
    """Texts between commas; two commas are one in a text."""
    texts = [part.replace("\0", ",") for part in text.replace(",,", "\0").split(",")]
    if not all(texts):
        raise ArgumentTypeError(f"expected texts between commas, got {text!r}")
    return texts


def _from_environment(parser, name, more):
    """The default of an option: PET_<its name>, or what stands in `more`, argparse's settings of it."""
    variable = "PET_" + name.upper()
    text = os.environ.get(variable)
    if more.get("action") == "store_true":
        if text not in (None, "0", "1"):
            parser.error(f"{variable}: expected 0 or 1, got {text!r}")
        return text == "1"
    if text is not None and text not in more.get("choices", (text,)):
        parser.error(f"{variable}: expected one of {', '.join(more['choices'])}, got {text!r}")
    return more.get("default") if text is None else text  # argparse converts texts to the option's type


def add_options(parser):
    """Adds all options."""
    def add(name, help, *short, **more):
        dest = name[2:].replace("-", "_")
        if more.get("action") is not _PrintCompletion:
            more["default"] = _from_environment(parser, dest, more)
        parser.add_argument(*dict.fromkeys([*short, name, "--" + dest]), dest=dest, help=help, **more)

    _add_nodes(add)
    _add_running(add)
    _add_output(add)
    add("--print-completion", "print what a shell needs to complete the options", action=_PrintCompletion, default=SUPPRESS,
        choices=["bash", "zsh", "tcsh"])


def _add_nodes(add):
    add("--nnodes", "number of nodes, or MIN:MAX", default="1:1")
    add("--nproc-per-node", "number of workers of a node: a number, gpu, cpu or auto", default="1")
    add("--standalone", "one node; the rendezvous options are not needed", action="store_true")
    add("--rdzv-backend", "how nodes find each other: static or c10d", default="static")
    add("--rdzv-endpoint", "HOST:PORT where nodes meet", default="")
    add("--rdzv-id", "a name that the nodes of a job have in common", default="none")
    add("--rdzv-conf", "settings, KEY=VALUE,...: join_timeout, last_call_timeout, keep_alive_interval, keep_alive_max_attempt, is_host",
        default="")
    add("--node-rank", "the number of this node, for the static rendezvous", type=int, default=0)
    add("--master-addr", "address of node 0, for the static rendezvous", default="127.0.0.1")
    add("--master-port", "port of node 0, for the static rendezvous (29500)", type=int)
    add("--local-addr", "address of this node, in messages")
    add("--max-restarts", "how often all workers are started again after one failed", type=int, default=0)


def _add_running(add):
    add("--module", "the program is a module, as in python -m", "-m", action="store_true")
    add("--no-python", "the program is no Python program", action="store_true")
    add("--run-path", "workers run the program by runpy.run_path in processes of --start-method", action="store_true")
    add("--start-method", "how the processes of --run-path are started", choices=["spawn", "fork", "forkserver"], default="spawn")
    add("--role", "a name for the workers of this node", default="default")
    add("--monitor-interval", "seconds between two looks at what the other nodes say, at most 1", type=float, default=0.1)
    add("--event-log-handler", "null; there are no others here", default="null")
    add("--numa-binding", "refused here: use numactl", choices=["node", "socket", "exclusive", "core-complex"])
    add("--signals-to-handle", "signals that end the workers", default="SIGTERM,SIGINT,SIGHUP,SIGQUIT")
    add("--shutdown-timeout", "seconds between the signal that ends workers and SIGKILL (30)", type=int)
    add("--virtual-local-rank", "LOCAL_RANK is 0, and each worker sees one GPU", action="store_true")


def _add_output(add):
    add("--log-dir", "folder for files of the workers' output")
    add("--redirects", "streams that go to files only: 1 stdout, 2 stderr, 3 both, or LOCAL_RANK:VALUE,...", "-r", default="0")
    add("--tee", "streams that go to files and, with prefixes, to the console; as --redirects", "-t", default="0")
    add("--log-line-prefix-template", "prefix of lines: ${role_name}, ${rank}, ${local_rank}, ${hostname}", default="")
    add("--local-ranks-filter", "local ranks whose output is shown, as 0,1", default="")
    add("--duplicate-stdout-filters", "lines of -t's stdout with one of these texts go to filtered_stdout.log, too", type=_separated,
        default=[])
    add("--duplicate-stderr-filters", "the same for stderr", type=_separated, default=[])
    add("--logs-specs", "name of a class of an installed package that places logs (entry points torchrun.logs_specs)")
