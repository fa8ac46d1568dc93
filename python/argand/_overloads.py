"""Ops as objects: torch.ops.aten.add is a packet of overloads, torch.ops.aten.add.Tensor is one of them."""
from . import _C
from ._schemas import schemas_of


class OpOverload:
    """An overload of an op.  A call is one of the function that the packet has."""

    def __init__(self, packet, overload, schema):
        self._overloadpacket, self._overloadname, self._schema = packet, overload, schema
        self.namespace, self._opname = packet._namespace, packet._name
        self.__name__ = f"{packet._name}.{overload}"
        self.__qualname__, self.__module__ = self.__name__, f"torch._ops.{packet._namespace}"
        self._outs = [a.name for a in schema.arguments if a.is_out] if schema else []

    def __call__(self, /, *args, **kwargs):
        relevant = _tensors(args, kwargs)
        if _C._is_overridden(relevant):
            return _C._call_override(self, relevant, args, kwargs)
        return self._run(args, kwargs)

    def _run(self, args, kwargs):
        if "self" in kwargs:
            kwargs = dict(kwargs)
            args = (kwargs.pop("self"), *args)
        if self._outs and "out" not in kwargs:
            kwargs = dict(kwargs)
            kwargs["out"] = tuple(kwargs.pop(name) for name in self._outs)
        return self._overloadpacket._function(*args, **kwargs)

    op = property(lambda self: self._overloadpacket._function)
    overloadpacket = property(lambda self: self._overloadpacket)
    tags = ()

    @property
    def is_view(self):
        """Whether results are views of arguments."""
        return self._schema is not None and not self._schema.is_mutable and any(a.alias_info for a in self._schema.arguments)

    def name(self):
        """aten::add.Tensor; the overload without a name is left out."""
        return f"{self.namespace}::{self._opname}" + ("" if self._overloadname == "default" else f".{self._overloadname}")

    def has_kernel_for_dispatch_key(self, key):
        """Whether PyTorch makes the op of others, for the key of that; True for all others."""
        if getattr(key, "name", key) == "CompositeImplicitAutograd":
            return self._schema is not None and self._schema.is_composite
        return True

    def decompose(self, *args, **kwargs):
        """Computes the call by other ops; NotImplemented if no decomposition is known."""
        from ._decompositions import decomposition
        made = decomposition(self)
        return NotImplemented if made is None else made(*args, **kwargs)

    def __hash__(self):
        return hash((self.namespace, self._opname, self._overloadname))

    def __eq__(self, other):
        return self is other or (isinstance(other, OpOverload) and str(self) == str(other))

    def __repr__(self):
        return f"<OpOverload(op='{self.namespace}.{self._opname}', overload='{self._overloadname}')>"

    def __str__(self):
        return f"{self.namespace}.{self._opname}.{self._overloadname}"

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return find, (self.namespace, self._opname, self._overloadname)


class OpOverloadPacket:
    """An op and, as its attributes, its overloads.  `function` is what a call runs, whichever overload is meant."""

    def __init__(self, namespace, name, function, schemas=None):
        self._namespace, self._name, self._function = namespace, name, function
        self._schemas = schemas_of(name) if schemas is None and namespace == "aten" else schemas or {}
        self._made = {}
        self.__name__ = name
        self.__module__ = f"torch._ops.{namespace}"

    def __call__(self, /, *args, **kwargs):
        relevant = _tensors(args, kwargs)
        if any(not isinstance(a, _C.Tensor) for a in relevant) and _C._is_overridden(relevant):
            return _C._call_override(self, relevant, args, kwargs)  # a trace sees which op it was
        return self._function(*args, **kwargs)

    def __getattr__(self, overload):
        if overload.startswith("_"):  # also what copies ask before there is anything
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{overload}'")
        if self._schemas and overload not in self._schemas:
            raise AttributeError(f"The underlying op of '{self}' has no overload name '{overload}'")
        found = self._made.get(overload)
        if found is None:
            found = self._made.setdefault(overload, OpOverload(self, overload, self._schemas.get(overload)))
        return found

    def overloads(self):
        """The names of the overloads."""
        return list(self._schemas) or ["default"]

    @property
    def qualified_name(self):
        """aten::add."""
        return f"{self._namespace}::{self._name}"

    _qualified_op_name = qualified_name
    op = property(lambda self: self._function)

    def name(self):
        """aten::add."""
        return self.qualified_name

    def __iter__(self):
        return iter(self.overloads())

    def __repr__(self):
        return f"<OpOverloadPacket(op='{self}')>"

    def __str__(self):
        return f"{self._namespace}.{self._name}"

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return find, (self._namespace, self._name)


def find(namespace, *names):
    """What torch.ops has under names, one within the other."""
    from .library import ops  # upward: the ops that programs have defined are among them
    found = getattr(ops, namespace)
    for name in names:
        found = getattr(found, name)
    return found


def _tensors(args, kwargs):
    """The tensors, and what overrides functions as they do, among arguments and in lists of them."""
    found = []
    for a in (*args, *kwargs.values()):
        if hasattr(type(a), "__torch_function__"):
            found.append(a)
        elif isinstance(a, (list, tuple)):
            found += [t for t in a if hasattr(type(t), "__torch_function__")]
    return tuple(found)
