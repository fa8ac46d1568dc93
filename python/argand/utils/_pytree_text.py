"""Shapes of nests as texts: JSON, as PyTorch writes and reads it."""
import collections
import enum
import importlib
import json
import sys

from . import _pytree
from ._pytree import LeafSpec, TreeSpec

_PROTOCOL = 1


def _defaultdict_dumpable(context):
    factory, keys = context
    return {"default_factory_module": factory.__module__, "default_factory_name": factory.__qualname__, "dict_context": keys}


def _defaultdict_context(data):
    module, name = data["default_factory_module"], data["default_factory_name"]
    if module != "builtins":  # a text names no other code to call
        raise ValueError(f"treespec_loads: the default factory {module}.{name} is none of Python's own types")
    return [getattr(importlib.import_module(module), name), data["dict_context"]]


# type -> (its name, its context as what JSON has, and back); contexts without functions are texts of JSON themselves
_BUILTIN = {cls: (f"{cls.__module__}.{cls.__name__}", None, None)
            for cls in (list, tuple, dict, collections.OrderedDict, collections.deque)}
_BUILTIN[collections.defaultdict] = "collections.defaultdict", _defaultdict_dumpable, _defaultdict_context
_namedtuples = {}  # name -> class


def _register_namedtuple(cls, *, serialized_type_name):
    """The name of a named tuple in texts."""
    _namedtuples[serialized_type_name] = cls


def _member(value):
    """A member of an enum in a context."""
    if not isinstance(value, enum.Enum):
        raise TypeError(f"{value!r} is nothing that JSON has")
    return {"__enum__": True, "fqn": f"{type(value).__module__}:{type(value).__qualname__}", "name": value.name}


def _member_of(data):
    if not data.get("__enum__"):
        return data
    module, _, name = data["fqn"].partition(":")
    found = sys.modules.get(module)  # a text imports nothing
    for part in name.split("."):
        found = getattr(found, part, None)
    if not (isinstance(found, type) and issubclass(found, enum.Enum)):
        raise ValueError(f"treespec_loads: {data['fqn']} is no enum of a module that is loaded")
    return found[data["name"]]


def _as_json(spec):
    if spec.is_leaf():
        return {"type": None, "context": None, "children_spec": []}
    children = [_as_json(c) for c in spec.children_specs]
    if spec.type is collections.namedtuple:
        name = next((n for n, cls in _namedtuples.items() if cls is spec.context), None)
        if name is None:
            raise NotImplementedError(f"Can't serialize TreeSpec of namedtuple class {spec.context} because we didn't register a "
                                      "serialized_type_name. Please register using `_register_namedtuple`.")
        return {"type": "collections.namedtuple", "context": name, "children_spec": children}
    known = _BUILTIN.get(spec.type) or _pytree.SERIALIZED_NAMES.get(spec.type)
    if known is None:
        raise NotImplementedError(f"No registered serialization name for {spec.type} found. Please update your _register_pytree_node call "
                                  "with a `serialized_type_name` kwarg.")
    name, dumpable, _ = known
    try:
        context = dumpable(spec.context) if dumpable else json.dumps(spec.context, default=_member)
    except TypeError as error:
        raise TypeError("Unable to serialize context. Please make the context json dump-able, or register a custom serializer using "
                        "_register_pytree_node.") from error
    return {"type": name, "context": context, "children_spec": children}


def _from_json(data):
    if data["type"] is None:
        return LeafSpec()
    children = [_from_json(c) for c in data["children_spec"]]
    if data["type"] == "collections.namedtuple":
        cls = _namedtuples.get(data["context"])
        if cls is None:
            raise NotImplementedError(f"Can't deserialize TreeSpec of namedtuple {data['context']}: register it by `_register_namedtuple`.")
        return TreeSpec(collections.namedtuple, cls, children)
    for cls, (name, _, back) in (*_BUILTIN.items(), *_pytree.SERIALIZED_NAMES.items()):
        if name == data["type"]:
            return TreeSpec(cls, back(data["context"]) if back else json.loads(data["context"], object_hook=_member_of), children)
    raise NotImplementedError(f"Deserializing {data['type']} in pytree is not registered.")


def treespec_dumps(treespec, protocol=None):
    """The shape as a text."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError("treespec_dumps(treespec, protocol): Expected `treespec` to be an instance of PyTreeSpec but got item of type "
                        f"{type(treespec)}.")
    if protocol not in (None, _PROTOCOL):
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: [{_PROTOCOL}]")
    return json.dumps((_PROTOCOL, _as_json(treespec)))


def treespec_loads(serialized):
    """The shape of such a text."""
    protocol, data = json.loads(serialized)
    if protocol != _PROTOCOL:
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: [{_PROTOCOL}]")
    return _from_json(data)


pytree_to_str, str_to_pytree = treespec_dumps, treespec_loads


class _Asterisk:
    def __repr__(self):
        return "*"


def treespec_pprint(treespec):
    """The nest with * for each leaf, as a text."""
    return repr(treespec.unflatten([_Asterisk()] * treespec.num_leaves))
