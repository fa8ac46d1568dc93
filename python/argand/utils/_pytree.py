"""Nested lists, tuples, dicts and what programs register beside them, as flat lists of leaves: torch.utils._pytree.

A TreeSpec is the shape of such a nest: tree_unflatten(tree_leaves(x), tree_structure(x)) == x.  None is a leaf.
"""
import collections
import types
import typing
import warnings

from .. import _surface

__all__ = ["PyTree", "Context", "FlattenFn", "UnflattenFn", "DumpableContext", "ToDumpableContextFn", "FromDumpableContextFn", "PyTreeSpec",
           "TreeSpec", "LeafSpec", "keystr", "key_get", "register_pytree_node", "tree_is_leaf", "tree_flatten", "tree_flatten_with_path",
           "tree_unflatten", "tree_iter", "tree_leaves", "tree_leaves_with_path", "tree_structure", "tree_map", "tree_map_with_path",
           "tree_map_", "tree_map_only", "tree_map_only_", "tree_all", "tree_any", "tree_all_only", "tree_any_only", "treespec_dumps",
           "treespec_loads", "treespec_pprint", "is_namedtuple", "is_namedtuple_class", "is_namedtuple_instance", "is_structseq",
           "is_structseq_class", "is_structseq_instance"]

PyTree = Context = DumpableContext = typing.Any
ToDumpableContextFn = FromDumpableContextFn = typing.Callable


FlattenFn = FlattenFunc = FlattenWithKeysFn = FlattenWithKeysFunc = UnflattenFn = UnflattenFunc = typing.Callable
KeyEntry = typing.Any


class NodeDef(typing.NamedTuple):
    """How a type is taken apart (into children and a context) and put together."""
    type: type
    flatten_fn: typing.Callable
    unflatten_fn: typing.Callable
    flatten_with_keys_fn: typing.Optional[typing.Callable] = None


class MappingKey(typing.NamedTuple):
    """The step of a path into a dict."""
    key: typing.Any

    def __str__(self):
        return f"[{self.key!r}]"

    def get(self, mapping):
        """What stands there."""
        return mapping[self.key]


class SequenceKey(typing.NamedTuple):
    """The step of a path into a list or tuple."""
    idx: int

    def __str__(self):
        return f"[{self.idx!r}]"

    def get(self, sequence):
        """What stands there."""
        return sequence[self.idx]


class GetAttrKey(typing.NamedTuple):
    """The step of a path into a named tuple."""
    name: str

    def __str__(self):
        return f".{self.name}"

    def get(self, obj):
        """What stands there."""
        return getattr(obj, self.name)


def keystr(kp):
    """A path as text: "['a'][0]"."""
    return "".join(str(k) for k in kp)


def key_get(obj, kp):
    """The part of obj at the end of a path."""
    for key in kp:
        obj = key.get(obj)
    return obj


SUPPORTED_NODES = {}
SERIALIZED_NAMES = {}  # type -> (its name in texts, its context as what JSON has, and back)


def register_pytree_node(cls, flatten_fn, unflatten_fn, *, serialized_type_name=None, to_dumpable_context=None,
                         from_dumpable_context=None, flatten_with_keys_fn=None):
    """From now on objects of `cls` are nodes: flatten_fn(x) -> (children, context), unflatten_fn(children, context) -> x."""
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    _register(cls, flatten_fn, unflatten_fn, serialized_type_name, to_dumpable_context, from_dumpable_context, flatten_with_keys_fn)


def _register(cls, flatten_fn, unflatten_fn, serialized_type_name, to_dumpable_context, from_dumpable_context, flatten_with_keys_fn):
    if (to_dumpable_context is None) != (from_dumpable_context is None):
        raise ValueError(f"Both to_dumpable_context and from_dumpable_context for {cls} must be None or registered.")
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)
    if serialized_type_name is not None:
        SERIALIZED_NAMES[cls] = serialized_type_name, to_dumpable_context, from_dumpable_context


def _deregister_pytree_node(cls):
    """Objects of `cls` are leaves again."""
    del SUPPORTED_NODES[cls]
    SERIALIZED_NAMES.pop(cls, None)
    CONSTANT_NODES.discard(cls)


def register_dataclass(cls, *, field_names=None, drop_field_names=None, serialized_type_name=None):
    """From now on objects of a dataclass, or of a class made by its fields' names, are nodes with the fields that are not None."""
    if field_names is None:
        import dataclasses
        if not dataclasses.is_dataclass(cls):
            raise ValueError("field_names must be specified with a list of all fields used to initialize the class if it is not a "
                             "dataclass.")
        field_names = [f.name for f in dataclasses.fields(cls) if f.init and f.name not in (drop_field_names or ())]
    names = list(field_names)

    def flatten(obj):
        present = [n for n in names if getattr(obj, n) is not None]
        return [getattr(obj, n) for n in present], (present, [n for n in names if n not in present])

    def with_keys(obj):
        values, context = flatten(obj)
        return [(GetAttrKey(n), v) for n, v in zip(context[0], values)], context

    def unflatten(values, context):
        return cls(**dict(zip(context[0], values)), **dict.fromkeys(context[1]))
    register_pytree_node(cls, flatten, unflatten, serialized_type_name=serialized_type_name, flatten_with_keys_fn=with_keys)


