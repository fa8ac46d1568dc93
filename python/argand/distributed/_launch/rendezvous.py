"""Where the nodes meet: which store, and who hosts it."""
import contextlib
import datetime
import os
import secrets
import socket
import time

from .output import say
from .rounds import Rules

_DEFAULT_PORTS = {"static": 29500, "c10d": 29400}
_KEYS = {"rank", "timeout", "join_timeout", "last_call_timeout", "close_timeout", "keep_alive_interval", "keep_alive_max_attempt", "is_host",
         "read_timeout", "store_type"}

_BETWEEN_TRIES = 2  # seconds of asking for a store that another agent may host, before this one tries to host it again


class Rendezvous:
    """What a LaunchConfig says of it; membership() connects."""

    def __init__(self, config):
        self._config, self._options = config, dict(config.rdzv_configs)
        if config.rdzv_backend not in _DEFAULT_PORTS:
            raise ValueError(f"--rdzv-backend: expected static or c10d, got {config.rdzv_backend!r}")
        self._check_options()
        self._is_static = config.rdzv_backend == "static"
        self._node_rank = int(self._options.get("rank", 0)) if self._is_static else 0
        if self._is_static and config.min_nodes != config.max_nodes:
            raise ValueError(f"--nnodes: expected one number with --rdzv-backend static, got {config.min_nodes}:{config.max_nodes}; "
                             "c10d takes a range")
        if not 0 <= self._node_rank < config.max_nodes:
            raise ValueError(f"--node-rank: expected 0 to {config.max_nodes - 1} for {config.max_nodes} nodes, got {self._node_rank}")
        self.master_addr, self.master_port = _endpoint(config.rdzv_endpoint, _DEFAULT_PORTS[config.rdzv_backend])
        self._rules, self._read_timeout = self._make_rules(), datetime.timedelta(seconds=self._seconds("read_timeout", default=60))
        self._stores = []

    def _check_options(self):
        unknown = set(self._options) - _KEYS
        if unknown:
            raise ValueError(f"--rdzv-conf: {', '.join(sorted(unknown))}: no such setting; there are: {', '.join(sorted(_KEYS))}")
        kind = self._options.get("store_type", "tcp")
        if kind != "tcp":
            raise ValueError(f"--rdzv-conf: store_type: expected tcp, got {kind!r}")

    @property
    def where(self):
        """HOST:PORT of the store."""
        return f"{self.master_addr}:{self.master_port}"

    def _seconds(self, *names, default):
        name = next((name for name in names if name in self._options), None)
        try:
            value = default if name is None else float(self._options[name])
        except ValueError:
            value = 0
        if value <= 0:
            raise ValueError(f"--rdzv-conf: {name}: expected a number greater than 0, got {self._options[name]!r}")
        return value

    def _make_rules(self):
        config = self._config
        lost = self._seconds("keep_alive_interval", default=1) * self._seconds("keep_alive_max_attempt", default=6)
        return Rules(config.min_nodes, config.max_nodes, config.max_restarts, self._is_static,
                     self._seconds("join_timeout", "timeout", default=600), self._seconds("last_call_timeout", default=30),
                     self._seconds("close_timeout", default=30), lost)

    def membership(self):
        """The arguments of a Membership."""
        about = {"host": self._config.local_addr or socket.gethostname(), "node_rank": self._node_rank, "role": self._config.role,
                 "workers": self._config.nproc_per_node}
        return {"connect": lambda: self._open(self._rules.join_timeout), "prefix": f"argand/launch/{self._config.run_id}",
                "rules": self._rules, "about": about, "interval": self._config.monitor_interval, "prepare": self._prepare}

    @contextlib.contextmanager
    def secret(self):
        """While the workers run: a secret that only they know, where they are all of this node and none was given."""
        is_made = self._config.max_nodes == 1 and "ARGAND_STORE_SECRET" not in os.environ
        if is_made:
            os.environ["ARGAND_STORE_SECRET"] = secrets.token_hex(16)
        try:
            yield
        finally:
            if is_made:
                del os.environ["ARGAND_STORE_SECRET"]

    # ---- the store

    def _open(self, timeout):
        """(the store, whether this node hosts it)."""
        deadline = time.monotonic() + timeout
        while self._may_host():
            try:
                return self._host(timeout), True
            except RuntimeError:  # another agent of this machine hosts it, or the port is taken for a moment
                if self._is_static or self.master_port == 0:
                    raise
            left = deadline - time.monotonic()
            try:
                return self._join(max(0.001, min(left, _BETWEEN_TRIES))), False
            except RuntimeError:
                if left <= _BETWEEN_TRIES:
                    raise
        return self._join(timeout), False

    def _host(self, timeout):
        from .. import TCPStore
        store = TCPStore(self.master_addr, self.master_port, None, True, timeout=datetime.timedelta(seconds=timeout), wait_for_workers=False)
        self._stores.append(store)
        self.master_port = store.port
        self._warn_of_loopback()
        store.set_timeout(self._read_timeout)
        return store

    def _join(self, timeout):
        from .. import TCPStore
        store = TCPStore(self.master_addr, self.master_port, None, False, timeout=datetime.timedelta(seconds=timeout), wait_for_workers=False)
        store.set_timeout(self._read_timeout)
        return store

    def _may_host(self):
        if self._is_static:
            return self._node_rank == 0
        told = str(self._options.get("is_host", "")).lower()
        if told:
            return told in ("1", "true", "t", "yes", "y")
        return _is_here(self.master_addr)

    def _warn_of_loopback(self):
        """Many systems give a machine's own name an address that only it has."""
        if self._config.max_nodes > 1 and self.master_addr != "localhost" and not self.master_addr.startswith("127."):
            found = {each[4][0] for each in socket.getaddrinfo(self.master_addr, None)}
            if all(address.startswith("127.") or address == "::1" for address in found):
                say(f"{self.master_addr} is {', '.join(sorted(found))} here, where other machines cannot reach the store: name its "
                    "address instead")

    def _prepare(self, order):
        """A new set of nodes without a restart that counts gets a store of its own: the keys of workers do not tell them apart."""
        if order["do"] == "run" and order["round"] != order["restarts"]:
            from .. import TCPStore
            store = TCPStore(self.master_addr, 0, None, True, wait_for_workers=False)
            self._stores = [self._stores[0], store]
            order["port"] = store.port


def _endpoint(text, default_port):
    """"host", "host:port" or "[IPv6 address]:port"."""
    text = text.strip()
    host, _, port = text.rpartition(":") if ":" in text.rpartition("]")[2] else (text, "", "")
    if port and not (port.isdigit() and int(port) < 65536):
        raise ValueError(f"--rdzv-endpoint: expected HOST:PORT with a port from 0 to 65535, got {text!r}")
    return host.strip("[]") or "localhost", int(port) if port else default_port


def _is_here(host):
    """Whether an address is of this machine: those are the ones that a socket can be bound to."""
    if host in ("localhost", socket.gethostname()):
        return True
    try:
        found = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)
    except OSError:
        return False
    for family, kind, protocol, _, address in found:
        with socket.socket(family, kind, protocol) as tried:
            try:
                tried.bind(address)
                return True
            except OSError:
                pass
    return False
