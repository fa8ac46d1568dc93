"""Several machines on one: each has a network, a name, processes and shared memory of its own, and a switch joins them.

They are namespaces of Linux that processes of this module hold open.  When it closes them, and also when the test's process
is killed, the kernel ends all that runs in them and removes their interfaces: nothing is left.  It takes root and the
commands of iproute2 and util-linux.
"""
import os
import pathlib
import shutil
import subprocess
import tempfile

# The first process of a namespace of processes: its end ends all others.  It reads until the test's process closes the pipe.
_HOLD = "trap '' CHLD; mount -t tmpfs tmpfs /dev/shm; echo ready; exec cat"
_NAMESPACES = ("--net", "--uts", "--mount", "--ipc", "--pid")


class _Namespace:
    """The namespaces of one machine, or of the switch."""

    def __init__(self):
        self._held = subprocess.Popen(["unshare", *_NAMESPACES, "--fork", "--kill-child", "--mount-proc", "sh", "-c", _HOLD],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if self._held.stdout.readline() != "ready\n":
            raise OSError(self._held.stderr.read().strip())
        children = pathlib.Path(f"/proc/{self._held.pid}/task/{self._held.pid}/children")
        self.pid = int(children.read_text().split()[0])

    def command(self, *words):
        """What runs these words in here."""
        return ["nsenter", "--target", str(self.pid), *_NAMESPACES, "--", *map(str, words)]

    def do(self, text, stdin=None):
        """Runs a line; what it prints."""
        done = subprocess.run(self.command(*text.split()), input=stdin, capture_output=True, text=True)
        if done.returncode != 0:
            raise OSError(f"{text}: {done.stderr.strip()}")
        return done.stdout

    def close(self):
        self._held.stdin.close()
        self._held.wait()
        self._held.stdout.close()
        self._held.stderr.close()


class Machine(_Namespace):
    """node0, node1, ...: its interfaces eth0, eth1, ... lie in the networks 10.100.0.0/24, 10.101.0.0/24, ..."""

    def __init__(self, number, networks):
        super().__init__()
        self.number, self.name = number, f"node{number}"
        self.addresses = [f"10.{100 + network}.0.{number + 1}" for network in range(networks)]
        self.address = self.addresses[0]
        self.do(f"hostname {self.name}")
        self.do("ip link set lo up")
        self._mount_hosts()

    def join(self, switch):
        for network, address in enumerate(self.addresses):
            port = f"port{self.number}-{network}"
            run(f"ip link add {port} netns {switch.pid} type veth peer name eth{network} netns {self.pid}")
            switch.do(f"ip link set {port} master network{network} up")
            self.do(f"ip address add {address}/24 dev eth{network}")
            self.do(f"ip link set eth{network} up")

    def write_hosts(self, text):
        """Its /etc/hosts."""
        self._hosts.seek(0)
        self._hosts.truncate()
        self._hosts.write("127.0.0.1 localhost\n" + text)
        self._hosts.flush()

    def _mount_hosts(self):
        with tempfile.NamedTemporaryFile("w", prefix="hosts-") as named:
            os.chmod(named.name, 0o644)
            self.do(f"mount --bind {named.name} /etc/hosts")
            self._hosts = open(named.name, "w")  # without its name from here on

    def close(self):
        self._hosts.close()
        super().close()

    def start(self, *words, **options):
        """A process on this machine."""
        return subprocess.Popen(self.command(*words), text=True, stdin=subprocess.DEVNULL, **options)

    def unplug(self, network=0):
        self.do(f"ip link set eth{network} down")

    def plug_in(self, network=0):
        self.do(f"ip link set eth{network} up")

    def kill_all(self):
        """All its processes, as if it lost its power."""
        subprocess.run(self.command("sh", "-c", "kill -9 -1"), stderr=subprocess.DEVNULL)

    def processes(self):
        """What runs on it."""
        return [text for pid in processes_in(self.pid) if pid != self.pid and (text := command_of(pid))]  # zombies have none


class Machines:
    """with Machines(2) as (first, second): ..."""

    def __init__(self, count, networks=1):
        self._count, self._networks, self._open = count, networks, []

    def __enter__(self):
        try:
            switch = self._add(_Namespace())
            for network in range(self._networks):
                switch.do(f"ip link add network{network} type bridge")
                switch.do(f"ip link set network{network} up")
            machines = [self._add(Machine(number, self._networks)) for number in range(self._count)]
            for machine in machines:
                machine.join(switch)
                machine.write_hosts("".join(f"{each.address} {each.name} {each.name}.cluster\n" for each in machines))
            return machines
        except BaseException:
            self.__exit__()
            raise

    def _add(self, namespace):
        self._open.append(namespace)
        return namespace

    def __exit__(self, *error):
        while self._open:
            self._open.pop().close()


def processes_in(first):
    """The processes of the same namespace as this one."""
    def namespace(pid):
        try:
            return os.readlink(f"/proc/{pid}/ns/pid")
        except OSError:
            return None  # it has ended
    return [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and namespace(pid) == namespace(first)]


def command_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ").strip()
    except OSError:
        return ""


def run(text):
    done = subprocess.run(text.split(), capture_output=True, text=True)
    if done.returncode != 0:
        raise OSError(f"{text}: {done.stderr.strip()}")


def why_not():
    """Why this system has no such machines; empty if it has."""
    for command, package in (("ip", "iproute2"), ("tc", "iproute2"), ("unshare", "util-linux"), ("nsenter", "util-linux")):
        if shutil.which(command) is None:
            return f"there is no command {command} (package {package})"
    if os.geteuid() != 0:
        return "namespaces of networks need root"
    try:
        with Machines(2) as (first, second):
            first.do(f"ip route get {second.address}")
    except OSError as error:
        return f"namespaces cannot be made: {error}"
    return ""
