"""Imported before torch: has PyTorch and its libraries use the same code on every x86-64 processor.

They choose kernels by the processor, which add and round in another order.  The lists of known differences would hold on one
processor alone.
"""
import os

os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx2")
os.environ.setdefault("MKL_CBWR", "COMPATIBLE")
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX2")
