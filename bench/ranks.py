"""How the work of a world grows with its ranks: a thread a rank in one process, joined by one TCPStore and Gloo.

    PYTHONPATH=build/release/python python bench/ranks.py [RANKS...]

Prints for each number of ranks the seconds until all have joined, the milliseconds of collectives (the least of five),
the share of a core that signs of life cost while nothing is done, and the memory and connections of the process.
"""
import os
import resource
import sys
import threading
import time
from datetime import timedelta

import argand
from argand import _C
from argand.distributed import TCPStore

COLLECTIVES = {"barrier": lambda group, _small, _large: group.barrier("", -1)._wait(-1),
               "all_reduce 4 KB": lambda group, small, _large: group.all_reduce("", -1, 0, 1.0, [small])._wait(-1),
               "all_reduce 1 MB": lambda group, _small, large: group.all_reduce("", -1, 0, 1.0, [large])._wait(-1)}


def resident():
    """MiB."""
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) / 1024


def measure(count):
    """A row."""
    store = TCPStore("127.0.0.1", 0, None, True, timedelta(seconds=300), wait_for_workers=False)
    meet, before, seconds = threading.Barrier(count + 1), resident(), {}

    def rank_of_world(rank):
        mine = TCPStore("127.0.0.1", store.port, None, False, timedelta(seconds=300), wait_for_workers=False)
        meet.wait()
        group = _C._make_process_group(mine, rank, count, "gloo", "", 300_000)
        meet.wait()
        small, large = argand.ones(1024), argand.ones(1 << 18)
        for call in COLLECTIVES.values():
            for _ in range(5):
                meet.wait()
                call(group, small, large)
                meet.wait()
        meet.wait()
        meet.wait()
        group.shutdown()

    threads = [threading.Thread(target=rank_of_world, args=(rank,)) for rank in range(count)]
    for thread in threads:
        thread.start()
    meet.wait()
    begin = time.perf_counter()
    meet.wait()
    seconds["join"] = time.perf_counter() - begin
    for name in COLLECTIVES:
        times = []
        for _ in range(5):
            meet.wait()
            begin = time.perf_counter()
            meet.wait()
            times.append(time.perf_counter() - begin)
        seconds[name] = min(times)
    meet.wait()
    begin, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
    time.sleep(3)
    now = resource.getrusage(resource.RUSAGE_SELF)
    idle = (now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime) / (time.perf_counter() - begin)
    files, memory = len(os.listdir("/proc/self/fd")), resident() - before
    meet.wait()
    for thread in threads:
        thread.join()
    times = "".join(f"{seconds[name] * 1e3:17.1f}" for name in COLLECTIVES)
    print(f"{count:5}{seconds['join']:8.2f}{times}{idle:8.3f}{memory:10.0f}{files:10}", flush=True)


def main():
    """All rows."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    threading.stack_size(256 * 1024)
    print("ranks  join s" + "".join(f"{name:>17}" for name in COLLECTIVES) + "    idle       MiB     files")
    for count in map(int, sys.argv[1:] or (2, 4, 8, 16, 32, 64, 128)):
        measure(count)


if __name__ == "__main__":
    main()
