"""Devices of several processes as an array, which there is not yet."""
from ._names import DeviceMesh, init_device_mesh  # noqa: F401
