"""Immutable lists and dicts, for the arguments of nodes."""
from ..utils import _pytree
from ..utils._pytree import register_pytree_node

__all__ = ["immutable_list", "immutable_dict"]


def _no_mutation(self, *args, **kwargs):
    raise TypeError(f"'{type(self).__name__}' object does not support mutation. If you are attempting to modify the "
                    "kwargs or args of a torch.fx.Node object,\ninstead create a new copy of it and assign the copy to "
                    "the node:\n\n    new_args = ...  # copy and mutate args\n    node.args = new_args")


class immutable_list(list):
    """A list that refuses to change."""

    for _name in ("append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort", "__delitem__", "__iadd__", "__imul__",
                  "__setitem__"):
        locals()[_name] = _no_mutation
    del _name

    def __hash__(self):
        return hash(tuple(self))

    def __reduce__(self):
        return immutable_list, (tuple(self),)


class immutable_dict(dict):
    """A dict that refuses to change."""

    for _name in ("clear", "pop", "popitem", "setdefault", "update", "__delitem__", "__ior__", "__setitem__"):
        locals()[_name] = _no_mutation
    del _name

    def __hash__(self):
        return hash(frozenset(self.items()))

    def __reduce__(self):
        return immutable_dict, (tuple(self.items()),)


register_pytree_node(immutable_list, lambda d: (list(d), None), lambda values, context: immutable_list(values),
                     flatten_with_keys_fn=_pytree._list_flatten_with_keys)
register_pytree_node(immutable_dict, lambda d: (list(d.values()), list(d)), lambda values, context: immutable_dict(zip(context, values)),
                     flatten_with_keys_fn=_pytree._dict_flatten_with_keys)
