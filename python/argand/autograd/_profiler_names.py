"""Names that stand in profiles: kinds of devices, and events of memory."""
import enum

MEMORY_EVENT_NAME = "[memory]"
OUT_OF_MEMORY_EVENT_NAME = "[OutOfMemory]"

DeviceType = enum.Enum("DeviceType", {"CPU": 0, "CUDA": 1, "MKLDNN": 2, "OPENGL": 3, "OPENCL": 4, "IDEEP": 5, "HIP": 6, "FPGA": 7,
                                      "MAIA": 8, "XLA": 9, "Vulkan": 10, "Metal": 11, "XPU": 12, "MPS": 13, "Meta": 14, "HPU": 15,
                                      "VE": 16, "Lazy": 17, "IPU": 18, "MTIA": 19, "PrivateUse1": 20}, module=f"{__package__}.profiler_util")
