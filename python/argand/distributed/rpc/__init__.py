"""Remote procedure calls, as torch.distributed.rpc: only names; they are not supported."""
from .._names import _needs_a_group, _never_made


def is_available():
    """False."""
    return False


def _is_current_rpc_agent_set():
    """False."""
    return False


for _name in ("init_rpc", "shutdown", "rpc_sync", "rpc_async", "remote", "get_worker_info"):
    globals()[_name] = _needs_a_group("rpc." + _name)
for _name in ("RRef", "WorkerInfo", "TensorPipeRpcBackendOptions", "RpcBackendOptions", "BackendType"):
    globals()[_name] = _never_made("rpc." + _name)
del _name
