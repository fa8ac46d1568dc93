"""Mixed precision, as torch.amp."""


class autocast:
    """To come."""
