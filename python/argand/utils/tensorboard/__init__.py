"""Logs for TensorBoard, as torch.utils.tensorboard: files of the package tensorboard, which must be installed (ImportError)."""
import tensorboard

if tuple(int(part) for part in getattr(tensorboard, "__version__", "0.0").split(".")[:2]) < (1, 15):
    raise ImportError("TensorBoard logging requires TensorBoard version 1.15 or above")

from tensorboard.summary.writer.record_writer import RecordWriter  # noqa: E402,F401

from .writer import FileWriter, SummaryWriter  # noqa: E402,F401
