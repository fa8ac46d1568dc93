"""Where the output of workers goes."""
import os
import re
import shutil
import tempfile
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from enum import IntFlag


class Std(IntFlag):
    """Streams of a process."""

    NONE, OUT, ERR, ALL = 0, 1, 2, 3

    @classmethod
    def from_str(cls, vm):
        """"3" is Std.ALL, "0:3,1:2" is {0: Std.ALL, 1: Std.ERR}; ValueError for other texts."""
        if re.fullmatch("[0-3]", vm):
            return cls(int(vm))
        if re.fullmatch(r"\d+:[0-3](,\d+:[0-3])*", vm):
            return {int(rank): cls(int(value)) for rank, value in (part.split(":") for part in vm.split(","))}
        raise ValueError(f"{vm} does not match: <VALUE> or <LOCAL_RANK:VALUE,...>, with values 0 (none), 1 (stdout), 2 (stderr), 3 (both)")


def to_map(val_or_map, local_world_size):
    """One value for each local rank, of one for all or of a map that has some."""
    if isinstance(val_or_map, Std):
        return dict.fromkeys(range(local_world_size), val_or_map)
    return {rank: val_or_map.get(rank, Std.NONE) for rank in range(local_world_size)}


@dataclass
class LogsDest:
    """Names of files by local rank; "" is the console.  For the streams in tee_*, the console shows what is in the file."""

    stdouts: dict = field(default_factory=dict)
    stderrs: dict = field(default_factory=dict)
    tee_stdouts: dict = field(default_factory=dict)
    tee_stderrs: dict = field(default_factory=dict)
    error_files: dict = field(default_factory=dict)
    filtered_stdout: str = ""
    filtered_stderr: str = ""


class LogsSpecs(ABC):
    """Which output of workers to redirect and to show; reify() gives the files of one attempt."""

    def __init__(self, log_dir=None, redirects=Std.NONE, tee=Std.NONE, local_ranks_filter=None):
        self._root_log_dir, self._redirects, self._tee, self._local_ranks_filter = log_dir, redirects, tee, local_ranks_filter

    @abstractmethod
    def reify(self, envs):
        """A LogsDest for workers with these environments, by local rank."""

    @property
    @abstractmethod
    def root_log_dir(self):
        """The folder."""


class DefaultLogsSpecs(LogsSpecs):
    """Folders LOG_DIR/RUN_ID_*/attempt_N/LOCAL_RANK with stdout.log, stderr.log and error.json."""

    def __init__(self, log_dir=None, redirects=Std.NONE, tee=Std.NONE, local_ranks_filter=None):
        if log_dir and os.path.isfile(log_dir):
            raise NotADirectoryError(f"log_dir: {log_dir} is a file")
        self._is_temporary = not log_dir
        super().__init__(log_dir or None, redirects, tee, local_ranks_filter)
        self._run_log_dir = None

    @property
    def root_log_dir(self):
        """The folder; it is made when it is first asked for."""
        if self._root_log_dir is None:
            self._root_log_dir = tempfile.mkdtemp(prefix="torchelastic_")
        return str(self._root_log_dir)

    def reify(self, envs):
        """Makes the folders, and sets TORCHELASTIC_ERROR_FILE in the environments."""
        count, keeps = len(envs), self.root_log_dir != os.devnull
        folder = self._folder_of_attempt(envs.get(0, {})) if keeps else os.devnull
        streams, tees = to_map(self._redirects, count), to_map(self._tee, count)
        dest = LogsDest()
        for rank in range(count):
            own = os.path.join(folder, str(rank)) if keeps else os.devnull
            dest.error_files[rank] = os.path.join(own, "error.json") if keeps else os.devnull
            envs[rank]["TORCHELASTIC_ERROR_FILE"] = dest.error_files[rank] if keeps else ""
            if keeps:
                os.mkdir(own)
            self._place(dest.stdouts, dest.tee_stdouts, rank, Std.OUT, streams[rank], tees[rank], own, "stdout.log")
            self._place(dest.stderrs, dest.tee_stderrs, rank, Std.ERR, streams[rank], tees[rank], own, "stderr.log")
        if keeps:
            dest.filtered_stdout = os.path.join(folder, "filtered_stdout.log")
            dest.filtered_stderr = os.path.join(folder, "filtered_stderr.log")
        return dest

    def _place(self, files, tees, rank, stream, redirected, tee, folder, name):
        is_shown = not self._local_ranks_filter or rank in self._local_ranks_filter
        path = os.devnull if folder == os.devnull else os.path.join(folder, name)
        files[rank] = path if (redirected | tee) & stream else "" if is_shown else os.devnull
        if tee & stream and is_shown:
            tees[rank] = path

    def _folder_of_attempt(self, environment):
        if self._run_log_dir is None:
            os.makedirs(self.root_log_dir, exist_ok=True)
            run = environment.get("TORCHELASTIC_RUN_ID", "run").replace(os.sep, "_")
            self._run_log_dir = tempfile.mkdtemp(prefix=run + "_", dir=self.root_log_dir)
        attempt = os.path.join(self._run_log_dir, "attempt_" + environment.get("TORCHELASTIC_RESTART_COUNT", "0"))
        folder, count = attempt, 1
        while os.path.exists(folder):  # the number of nodes changed, which is no restart that counts
            folder, count = f"{attempt}.{count}", count + 1
        os.makedirs(folder)
        return folder

    def remove_unused(self):
        """Removes the folder, if nobody named it and no file is in it."""
        if self._is_temporary and self._root_log_dir is not None and not any(files for _, _, files in os.walk(self._root_log_dir)):
            shutil.rmtree(self._root_log_dir, ignore_errors=True)

    def __repr__(self):
        return (f"DefaultLogsSpecs(root_log_dir={self.root_log_dir}, redirects={self._redirects}, tee={self._tee}, "
                f"local_ranks_filter={self._local_ranks_filter})")
