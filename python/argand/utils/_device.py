"""What a `with torch.device(...)` statement is, by the name that packages take."""
from .. import _C
from ..overrides import BaseTorchFunctionMode


class DeviceContext(BaseTorchFunctionMode):
    """Within it, tensors are made on a device."""

    def __init__(self, device):
        self.device = _C.device(device)

    def __enter__(self):
        self._before = _C._get_default_device()
        _C._set_default_device(self.device)
        return super().__enter__()

    def __exit__(self, *error):
        super().__exit__(*error)
        _C._set_default_device(self._before)
