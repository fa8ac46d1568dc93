"""Nests of inputs as the flat lists that a traced function takes: what generated code calls."""


def tree_flatten_spec(pytree, spec):
    """The leaves of the arguments [x, y...], a nest of the shape `spec`; ValueError if it has another."""
    return spec.flatten_up_to(tuple(pytree))


_spec_flatteners = {}


def register_pytree_flatten_spec(cls, flatten_fn_spec, flatten_fn_exact_match_spec=None):
    """Kept for programs that ask: specs flatten what utils._pytree knows, and a class must be registered there."""
    _spec_flatteners[cls] = flatten_fn_spec, flatten_fn_exact_match_spec
