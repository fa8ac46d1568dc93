"""Flattens nested inputs to the lists that a traced function takes; generated code calls it."""
import collections


def tree_flatten_spec(pytree, spec):
    """The leaves of a nest of the shape `spec`, each taken by its place: parts may be proxies, of which the type is not known."""
    if spec.is_leaf():
        return [pytree]
    kind = spec.type
    if kind not in _spec_flatteners:
        raise RuntimeError(f"{type(pytree)} does not have a flatten_fn_spec associated with it. Please register one with "
                           "torch.fx._pytree.register_pytree_flatten_spec.  If you have serialized your model, make sure that any custom "
                           "pytrees have been registered before loading it.")
    if isinstance(pytree, (list, tuple, dict)) and len(pytree) != len(spec.children_specs):
        raise ValueError(f"expected {len(spec.children_specs)} elements of a {spec.type.__name__}, got {len(pytree)}")
    parts = _spec_flatteners[kind][0](pytree, spec)
    return [leaf for part, child in zip(parts, spec.children_specs) for leaf in tree_flatten_spec(part, child)]


_spec_flatteners = {}


def register_pytree_flatten_spec(cls, flatten_fn_spec, flatten_fn_exact_match_spec=None):
    """Says how the parts of an object of a class are taken by their places: flatten_fn_spec(object, spec) gives them."""
    _spec_flatteners[cls] = flatten_fn_spec, flatten_fn_exact_match_spec


def _items(nest, spec):
    return [nest[i] for i in range(len(spec.children_specs))]


def _values(nest, spec):
    return [nest[key] for key in spec.context]


for _cls in (list, tuple, collections.namedtuple):
    register_pytree_flatten_spec(_cls, _items)
for _cls in (dict, collections.OrderedDict):
    register_pytree_flatten_spec(_cls, _values)
del _cls
