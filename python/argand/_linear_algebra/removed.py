"""Linear algebra functions that PyTorch removed but still names: each raises an error that names its successor."""
_SUCCESSORS = {"eig": "torch.linalg.eig, whose results are complex", "lstsq": "torch.linalg.lstsq, which takes A before B",
               "matrix_rank": "torch.linalg.matrix_rank",
               "solve": "torch.linalg.solve, which takes A before B and gives no LU factorization",
               "symeig": "torch.linalg.eigh, which reads the lower half unless UPLO is 'U'"}


def _removed(name):
    def removed(*args, **kwargs):
        raise RuntimeError(f"{name}: This function was deprecated since version 1.9 and is now removed. Use {_SUCCESSORS[name]}.")
    removed.__name__ = removed.__qualname__ = name
    removed.__doc__ = f"Raises RuntimeError: use {_SUCCESSORS[name]}."
    return removed


eig, lstsq, matrix_rank, solve, symeig = map(_removed, _SUCCESSORS)