CONSTANT_NODES = set()


def register_constant(cls):
    """From now on objects of `cls`, which compares by value, are nodes without leaves."""
    if cls.__eq__ is object.__eq__ or cls.__hash__ in (None, object.__hash__):
        raise TypeError(f"register_constant(cls) expects `cls` to have a non-default `__eq__` and `__hash__` implementation, got {cls}")
    register_pytree_node(cls, lambda obj: ([], obj), lambda _, context: context, flatten_with_keys_fn=lambda obj: ([], obj))
    CONSTANT_NODES.add(cls)


def is_constant_class(cls):
    """Whether register_constant() was told of it."""
    return cls in CONSTANT_NODES


def _private_register_pytree_node(cls, flatten_fn, unflatten_fn, *, serialized_type_name=None, to_dumpable_context=None,
                                  from_dumpable_context=None, flatten_with_keys_fn=None):
    """register_pytree_node(), which also replaces what it was told before, with a warning."""
    if cls in SUPPORTED_NODES:
        warnings.warn(f"{cls} is already registered as pytree node. Overwriting the previous registration.", stacklevel=2)
        SERIALIZED_NAMES.pop(cls, None)
    _register(cls, flatten_fn, unflatten_fn, serialized_type_name, to_dumpable_context, from_dumpable_context, flatten_with_keys_fn)


def _register_pytree_node(cls, flatten_fn, unflatten_fn, **options):
    """The name that register_pytree_node() had: deprecated."""
    warnings.warn("`torch.utils._pytree._register_pytree_node` is deprecated. Please use `torch.utils._pytree.register_pytree_node` instead.",
                  FutureWarning, stacklevel=2)
    _private_register_pytree_node(cls, flatten_fn, unflatten_fn, **options)


def _dict_flatten(d):
    return list(d.values()), list(d)


def _dict_flatten_with_keys(d):
    values, context = _dict_flatten(d)
    return [(MappingKey(k), v) for k, v in zip(context, values)], context


def _dict_unflatten(values, context):
    return dict(zip(context, values))


def _sequence_with_keys(flatten):
    def with_keys(x):
        values, context = flatten(x)
        return [(SequenceKey(i), v) for i, v in enumerate(values)], context
    return with_keys


def _list_flatten(d):
    return d, None


def _list_flatten_with_keys(d):
    return [(SequenceKey(i), v) for i, v in enumerate(d)], None


_tuple_flatten_with_keys = _list_flatten_with_keys


def _list_unflatten(values, context):
    return list(values)


def _namedtuple_flatten(d):
    return list(d), type(d)


def _namedtuple_with_keys(d):
    return [(GetAttrKey(name), getattr(d, name)) for name in d._fields], type(d)


def _defaultdict_flatten(d):
    return list(d.values()), [d.default_factory, list(d)]


def _defaultdict_with_keys(d):
    values, context = _defaultdict_flatten(d)
    return [(MappingKey(k), v) for k, v in zip(context[1], values)], context


def _sequence(cls, unflatten):
    def flatten(x):
        return list(x), None
    register_pytree_node(cls, flatten, unflatten, flatten_with_keys_fn=_sequence_with_keys(flatten))


_sequence(list, _list_unflatten)
_sequence(tuple, lambda values, context: tuple(values))
register_pytree_node(dict, _dict_flatten, _dict_unflatten, flatten_with_keys_fn=_dict_flatten_with_keys)
register_pytree_node(collections.OrderedDict, _dict_flatten,
                     lambda values, context: collections.OrderedDict(zip(context, values)),
                     flatten_with_keys_fn=_dict_flatten_with_keys)
register_pytree_node(collections.defaultdict, _defaultdict_flatten,
                     lambda values, context: collections.defaultdict(context[0], zip(context[1], values)),
                     flatten_with_keys_fn=_defaultdict_with_keys)
register_pytree_node(collections.deque, lambda d: (list(d), d.maxlen),
                     lambda values, context: collections.deque(values, maxlen=context),
                     flatten_with_keys_fn=_sequence_with_keys(lambda d: (list(d), d.maxlen)))
_NAMED_TUPLE = NodeDef(tuple, _namedtuple_flatten, lambda values, context: context(*values), _namedtuple_with_keys)
SUPPORTED_NODES[collections.namedtuple] = _NAMED_TUPLE  # as PyTorch has it, for those who look for _get_node_type()
BUILTIN_TYPES = frozenset(SUPPORTED_NODES)


