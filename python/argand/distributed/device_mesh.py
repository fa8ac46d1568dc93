"""Arrays of the devices of several processes, as torch.distributed.device_mesh: names; they are not supported yet."""
from ._names import DeviceMesh, init_device_mesh  # noqa: F401
