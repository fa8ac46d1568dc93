"""The environment variables of workers, and the prefixes of their output lines."""
import os
import socket
from string import Template


def worker_environments(config, order, place, rendezvous):
    """{local rank: variables} for the workers of one node in a round; `place` is the node's in the order."""
    group_rank, first_rank, first_in_role, role_size = place
    common = {
        "GROUP_RANK": group_rank, "GROUP_WORLD_SIZE": len(order["nodes"]), "ROLE_NAME": config.role, "ROLE_WORLD_SIZE": role_size,
        "LOCAL_WORLD_SIZE": config.nproc_per_node, "WORLD_SIZE": order["world"],
        "MASTER_ADDR": rendezvous.master_addr, "MASTER_PORT": order.get("port", rendezvous.master_port),
        "TORCHELASTIC_RESTART_COUNT": order["restarts"], "TORCHELASTIC_MAX_RESTARTS": config.max_restarts,
        "TORCHELASTIC_RUN_ID": config.run_id, "TORCHELASTIC_USE_AGENT_STORE": "True",
        "TORCHELASTIC_SIGNALS_TO_HANDLE": config.signals_to_handle,
        "TORCH_NCCL_ASYNC_ERROR_HANDLING": os.environ.get("TORCH_NCCL_ASYNC_ERROR_HANDLING", "1"),
    }
    common = {name: str(value) for name, value in common.items()}
    return {rank: {**common, "RANK": str(first_rank + rank), "ROLE_RANK": str(first_in_role + rank), **_local(config, rank)}
            for rank in range(config.nproc_per_node)}


def _local(config, rank):
    if not config.virtual_local_rank:
        return {"LOCAL_RANK": str(rank)}
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return {"LOCAL_RANK": "0", "CUDA_VISIBLE_DEVICES": str(rank)}
    devices = visible.split(",")
    if rank >= len(devices):
        raise ValueError(f"--virtual-local-rank: local rank {rank} has no GPU among CUDA_VISIBLE_DEVICES={visible}")
    return {"LOCAL_RANK": "0", "CUDA_VISIBLE_DEVICES": devices[rank].strip()}


def log_prefixes(config, environments):
    """{local rank: what stands before its lines}; None without a template."""
    if not config.log_line_prefix_template:
        return None
    template, host = Template(config.log_line_prefix_template), socket.gethostname()
    return {rank: template.safe_substitute(role_name=config.role, rank=variables["RANK"], local_rank=rank, hostname=host)
            for rank, variables in environments.items()}