def is_namedtuple(obj):
    """Whether obj is a named tuple, or a class of them."""
    cls = obj if isinstance(obj, type) else type(obj)
    return issubclass(cls, tuple) and isinstance(getattr(cls, "_fields", None), tuple)


is_namedtuple_class = is_namedtuple_instance = is_namedtuple


def is_structseq(obj):
    """Whether obj is a named tuple of the library's own (as max(dim) returns), or of Python's (os.stat_result), or such a class."""
    cls = obj if isinstance(obj, type) else type(obj)
    return cls.__bases__ == (tuple,) and all(isinstance(getattr(cls, n, None), int) for n in
                                             ("n_fields", "n_sequence_fields", "n_unnamed_fields"))


is_structseq_class = is_structseq_instance = is_structseq


def _get_node_type(tree):
    """Under which key SUPPORTED_NODES has it, if it is a node."""
    return collections.namedtuple if type(tree) not in SUPPORTED_NODES and is_namedtuple(type(tree)) else type(tree)


def _node(tree, is_leaf=None):
    """How tree is taken apart, None if it is a leaf."""
    if is_leaf is not None and is_leaf(tree):
        return None
    found = SUPPORTED_NODES.get(type(tree))
    if found is None and isinstance(tree, tuple):
        if is_namedtuple(type(tree)):
            return _NAMED_TUPLE
        if type(tree).__module__ == "torch.return_types":  # of max(dim), sort(), ...: known from now on
            _sequence(type(tree), lambda values, context, cls=type(tree): cls(values))
            return SUPPORTED_NODES[type(tree)]
    return found


class TreeSpec:
    """The shape of a nest: the node's type, its context, and the shapes of its children.  A leaf has no type."""

    def __init__(self, type, context=None, children_specs=()):
        self.type, self.context, self.children_specs = type, context, list(children_specs)
        self.num_children = len(self.children_specs)
        self.num_leaves = 1 if type is None else sum(c.num_leaves for c in self.children_specs)
        self.num_nodes = 1 + sum(c.num_nodes for c in self.children_specs)

    def is_leaf(self):
        """Whether it is the shape of a leaf."""
        return self.type is None

    def __eq__(self, other):
        return (isinstance(other, TreeSpec) and self.type is other.type and self.context == other.context
                and self.children_specs == other.children_specs)

    def __hash__(self):
        return hash((self.type, self.num_leaves, self.num_nodes))

    def __repr__(self):
        return self._text(0)

    def _text(self, indent):
        if self.is_leaf():
            return "*"
        children = f",\n{' ' * (indent + 2)}".join(c._text(indent + 2) for c in self.children_specs)
        return f"TreeSpec({self.type.__name__}, {self.context}, [{children}])"

    def unflatten(self, leaves):
        """The nest of this shape with these leaves."""
        leaves = list(leaves)
        if len(leaves) != self.num_leaves:
            raise ValueError(f"treespec.unflatten(leaves): `leaves` has length {len(leaves)} but the spec refers to a pytree that "
                             f"holds {self.num_leaves} items ({self}).")
        return self._build(iter(leaves))

    def _build(self, leaves):
        if self.is_leaf():
            return next(leaves)
        children = [c._build(leaves) for c in self.children_specs]
        return SUPPORTED_NODES[self.type].unflatten_fn(children, self.context)

    def flatten_up_to(self, tree):
        """What stands in `tree`, which has this shape and may go deeper, at the places of the leaves."""
        if self.is_leaf():
            return [tree]
        node = _node(tree)
        if node is None or _get_node_type(tree) is not self.type:
            raise ValueError(f"Type mismatch; expected {self.type!r}, but got {type(tree)!r}.")
        children, context = node.flatten_fn(tree)
        if context != self.context or len(children) != self.num_children:
            raise ValueError(f"Node context mismatch; expected {self.context!r}, but got {context!r}.")
        return [leaf for spec, child in zip(self.children_specs, children) for leaf in spec.flatten_up_to(child)]


class LeafSpec(TreeSpec):
    """The shape of a leaf."""

    def __init__(self):
        super().__init__(None)


PyTreeSpec = TreeSpec


def treespec_leaf():
    """The shape of a leaf."""
    return LeafSpec()


def treespec_tuple(iterable=()):
    """The shape of a tuple of such shapes."""
    return TreeSpec(tuple, None, iterable)


def treespec_dict(mapping=(), /, **kwargs):
    """The shape of a dict of such shapes."""
    children = dict(mapping, **kwargs)
    return TreeSpec(dict, list(children), children.values())


