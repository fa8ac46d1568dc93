"""Many clients of one TCPStore: the same program by PyTorch and by Argand.

    python bench/store.py [CLIENTS]                 # PyTorch
    python -m argand bench/store.py [CLIENTS]       # Argand

A thread a client in one process. Prints the seconds of each step, from its first client to its last, and the memory.
"""
import resource
import sys
import threading
import time
from datetime import timedelta

import torch.distributed as dist


def resident():
    """MiB."""
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) / 1024


def main(count):
    """Connects, sets, waits for all, and meets at a barrier made of add and wait."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    threading.stack_size(256 * 1024)
    server = dist.TCPStore("127.0.0.1", 0, None, True, timedelta(seconds=300), wait_for_workers=False)
    steps, meet = ["connect", "set", "wait", "add"], threading.Barrier(count + 1)
    keys = [f"key{i}" for i in range(count)]

    def client(number):
        meet.wait()
        store = dist.TCPStore("127.0.0.1", server.port, None, False, timedelta(seconds=300), wait_for_workers=False)
        meet.wait()
        store.set(keys[number], "x" * 100)
        meet.wait()
        store.wait(keys[:100])
        meet.wait()
        if store.add("count", 1) == count:
            store.set("all", "")
        store.wait(["all"])
        meet.wait()
        meet.wait()

    threads = [threading.Thread(target=client, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    before = resident()
    meet.wait()
    for step in steps:
        begin = time.perf_counter()
        meet.wait()
        print(f"{step:8} {time.perf_counter() - begin:7.3f} s")
    print(f"memory   {resident() - before:7.1f} MiB more with the clients, of {resident():.1f}")
    processor = resource.getrusage(resource.RUSAGE_SELF)
    print(f"CPU      {processor.ru_utime + processor.ru_stime:7.3f} s")
    meet.wait()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
