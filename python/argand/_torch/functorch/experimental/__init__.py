"""functorch.experimental: names that torch.func has now, and vmap by a number of chunks."""
from ....func import functionalize, hessian, jacfwd, jvp, replace_all_batch_norm_modules_, vmap  # noqa: F401
from ....func._vmap import by_chunks


def chunk_vmap(func, in_dims=0, out_dims=0, randomness="error", chunks=2):
    """vmap, for which the random numbers of the slices are drawn in this number of parts."""
    if chunks < 1:
        raise ValueError(f"chunk_vmap: chunks must be at least 1, got {chunks}")
    return by_chunks(func, in_dims, out_dims, randomness, lambda n: -(-n // chunks) or None)
