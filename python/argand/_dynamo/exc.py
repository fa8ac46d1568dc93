"""The errors of torch.compile."""
from .._compile import BackendCompilerFailed, InvalidBackend, TorchDynamoException, Unsupported  # noqa: F401
from .._named_modules import names_of as _names_of

__getattr__ = _names_of(__name__)
