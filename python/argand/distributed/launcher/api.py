"""torchrun for programs: a LaunchConfig says how many workers there are, elastic_launch() starts them."""
import os
import uuid
from dataclasses import dataclass, field

from .._launch.agent import Agent
from .._launch.rendezvous import Rendezvous
from ..elastic.multiprocessing import DefaultLogsSpecs

__all__ = ["LaunchConfig", "elastic_launch", "launch_agent"]


@dataclass
class LaunchConfig:
    """The arguments of torchrun, under PyTorch's names."""

    min_nodes: int
    max_nodes: int
    nproc_per_node: int
    logs_specs: object = None
    run_id: str = ""
    role: str = "default_role"
    rdzv_endpoint: str = ""
    rdzv_backend: str = "etcd"
    rdzv_configs: dict = field(default_factory=dict)
    rdzv_timeout: int = -1
    max_restarts: int = 3
    monitor_interval: float = 0.1
    start_method: str = "spawn"
    log_line_prefix_template: str = None
    metrics_cfg: dict = field(default_factory=dict)
    local_addr: str = None
    event_log_handler: str = "null"
    numa_options: object = None
    signals_to_handle: str = "SIGTERM,SIGINT,SIGHUP,SIGQUIT"
    duplicate_stdout_filters: list = None
    duplicate_stderr_filters: list = None
    virtual_local_rank: bool = False
    shutdown_timeout: int = None

    def __post_init__(self):
        if self.rdzv_timeout != -1:
            self.rdzv_configs["timeout"] = self.rdzv_timeout
        if self.logs_specs is None:
            self.logs_specs = DefaultLogsSpecs()
        if self.shutdown_timeout is None:
            self.shutdown_timeout = int(os.environ.get("TORCH_ELASTIC_SHUTDOWN_TIMEOUT", "30"))
        self._check()

    def _check(self):
        if not 0 < self.min_nodes <= self.max_nodes:
            raise AssertionError(f"min_nodes must be > 0 and <= max_nodes, got min_nodes={self.min_nodes}, max_nodes={self.max_nodes}")
        if self.nproc_per_node < 1:
            raise ValueError(f"nproc_per_node: expected at least 1, got {self.nproc_per_node}")
        if self.max_restarts < 0:
            raise AssertionError(f"max_restarts must be >= 0, got {self.max_restarts}")
        if self.shutdown_timeout < 0:
            raise ValueError(f"shutdown_timeout must be non-negative, got {self.shutdown_timeout}")
        if not self.monitor_interval > 0:
            raise ValueError(f"monitor_interval: expected a number greater than 0, got {self.monitor_interval}")
        if self.numa_options is not None:
            raise NotImplementedError("numa_options: workers are not bound to CPUs here; start them by numactl: "
                                      "argandrun --no-python numactl --cpunodebind=N python ...")
        if self.event_log_handler != "null":
            raise NotImplementedError(f"event_log_handler: expected 'null', got {self.event_log_handler!r}: events are not recorded here")
        if self.metrics_cfg:
            raise NotImplementedError("metrics_cfg: metrics are not recorded here")
        _check_signals(self.signals_to_handle)


def _check_signals(text):
    import signal
    for name in (each.strip() for each in text.split(",")):
        if name not in signal.Signals.__members__ or name in ("SIGKILL", "SIGSTOP"):
            raise ValueError(f"signals_to_handle: expected names of signals that can be handled, as SIGTERM,SIGUSR1, got {name!r}")


class elastic_launch:
    """elastic_launch(config, function)(*args) calls the function in all workers, and returns {rank: value} for those of this node;
    a command (a text) gets the arguments as its own."""

    def __init__(self, config, entrypoint, health_check_server=None):
        if health_check_server is not None:
            raise NotImplementedError("elastic_launch: health_check_server: there is no health check here")
        self._config, self._entrypoint = config, entrypoint

    def __call__(self, *args):
        return launch_agent(self._config, self._entrypoint, list(args))


def launch_agent(config, entrypoint, args, health_check_server=None):
    """Starts workers and waits for them; ChildFailedError if one fails for good."""
    if health_check_server is not None:
        raise NotImplementedError("launch_agent: health_check_server: there is no health check here")
    config.run_id = config.run_id or str(uuid.uuid4())
    try:
        return Agent(config, entrypoint, args, Rendezvous(config)).run()
    finally:
        getattr(config.logs_specs, "remove_unused", lambda: None)()
