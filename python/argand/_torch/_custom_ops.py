"""The old name of torch.library, which some packages still import."""
from ..library import get_ctx, impl_abstract  # noqa: F401
