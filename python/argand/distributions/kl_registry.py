"""Which function is the Kullback-Leibler divergence of which pair of distributions."""
import warnings

from .distribution import Distribution

_KL_REGISTRY = {}
_found = {}


def register_kl(type_p, type_q):
    """A decorator: the function is kl_divergence() of these types and of their subclasses that have none of their own."""
    for name, given in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(given, type):  # a class of somebody else's distributions may be none of ours
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {given}")

    def register(function):
        _KL_REGISTRY[type_p, type_q] = function
        _found.clear()
        return function
    return register


def _dispatch_kl(type_p, type_q):
    """The function of the nearest types: nearest to p, then to q; NotImplemented if there is none."""
    distances = {pair: tuple(given.__mro__.index(known) for given, known in zip((type_p, type_q), pair))
                 for pair in _KL_REGISTRY if issubclass(type_p, pair[0]) and issubclass(type_q, pair[1])}
    if not distances:
        return NotImplemented
    left, right = min(distances, key=distances.get), min(distances, key=lambda pair: distances[pair][::-1])
    if _KL_REGISTRY[left] is not _KL_REGISTRY[right]:
        warnings.warn(f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). Please "
                      f"register_kl({left[0].__name__}, {right[1].__name__})", RuntimeWarning, stacklevel=4)
    return _KL_REGISTRY[left]


def kl_divergence(p, q):
    """The expected log_prob of p less that of q, for values of p."""
    types = type(p), type(q)
    if types not in _found:
        _found[types] = _dispatch_kl(*types)
    if _found[types] is NotImplemented:
        raise NotImplementedError(f"No KL(p || q) is implemented for p type {types[0].__name__} and q type {types[1].__name__}")
    return _found[types](p, q)
