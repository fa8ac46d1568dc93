"""What a report of a bug should say of the machine: python -m argand.utils.collect_env, or torch.utils.collect_env."""
import platform
import sys


def get_pretty_env_info():
    """Versions of the library, Python and CUDA, the CPU and the GPUs."""
    import argand
    lines = [f"Argand version: {argand.version.__version__}", f"Python version: {sys.version}", f"Python platform: {platform.platform()}",
             f"Is CUDA available: {argand.cuda.is_available()}", f"CUDA used to build: {argand.version.cuda}",
             f"cuDNN version: {argand.backends.cudnn.version()}"]
    lines += [f"GPU {i}: {argand.cuda.get_device_name(i)}" for i in range(argand.cuda.device_count())]
    lines += [f"CPU: {platform.processor() or platform.machine()}, {argand.backends.cpu.get_cpu_capability()}",
              f"Threads: {argand.get_num_threads()}"]
    try:
        import numpy
        lines.append(f"numpy=={numpy.__version__}")
    except ImportError:
        lines.append("numpy is not installed")
    return "\n".join(lines)


def main():
    """Prints it."""
    print("Collecting environment information...")
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
