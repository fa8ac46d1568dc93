"""The CPU, as torch.backends.cpu."""
import functools


@functools.cache
def get_cpu_capability():
    """"AVX512", "AVX2" or "DEFAULT": the widest instructions of this CPU that kernels are compiled for."""
    try:
        with open("/proc/cpuinfo") as file:
            flags = next((line.split() for line in file if line.startswith("flags")), [])
    except OSError:
        return "DEFAULT"
    if {"avx512f", "avx512bw", "avx512dq", "avx512vl"} <= set(flags):
        return "AVX512"
    return "AVX2" if {"avx2", "fma"} <= set(flags) else "DEFAULT"
