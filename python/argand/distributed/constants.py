"""How long collectives wait, as torch.distributed.constants."""
from datetime import timedelta

default_pg_timeout = timedelta(minutes=30)
default_pg_nccl_timeout = timedelta(minutes=10)
