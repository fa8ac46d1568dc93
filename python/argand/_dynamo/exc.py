"""The errors of torch.compile."""
from .._compile import BackendCompilerFailed, InvalidBackend, TorchDynamoException, Unsupported  # noqa: F401
