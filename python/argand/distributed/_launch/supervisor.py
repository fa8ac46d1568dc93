"""Starts the commands that the agent names, reports how they end, and ends them all when the agent asks for that or is gone.

It is a program of its own, because what must not fail here is simple in a process with one thread and few imports:
- A worker dies with this process: it asks the kernel for that (PR_SET_PDEATHSIG) and then checks that this process is still its
  parent, which closes the race between the two.
- This process ends all workers when the agent is gone, even by SIGKILL: the pipe that they share is closed then.
- What workers leave running is ended, too.  Each worker has a session of its own, whose processes get a SIGKILL at the end, and
  processes whose parents have ended become children of this one (PR_SET_CHILD_SUBREAPER).

usage: supervisor.py COMMANDS STATUS, two descriptors of pipes.  On the first comes a line with the workers and their limit of open files, then lines {"signal":
number, "ranks": [...], "group": bool}; its end ends all workers.  On the second go {"started": rank, "pid": ...}, {"ended": rank,
"code": ..., "time": ...} and {"refused": rank, "why": ...}, one in a line.
"""
import ctypes
import json
import os
import resource
import select
import signal
import sys
import time

_SET_PARENT_DEATH_SIGNAL, _SET_CHILD_SUBREAPER = 1, 36
_TAKEN = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)  # the agent hears them and decides
_GONE_WITHIN = 10  # seconds, after SIGKILL: longer only in a system call that nothing interrupts


class Supervisor:
    def __init__(self, commands, status):
        self._commands, self._status = commands, status
        self._prctl = ctypes.CDLL(None).prctl
        self._running, self._leaders = {}, {}  # {rank: pid}
        self._pending = b""

    def run(self):
        self._prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        for fd in (self._commands, self._status):
            os.set_inheritable(fd, False)
        self._ignored = {each for each in _TAKEN if signal.getsignal(each) == signal.SIG_IGN}
        for each in _TAKEN:
            signal.signal(each, signal.SIG_IGN)
        woken, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        try:
            self._serve(woken)
        finally:
            self._end_all()

    def _serve(self, woken):
        waiting = select.poll()
        for fd in (self._commands, woken):
            waiting.register(fd, select.POLLIN)
        while True:
            ready = [fd for fd, _ in waiting.poll()]
            if woken in ready:
                os.read(woken, 4096)
                self._look_who_ended()
            if self._commands in ready:
                data = os.read(self._commands, 1 << 20)
                if not data:
                    return
                *lines, self._pending = (self._pending + data).split(b"\n")
                for line in lines:
                    self._obey(json.loads(line))

    def _obey(self, command):
        if "workers" in command:
            self._start_all(command["workers"], command["files"])
            return
        for rank in command["ranks"]:
            if rank in self._running:
                self._send(self._running[rank], command["signal"], command["group"])

    def _send(self, pid, number, to_group):
        try:
            if to_group:
                os.killpg(pid, number)
                return
        except ProcessLookupError:
            pass  # it has no session yet
        os.kill(pid, number)

    def _say(self, **what):
        try:
            os.write(self._status, json.dumps(what).encode() + b"\n")
        except BrokenPipeError:
            pass  # the agent is gone, and the other pipe says so

    # ---- starting

    def _start_all(self, workers, files):
        for fd in {fd for worker in workers for fd in worker["output"] if fd > 2}:
            os.set_inheritable(fd, False)  # one worker must not hold the pipe of another
        parent = os.getpid()
        # A signal for a worker that is not one yet stays pending; here it is ignored, and would be lost.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, _TAKEN)
        for worker in workers:
            pid = os.fork()
            if pid == 0:
                self._become(worker, parent, mask, files)
            self._running[worker["rank"]] = self._leaders[worker["rank"]] = pid
            self._say(started=worker["rank"], pid=pid)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for fd in {fd for worker in workers for fd in worker["output"] if fd > 2}:
            os.close(fd)

    def _become(self, worker, parent, mask, files):
        """In the new process: the worker."""
        try:
            os.setsid()
            self._prctl(_SET_PARENT_DEATH_SIGNAL, int(signal.SIGKILL), 0, 0, 0)
            if os.getppid() != parent:
                os._exit(1)  # it ended before the kernel knew
            signal.set_wakeup_fd(-1)
            for each in (*_TAKEN, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ):
                signal.signal(each, signal.SIG_IGN if each in self._ignored else signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_NOFILE, files)
            for standard, fd in enumerate(worker["output"], start=1):
                os.dup2(fd, standard)
            environment = {**os.environ, **{k: v for k, v in worker["environment"].items() if v is not None}}
            for name in (k for k, v in worker["environment"].items() if v is None):
                environment.pop(name, None)
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            os.execvpe(worker["command"][0], worker["command"], environment)
        except BaseException as error:
            self._say(refused=worker["rank"], why=f"{type(error).__name__}: {error}")
        os._exit(127)

    # ---- ending

    def _look_who_ended(self):
        """Says it, and leaves them unreaped: so their numbers stay those of their sessions until all is ended."""
        for rank, pid in list(self._running.items()):
            ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if ended is not None:
                del self._running[rank]
                code = ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
                self._say(ended=rank, code=code, time=time.time())
        for pid in _children().difference(self._leaders.values()):  # orphans
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                pass

    def _end_all(self):
        for pid in self._leaders.values():
            try:
                os.killpg(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
        deadline = time.monotonic() + _GONE_WITHIN
        while time.monotonic() < deadline:  # what a session's end makes an orphan is a child then
            for pid in _children():
                try:
                    os.kill(pid, signal.SIGKILL)
                except (ProcessLookupError, PermissionError):
                    pass
            try:
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    time.sleep(0.002)
            except ChildProcessError:
                return


def _children():
    """The children of this process, as far as the kernel says."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            return {int(pid) for pid in file.read().split()}
    except OSError:
        return set()


if __name__ == "__main__":
    Supervisor(int(sys.argv[1]), int(sys.argv[2])).run()
