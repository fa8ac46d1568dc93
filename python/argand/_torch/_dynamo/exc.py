"""The errors of torch.compile."""
from ..._compiling.models import BackendCompilerFailed, InvalidBackend, TorchDynamoException, Unsupported  # noqa: F401
from ... import _surface

__getattr__, __dir__ = _surface.of(__name__)