def _walk(tree, leaves, is_leaf):
    node = _node(tree, is_leaf)
    if node is None:
        leaves.append(tree)
        return LeafSpec()
    children, context = node.flatten_fn(tree)
    return TreeSpec(_get_node_type(tree), context, [_walk(c, leaves, is_leaf) for c in children])


def tree_flatten(tree, is_leaf=None):
    """(the leaves of the nest, its shape)"""
    leaves = []
    spec = _walk(tree, leaves, is_leaf)
    return leaves, spec


def tree_unflatten(leaves, treespec):
    """The nest of a shape with these leaves."""
    return treespec.unflatten(leaves)


def tree_iter(tree, is_leaf=None):
    """The leaves, one after the other."""
    return iter(tree_flatten(tree, is_leaf)[0])


def tree_leaves(tree, is_leaf=None):
    """The leaves of the nest."""
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree, is_leaf=None):
    """The shape of the nest."""
    return tree_flatten(tree, is_leaf)[1]


def tree_is_leaf(tree, is_leaf=None):
    """Whether tree is no node."""
    return _node(tree, is_leaf) is None


_is_leaf = tree_is_leaf


def arg_tree_leaves(*args, **kwargs):
    """The leaves of the arguments."""
    return [leaf for tree in (*args, *kwargs.values()) for leaf in tree_leaves(tree)]


def _broadcast_to_and_flatten(tree, treespec, is_leaf=None):
    """A list with as many values as `treespec` has leaves: a leaf of `tree` is repeated for all leaves of `treespec` that stand in its
    place.  None if the two do not fit."""
    if _node(tree, is_leaf) is None:
        return [tree] * treespec.num_leaves
    if treespec.is_leaf() or _get_node_type(tree) is not treespec.type:
        return None
    children, context = _node(tree).flatten_fn(tree)
    if context != treespec.context or len(children) != treespec.num_children:
        return None
    parts = [_broadcast_to_and_flatten(c, spec, is_leaf) for c, spec in zip(children, treespec.children_specs)]
    return None if None in parts else [leaf for part in parts for leaf in part]


def tree_map(func, tree, *rests, is_leaf=None):
    """The nest with func(leaf, *leaves of the others at the same place) for each leaf."""
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [spec.flatten_up_to(r) for r in rests]
    return spec.unflatten(func(*parts) for parts in zip(leaves, *others))


def tree_map_(func, tree, *rests, is_leaf=None):
    """Calls func as tree_map() does; returns the nest as it was."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def map_only(type_or_types_or_pred):
    """A decorator: the function is called for these types alone, other values stay."""
    def applies(x):
        if isinstance(type_or_types_or_pred, (type, tuple, types.UnionType)):
            return isinstance(x, type_or_types_or_pred)
        return type_or_types_or_pred(x)
    return lambda function: lambda x: function(x) if applies(x) else x


def tree_map_only(type_or_types_or_pred, func, tree, is_leaf=None):
    """tree_map() of the leaves of some types; the others stay."""
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(type_or_types_or_pred, func, tree, is_leaf=None):
    """Calls func as tree_map_only() does; returns the nest as it was."""
    tree_map_only(type_or_types_or_pred, func, tree, is_leaf)
    return tree


def tree_all_only(type_or_types, pred, tree, is_leaf=None):
    """Whether pred holds for all leaves of some types."""
    return all(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, type_or_types))


def tree_any_only(type_or_types, pred, tree, is_leaf=None):
    """Whether pred holds for a leaf of some types."""
    return any(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, type_or_types))


def tree_all(pred, tree, is_leaf=None):
    """Whether pred holds for all leaves."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred, tree, is_leaf=None):
    """Whether pred holds for a leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))


def _paths(tree, path, is_leaf):
    node = _node(tree, is_leaf)
    if node is None:
        yield path, tree
        return
    if node.flatten_with_keys_fn is None:
        raise ValueError(f"Did not find a flatten_with_keys_fn for type: {type(tree)}. Please pass a flatten_with_keys_fn argument to "
                         "register_pytree_node.")
    for key, child in node.flatten_with_keys_fn(tree)[0]:
        yield from _paths(child, (*path, key), is_leaf)


def tree_leaves_with_path(tree, is_leaf=None):
    """[(path, leaf), ...]"""
    return list(_paths(tree, (), is_leaf))


def tree_flatten_with_path(tree, is_leaf=None):
    """([(path, leaf), ...], the shape of the nest)"""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(func, tree, *rests, is_leaf=None):
    """tree_map() of func(path, leaf, ...)."""
    found, spec = tree_flatten_with_path(tree, is_leaf)
    others = [spec.flatten_up_to(r) for r in rests]
    return spec.unflatten(func(*with_path, *parts) for with_path, *parts in zip(found, *others))


__getattr__, __dir__ = _surface.of(__name__)
