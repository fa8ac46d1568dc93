"""NCCL, which is not used."""
from .._ignored import harmless
from .._refused import refused


@harmless(tensors="NCCL is not used for any")
def is_available(tensors=()):
    """False."""
    return False


version, unique_id, all_reduce, reduce, broadcast, all_gather, reduce_scatter = (
    refused("torch.cuda.nccl." + name, "processes are not joined by it; nn.DataParallel uses all GPUs of one process")
    for name in ("version", "unique_id", "all_reduce", "reduce", "broadcast", "all_gather", "reduce_scatter"))
