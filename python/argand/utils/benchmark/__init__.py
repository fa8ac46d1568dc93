"""Times of statements, measured and compared, as torch.utils.benchmark."""
from . import utils  # noqa: F401
from .utils.common import Measurement, TaskSpec, ordered_unique, select_unit, trim_sigfig, unit_to_english  # noqa: F401
from .utils.compare import Colorize, Compare  # noqa: F401
from .utils.timer import Language, Timer, timer  # noqa: F401
