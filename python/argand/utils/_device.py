"""The scope of a device, by the name that packages take."""
from .. import _C
from ..overrides import BaseTorchFunctionMode


class DeviceContext(BaseTorchFunctionMode):
    """`with device:` as a mode: within it tensors are made on the device unless their maker is told another."""

    def __init__(self, device):
        self.device = _C.device(device)

    def __enter__(self):
        self.device.__enter__()
        return super().__enter__()

    def __exit__(self, *error):
        super().__exit__(*error)
        self.device.__exit__(*error)
