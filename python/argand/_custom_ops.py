"""The old place of torch.library, which packages import beside it."""
from .library import get_ctx, impl_abstract  # noqa: F401
