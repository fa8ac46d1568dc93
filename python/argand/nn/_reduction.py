"""The reductions of losses: their names, their numbers in the library, and the older pair of flags."""
import warnings

_NUMBERS = {"none": 0, "mean": 1, "sum": 2}


def get_enum(reduction):
    """The number of "none", "mean" or "sum"."""
    if reduction == "elementwise_mean":
        warnings.warn("reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.", stacklevel=2)
        reduction = "mean"
    if reduction not in _NUMBERS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return _NUMBERS[reduction]


def legacy_get_string(size_average, reduce, emit_warning=True):
    """The reduction that size_average and reduce meant."""
    size_average = True if size_average is None else size_average
    reduce = True if reduce is None else reduce
    name = "none" if not reduce else "mean" if size_average else "sum"
    if emit_warning:
        warnings.warn(f"size_average and reduce args will be deprecated, please use reduction='{name}' instead.",
                      stacklevel=3)
    return name


def legacy_get_enum(size_average, reduce, emit_warning=True):
    """The number of the reduction that size_average and reduce meant."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))


def number(reduction, size_average, reduce):
    """The number of a loss's reduction, given all its arguments."""
    if size_average is not None or reduce is not None:
        return legacy_get_enum(size_average, reduce)
    return get_enum(reduction)
