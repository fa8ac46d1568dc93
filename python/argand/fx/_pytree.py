"""Nests of inputs as the flat lists that a traced function takes: what generated code calls."""


def tree_flatten_spec(pytree, spec):
    """The leaves of the arguments [x, y...], a nest of the shape `spec`; ValueError if it has another."""
    return spec.flatten_up_to(tuple(pytree))
