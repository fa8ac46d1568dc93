"""Devices of several processes as an array, which there is not yet."""
from . import init_device_mesh  # noqa: F401
from ._names import DeviceMesh  # noqa: F401
