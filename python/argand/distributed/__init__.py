"""What programs ask before they use torch.distributed.  Processes cannot be joined yet: is_available() says so."""


def is_available():
    """False: there are no process groups yet."""
    return False


def is_initialized():
    """False: there is no process group."""
    return False


def get_rank(group=None):
    """-1: this process is in no group."""
    return -1


def get_world_size(group=None):
    """-1: this process is in no group."""
    return -1


def init_process_group(*_, **__):
    """There are no process groups yet."""
    raise NotImplementedError("torch.distributed.init_process_group: processes cannot be joined yet; nn.DataParallel uses "
                              "all GPUs of one process")
