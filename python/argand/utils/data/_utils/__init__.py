"""PyTorch's names for the parts of a DataLoader, which programs import although they are not public."""
import sys

from .. import collate, pin_memory, worker

for _part in (collate, pin_memory, worker):
    sys.modules[f"{__name__}.{_part.__name__.rpartition('.')[2]}"] = _part
