"""What memory cannot be had is an error at the call that asks for it, which says what limits it."""
import subprocess
import sys

import pretended_gpu

LIMITED = """if True:
    import resource, time
    import argand as torch
    torch.ones(4).add(1)
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (256 << 20),) * 2)
    for make in (lambda: torch.empty(2**38), lambda: torch.empty(2**28), lambda: torch.zeros(300 << 20, dtype=torch.uint8),
                 lambda: torch.ones(2**27).add(1), lambda: torch.empty(1, 2**30).expand(4, -1), lambda: torch.empty(3, 2**27).t(),
                 lambda: torch.UntypedStorage(1 << 30), lambda: torch.ones(2).resize_(2**28), lambda: torch.rand(2**28)):
        try:
            make()
            print("made")
        except torch.OutOfMemoryError as e:
            assert "DefaultCPUAllocator: can't allocate memory" in str(e) and "limit of addresses (RLIMIT_AS)" in str(e), e
    some = torch.empty(2**24)
    some.fill_(1)
    print(some.sum().item())
    del some
    torch.empty(2**24).fill_(2)  # what was freed is had again
    start = time.perf_counter()
    for _ in range(100):
        torch.empty(2**23)
    print(time.perf_counter() - start < 1)
"""


def test_limits_of_addresses():
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "16777216.0\nTrue\n"), done.stderr


def test_more_than_the_machine_has():
    program = """if True:
        import argand as torch
        try:
            torch.empty(2**46, dtype=torch.uint8)
        except torch.OutOfMemoryError as e:
            print(e)
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.stdout.startswith("out of memory: this process cannot have 70368744177664 bytes (DefaultCPUAllocator: can't allocate "
                                  "memory: you tried to allocate 70368744177664 bytes. Error code 12 (Cannot allocate memory)). memory and "
                                  "swap of the machine: "), done.stderr


def test_fractions_of_a_gpu(tmp_path):
    out = pretended_gpu.run(tmp_path, """
assert torch.cuda.get_per_process_memory_fraction() == 1.0
total = torch.cuda.mem_get_info()[1]
torch.cuda.set_per_process_memory_fraction(0.5)
assert torch.cuda.get_per_process_memory_fraction() == torch.cuda.get_per_process_memory_fraction(0) == 0.5
torch.cuda.memory.set_per_process_memory_fraction(0.25, 0)
assert torch.cuda.get_per_process_memory_fraction("cuda:0") == 0.25
try:
    torch.empty(int(total * 0.25) + 1, dtype=torch.uint8, device="cuda")
except torch.cuda.OutOfMemoryError as e:
    assert "set_memory_fraction limits it to" in str(e), e
    print("refused")
torch.empty(int(total * 0.2), dtype=torch.uint8, device="cuda")
torch.cuda.set_per_process_memory_fraction(1.0)
torch.empty(int(total * 0.3), dtype=torch.uint8, device="cuda")
try:
    torch.cuda.set_per_process_memory_fraction(0.5, 7)
except RuntimeError:
    print(torch.cuda.get_per_process_memory_fraction())
""")
    assert out.returncode == 0 and out.stdout == "refused\n1.0\n", out.stderr
