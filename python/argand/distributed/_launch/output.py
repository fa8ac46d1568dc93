"""What workers print: read from their pipes, and written to the console in whole lines."""
import fcntl
import os
import select
import sys
import termios

_TAIL = 1 << 16  # bytes of a worker's stderr that are kept for the report of its failure
_LONGEST = 1 << 24  # a line beyond that is put out in pieces
_SHOWN = 60  # lines of a failure's report


def write_all(fd, data):
    """Writes all of it, also where the descriptor does not block."""
    while data:
        try:
            data = data[os.write(fd, data):]
        except BlockingIOError:
            select.select([], [fd], [])


def open_pipe(console):
    """(reading end, writing end); a terminal that changes nothing, where the console is one, so that workers see one, too."""
    if not os.isatty(console):
        return os.pipe()
    reading, writing = os.openpty()
    settings = termios.tcgetattr(writing)
    settings[1] &= ~termios.OPOST  # as for "\n", which the real terminal translates
    settings[3] &= ~termios.ECHO
    termios.tcsetattr(writing, termios.TCSANOW, settings)
    fcntl.ioctl(writing, termios.TIOCSWINSZ, fcntl.ioctl(console, termios.TIOCGWINSZ, bytes(8)))
    return reading, writing


def say(text):
    """Writes a line of the launcher itself."""
    sys.stderr.write(f"argandrun: {text}\n")
    sys.stderr.flush()


class Stream:
    """One stream of one worker: goes to the console (1 or 2; None: nowhere), with a prefix in each line, to a file as it is, and by
    lines that have one of some texts in them to another file.

    A line of the console is written at once and whole, however many workers write.  A worker that is `alone` there is not held
    back until its line ends, so that it can ask for something.
    """

    def __init__(self, fd, console=None, prefix="", log=None, filters=(), filtered=None, alone=False):
        self.fd, self._console, self._prefix, self._log = fd, console, prefix.encode(), log
        self._filters, self._filtered = [text.encode() for text in filters], filtered
        self._whole_lines = bool(prefix) or not alone or bool(filters)
        self._rest, self._tail = b"", b""

    def pump(self):
        """Takes what is there; False at the end."""
        try:
            data = os.read(self.fd, 1 << 16)
        except BlockingIOError:
            return True
        except OSError:
            data = b""  # how a terminal says that nobody writes any more
        if data:
            self._take(data)
        elif self._rest:
            self._show(self._rest + (b"\n" if self._whole_lines else b""))
            self._rest = b""
        return bool(data) and self.fd is not None

    def _take(self, data):
        self._tail = (self._tail + data)[-_TAIL:]
        if self._log is not None:
            write_all(self._log, data)
        if not self._whole_lines:
            self._show(data)
            return
        data = self._rest + data
        end = max(data.rfind(b"\n"), data.rfind(b"\r", 0, len(data) - 1)) + 1  # a bar of progress begins its lines by "\r"
        if end == 0 and len(data) > _LONGEST:
            end = len(data)
        self._rest = data[end:]
        if end:
            self._show(data[:end])

    def _show(self, data):
        if self._filtered is not None:
            lines = [line for line in data.splitlines(keepends=True) if any(text in line for text in self._filters)]
            write_all(self._filtered, b"".join(self._prefix + line for line in lines))
        if self._console is None:
            return
        if self._prefix:
            data = b"".join(self._prefix + line for line in data.splitlines(keepends=True))
        try:
            write_all(self._console, data)
        except BrokenPipeError:  # who writes on learns it, as if the console were theirs
            os.close(self.fd)
            self.fd = None

    def tail(self):
        """The end of what came."""
        return self._tail.decode(errors="replace")

    def close(self):
        """Gives up what is not read."""
        for fd in (self.fd, self._log):
            if fd is not None:
                os.close(fd)
        self.fd = self._log = None


def last_traceback(text):
    """The last traceback of Python in a worker's stderr, or its last lines."""
    start = text.rfind("Traceback (most recent call last):")
    lines = text[max(start, 0):].rstrip().splitlines()
    if len(lines) > _SHOWN:
        lines = lines[-_SHOWN:] if start < 0 else [*lines[:_SHOWN // 2], "...", *lines[-_SHOWN // 2:]]
    return "\n".join(lines if start >= 0 else lines[-20:])
