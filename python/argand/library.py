"""Ops of other packages, as torch.library: functions of Python with a name, and a gradient if one is registered.

custom_op("pack::op", mutates_args=()) makes torch.ops.pack.op of a function.  Tensors of the device "meta" go to what
register_fake() was given.  Ops that libraries in C++ define with TORCH_LIBRARY are found by the same names (_library_ops.py).
"""
import contextlib
import functools
import inspect
import re
import threading
import typing

from . import _C, _custom_calls, _dispatch, _library_ops, _surface
from ._ignored import harmless, ignored
from ._tags import Tag
from ._overloads import OpOverloadPacket
from ._surface.refusals import refused
from ._schemas import parse, schemas_of
from . import _aten_overrides
from .autograd import _vmap_levels
from .autograd.function import Function

_ops = {}
_of_libraries = {}  # the same of libraries in C++, made when they are first asked for
_fakes = {}  # what gives the results of an op for tensors of the device "meta", by its name; the op may be made later
_DEVICES = ("cpu", "cuda", "meta")


class _Below(threading.local):
    """The ops whose recorded function this thread is in."""

    def __init__(self):
        self.names = set()


_below = _Below()


class CustomOpDef:
    """A function with a name, which differentiates as register_autograd() says.

    _kernels are functions of devices by their types, _function is that of all others, None if there is none.  _mutated are the places
    and names of arguments that calls change.  _recorded are functions that autograd records, by device: they are called first, and
    what they call of this op is one of the others.  _is_checked: calls are compared with the schema (_custom_calls).
    """

    def __init__(self, name, function=None, tags=(), is_checked=False):
        self.tags, self._mutated, self._is_checked = tags, {}, is_checked
        self._name, self._kernels, self._function, self._backward, self._setup_context = name, {}, function, None, None
        self._recorded, self._vmap_rule = {}, None
        self.__name__ = name.rpartition("::")[2]
        if function is not None:
            functools.update_wrapper(self, function)

    @property
    def default(self):
        """The overload without a name: the op."""
        return self

    _opoverload = default

    def __getattr__(self, overload):
        if overload.startswith("_"):  # copies ask, before there is a _name
            raise AttributeError(overload)
        found = _find(f"{self._name}.{overload}")
        if found is None:
            raise AttributeError(f"'{self._name}' has no overload '{overload}'")
        return found

    def _bound(self, args, kwargs):
        """The arguments in their places."""
        return _custom_calls.bound(self._schema, args, kwargs) if self._is_checked else (args, kwargs)

    def __call__(self, *args, **kwargs):
        if self._vmap_rule is not None and _vmap_levels.active():
            done, result = _vmap_levels.rules.by_slice(self._vmap_rule, *self._bound(args, kwargs))
            if done:
                return result
        if self._recorded and self._name not in _below.names:
            recorded = self._recorded.get(self._device(*args, *kwargs.values()) or "cpu")
            if recorded is not None:
                _below.names.add(self._name)
                try:
                    return recorded(*args, **kwargs)
                finally:
                    _below.names.discard(self._name)
        args, kwargs = self._bound(args, kwargs)

        def function(*args, **kwargs):
            kernel = self._kernel(*args, *kwargs.values())
            result = _dispatch.ask_custom(self, kernel, args, kwargs)
            return result if not self._is_checked or self.is_view else _custom_calls.unshared(self, kernel, args, kwargs, result)

        if self._backward is None:
            result = (function(*args, **kwargs) if not self._is_checked else _custom_calls.without_gradient(
                self, lambda: function(*args, **kwargs), _custom_calls.tensors_in((*args, *kwargs.values()))))
        else:
            bound = inspect.signature(self._kernel(*args, *kwargs.values())).bind(*args, **kwargs)
            bound.apply_defaults()
            result = self._differentiable(function, bound.kwargs).apply(*bound.args)
        for place, name in self._mutated.items():
            self._note_change(args[place] if place < len(args) else kwargs.get(name))
        return result

    overloadpacket = default
    namespace = property(lambda self: self._name.partition("::")[0])

    @property
    def is_view(self):
        """Whether results are views of arguments, by the schema."""
        return not self._schema.is_mutable and any(a.alias_info for a in self._schema.arguments)

    def name(self):
        """pack::op."""
        return self._name

    def __str__(self):
        namespace, _, name = self._name.partition("::")
        return f"{namespace}.{name}" + ("" if "." in name else ".default")

    def _note_change(self, changed):
        """A graph that kept what a call changed says so in backward, however the function wrote to it."""
        for tensor in changed if isinstance(changed, (list, tuple)) else (changed,):
            if isinstance(tensor, _C.Tensor):
                _C._bump_version(tensor)

    @staticmethod
    def _device(*args):
        """The kind of device of these arguments: where they differ, the last of _DEVICES."""
        args = [a for arg in args for a in (arg if isinstance(arg, (list, tuple)) else (arg,))]
        return max((a.device.type for a in args if isinstance(a, _C.Tensor)), key=_DEVICES.index, default=None)

    def _kernel(self, *args):
        """The function for these arguments."""
        device = self._device(*args)
        function = self._kernels.get(device, self._function)
        if device == "meta" and "meta" not in self._kernels:
            function = _fakes.get(self._name, _custom_calls.fake_of_none(self) if self._is_checked else function)
        if function is None:
            raise NotImplementedError(f"Could not run '{self._name}' with arguments from the '{(device or 'cpu').upper()}' backend: "
                                      "no function was registered for it")
        return function

    def _differentiable(self, function, keywords):
        op = self

        class Differentiable(Function):
            @staticmethod
            def forward(ctx, *args):
                output = function(*args, **keywords)
                if op._setup_context is not None and keywords:  # of parameters that are given by name alone
                    op._setup_context(ctx=ctx, inputs=args, keyword_only_inputs=keywords, output=output)
                elif op._setup_context is not None:
                    op._setup_context(ctx, args, output)
                return output

            @staticmethod
            def backward(ctx, *grads):
                return op._backward(ctx, *grads)
        return Differentiable

    def register_autograd(self, backward, /, *, setup_context=None):
        """backward(ctx, *grads) -> gradients of the arguments; setup_context(ctx, inputs, output) keeps what it needs."""
        if self._is_checked and self._schema.is_mutable:
            raise RuntimeError(f"Cannot register autograd formula for non-functional operator <CustomOpDef({self._name})> with schema "
                               f"{self._schema}. Please create a functional operator and register an autograd formula for that.")
        self._backward, self._setup_context = backward, setup_context

    def register_fake(self, fn, /):
        """Registers a function for tensors of the device "meta": it gives results with their sizes and dtypes, without elements."""
        _fakes[self._name] = fn
        return fn

    def register_vmap(self, func=None):
        """func(info, in_dims, *args) -> (results, the dimension of the batch in each, or None): what vmap calls for a batch, all of it if the
        op is what it maps, each slice as a batch of one within another function."""
        def register(function):
            self._vmap_rule = function
            return function
        return register if func is None else register(func)

    def register_kernel(self, device_types, fn=None, /):
        """Registers a function for tensors of some devices; if device_types is None, for all devices that have none of their own."""
        types = (device_types,) if isinstance(device_types, str) else device_types

        def register(function):
            if types is None:
                self._function = function
            else:
                self._kernels.update(dict.fromkeys(types, function))
            return function
        return register if fn is None else register(fn)


def custom_op(name, fn=None, /, *, mutates_args, device_types=None, schema=None, tags=None):
    """Makes torch.ops.pack.op of a function, for the name "pack::op".

    mutates_args names the arguments that calls change, or is "unknown": then all tensors may be.  The schema is that of the
    function's annotations if none is given.  device_types: the function is for tensors of these alone.
    """
    def define(function):
        text = schema or infer_schema(function, mutates_args=mutates_args)
        if not text.startswith("(") or "->" not in text:
            raise RuntimeError("Tried to parse a function schema but only the operator name was given: expected a schema as "
                               f"\"(Tensor x) -> Tensor\", got {text!r}")
        mutated = re.findall(r"Tensor\([^)]*!\)[^ ]* (\w+)", text.partition("->")[0])
        if mutates_args != "unknown" and set(mutated) != set(mutates_args):
            raise ValueError(f"Attempted to create a custom op with `mutates_args={mutates_args}` and `schema={text}`, by which it changes "
                             f"{mutated}: expected the same names in both")
        op = CustomOpDef(name, function, (Tag.pt2_compliant_tag, *_tags(tags)), is_checked=True)
        names = [*inspect.signature(function).parameters]
        op._schema, op._mutated = parse(name + text), {names.index(n): n for n in mutated if n in names}
        if device_types is not None:
            op._function = None
            op.register_kernel([_C.device(kind).type for kind in ([device_types] if isinstance(device_types, str) else device_types)],
                               function)
        _ops[name] = op
        return op
    return define if fn is None else define(fn)


def _tags(tags):
    """One tag, or several, as a tuple."""
    found = () if tags is None else (tags,) if isinstance(tags, Tag) else tuple(tags)
    for tag in found:
        if not isinstance(tag, Tag):
            raise TypeError(f"tags: expected torch.Tag, got {type(tag).__name__}")
    return found


_OF_OTHERS = ("torchvision",)  # packages whose ops, or some of them, the library itself has (argand/ops/vision)


def _own(qualname):
    """The function of the library that is the op "torchvision::nms"; None if it is none of the library's."""
    if qualname == "torchvision::_cuda_version":
        return _torchvision_cuda_version
    namespace, _, name = qualname.partition("::")
    found = getattr(_C, f"{namespace}_{name}", None) if namespace in _OF_OTHERS else None
    return found if isinstance(found, _GENERATED) else None


def _torchvision_cuda_version():
    """The version of CUDA that torchvision's library was compiled with, -1 for one that was compiled without: there is none to fit."""
    return -1


def _find(qualname):
    """The op "pack::op", or its overload "pack::op.out", which Python or a library in C++ defines; None if there is none."""
    found = _ops.get(qualname) or _of_libraries.get(qualname)
    if found is None and (function := _library_ops.function_of(*qualname.partition(".")[::2])) is not None:
        found = _of_libraries[qualname] = CustomOpDef(qualname, function)
        found._schema, found._mutated = function.schema, _library_ops.written(function.schema)
    return found


def _named(op):
    name = op._name if isinstance(op, CustomOpDef) else op.qualified_name if isinstance(op, OpOverloadPacket) else op
    if _own(name) is not None:
        raise NotImplementedError(f"{name} is an op of the library itself, with its gradient and what it does under autocast: Python "
                                  "cannot replace it")
    found = _find(name)
    if found is None:
        raise RuntimeError(f"operator {name} does not exist")
    return found


_STAYS = "what is registered stays as long as the process, with the Library or without"


@harmless(lib=_STAYS)
def register_autograd(op, backward, /, *, setup_context=None, lib=None):
    """See CustomOpDef.register_autograd."""
    _named(op).register_autograd(backward, setup_context=setup_context)


@harmless(lib=_STAYS, _stacklevel="sources are not looked for", allow_override="the last one given counts, as in PyTorch")
def register_fake(op, func=None, /, *, lib=None, _stacklevel=1, allow_override=False):
    """Registers a function that gives an op's results for tensors of the device "meta"; the op may be defined later."""
    name = op.qualified_name if isinstance(op, OpOverloadPacket) else getattr(op, "_name", op)

    def register(function):
        _fakes[name] = function
        return function
    return register if func is None else register(func)


impl_abstract = register_fake


@harmless(lib=_STAYS)
def register_kernel(op, device_types, func=None, /, *, lib=None):
    """See CustomOpDef.register_kernel."""
    return _named(op).register_kernel(device_types, *(() if func is None else (func,)))


# ---- ops that are declared first


def _may_define(namespace, who):
    if namespace in ("aten", "prim", "prims"):
        raise NotImplementedError(f"{who}: {namespace!r} has the ops of the library itself, which Python cannot replace")


@functools.singledispatch
@harmless(lib=_STAYS)
def define(qualname, schema, *, lib=None, tags=()):
    """Declares the op "pack::op", or an overload "pack::op.out" of one, whose functions impl() gives; the schema,
    "(Tensor x) -> Tensor", is kept as it is.  An overload is called by its name.

    define(library, "op(Tensor x) -> Tensor") decorates the function of an op of a Library.
    """
    namespace, colons, name = qualname.partition("::")
    if not colons:
        raise ValueError(f"torch.library.define: expected a name with a namespace, as in 'pack::op', got {qualname!r}")
    if not schema.startswith("(") or "->" not in schema:
        raise ValueError(f"torch.library.define: {qualname}: expected a schema as \"(Tensor x) -> Tensor\", got {schema!r}")
    _may_define(namespace, "torch.library.define")
    if _find(qualname) is not None or _own(qualname) is not None:
        raise RuntimeError(f"torch.library.define: {qualname} is defined already")
    _ops[qualname] = CustomOpDef(qualname, tags=_tags(tags))
    _ops[qualname]._schema = parse(qualname + schema)


def _impl_recorded(qualname, types, func):
    """impl() for "AutogradCPU", "AutogradCUDA" or "Autograd", all devices."""
    devices = []
    for kind in types:
        device = kind.removeprefix("Autograd").lower()
        if not kind.startswith("Autograd") or device not in ("", *_DEVICES):
            raise NotImplementedError(f"torch.library.impl: {types}: expected kinds of devices, or Autograd and a kind of device, got {kind!r}")
        devices += [device] if device else _DEVICES

    def register(function):
        _named(qualname)._recorded.update(dict.fromkeys(devices, function))
        return function
    return register if func is None else register(func)


_ALL_DEVICES = ("default", "", "CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")


@functools.singledispatch
@harmless(lib=_STAYS)
def impl(qualname, types, func=None, *, lib=None):
    """What a declared op does for tensors of a kind of device ("cpu", "cuda"), or of all that have no function of their own ("default").

    impl(library, "op", "CPU") decorates the function of an op of a Library.
    """
    types = (types,) if isinstance(types, str) else tuple(types)
    if any(kind.startswith("Autograd") for kind in types):
        return _impl_recorded(qualname, types, func)
    for kind in types:
        if kind not in _ALL_DEVICES and kind.lower() not in _DEVICES:
            raise NotImplementedError(f"torch.library.impl: {kind!r}: functions are for devices; register_autograd() is for gradients")
    devices = None if set(types) & set(_ALL_DEVICES) else [kind.lower() for kind in types]
    return register_kernel(qualname, devices, func)


class Library:
    """The ops of a package: define() declares one, impl() says what it does."""

    def __init__(self, ns, kind, dispatch_key=""):
        if kind not in ("DEF", "FRAGMENT", "IMPL"):
            raise ValueError(f"Unsupported kind: {kind}")
        if ns == "prim" and kind != "IMPL":
            raise ValueError(f"{ns} is a reserved namespace. Please try creating a library with another name.")
        if (ns, kind) != ("aten", "IMPL"):
            _may_define(ns, "torch.library.Library")
        self.ns, self.kind, self.dispatch_key, self._defined = ns, kind, dispatch_key, []

    @harmless(alias_analysis="nothing is compiled, so nobody analyses aliases")
    def define(self, schema, alias_analysis="", *, tags=()):
        """Declares an op by "op(Tensor x) -> Tensor"; its name."""
        name, parenthesis, rest = schema.partition("(")
        name = name.strip().removeprefix(self.ns + "::")
        define(f"{self.ns}::{name}", parenthesis + rest, tags=tags)
        self._defined.append(f"{self.ns}::{name}")
        return name

    def _destroy(self):
        """The ops that it declared are gone."""
        for name in self._defined:
            _ops.pop(name, None)
            _fakes.pop(name, None)
        self._defined.clear()
        if self.ns == "aten":
            _aten_overrides.remove(self)

    @harmless(allow_override="the last one given is called, as in PyTorch")
    def impl(self, op_name, fn, dispatch_key="", *, with_keyset=False, allow_override=True):
        """Registers the function of a declared op for devices of dispatch_key."""
        if with_keyset:
            raise NotImplementedError("torch.library.Library.impl: with_keyset: there are no key sets")
        if not callable(fn):
            raise TypeError(f"Input function is required to be a callable but found type {type(fn)}")
        if dispatch_key and self.dispatch_key and dispatch_key != self.dispatch_key:
            raise RuntimeError(f"torch.library.Library.impl: the key {dispatch_key} is inconsistent with the dispatch key of the library, "
                               f"{self.dispatch_key}")
        if self.ns == "aten":
            _aten_overrides.add(self, op_name, fn, dispatch_key or self.dispatch_key)
            return
        name = op_name if isinstance(op_name, str) else op_name._name
        name = name if "::" in name else f"{self.ns}::{name}"
        impl(name, dispatch_key or self.dispatch_key or "default", fn)


@contextlib.contextmanager
def _scoped_library(*args, **kwargs):
    """A Library whose ops are gone at the end of the scope."""
    library = Library(*args, **kwargs)
    try:
        yield library
    finally:
        library._destroy()


@define.register(Library)
def _(lib, schema, alias_analysis=""):
    def declare(function):
        lib.impl(lib.define(schema, alias_analysis), function)
        return function
    return declare


@impl.register(Library)
def _(lib, name, dispatch_key=""):
    def give(function):
        lib.impl(name, function, dispatch_key)
        return function
    return give


# ---- schemas

_KINDS = {_C.Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool", str: "str", _C.dtype: "ScalarType", _C.device: "Device"}


def _kind_in_schema(hint):
    """The schema's name of a type; None if it has none."""
    if hint in _KINDS:
        return _KINDS[hint]
    parts = typing.get_args(hint)
    if set(parts) == {int, float, bool}:
        return "Scalar"
    if type(None) in parts and len(parts) == 2:
        inner = _kind_in_schema(next(p for p in parts if p is not type(None)))
        return inner and inner + "?"
    if len(parts) == 1 and getattr(typing.get_origin(hint), "__name__", "") in ("Sequence", "list"):
        inner = _kind_in_schema(parts[0])
        return inner and inner + "[]"
    return None


def _default_in_schema(value):
    if isinstance(value, str):
        return f'"{value}"'
    return str(value).removeprefix("torch.")


@ignored(tags="a schema says nothing of tags")
def infer_schema(prototype_function, /, *, mutates_args, op_name=None, tags=()):
    """The schema of a function by its annotations: "(Tensor x, SymInt n=3) -> Tensor"."""
    hints = typing.get_type_hints(prototype_function)
    found, named = [], False
    signature = inspect.signature(prototype_function)
    if isinstance(mutates_args, str) and mutates_args != "unknown":
        raise ValueError(f"infer_schema(func): mutates_args: expected names of arguments or 'unknown', got {mutates_args!r}")
    unknown = set() if mutates_args == "unknown" else set(mutates_args) - set(signature.parameters)
    if unknown:
        raise ValueError(f"infer_schema(func): {unknown} in mutates_args were not found in the custom op's signature")
    for i, (name, parameter) in enumerate(signature.parameters.items()):
        kind = _kind_in_schema(hints.get(name))
        if kind is None:
            raise ValueError(f"infer_schema(func): Parameter {name} has unsupported type {hints.get(name)}")
        if parameter.kind is parameter.KEYWORD_ONLY and not named:
            named = True
            found.append("*")
        if kind.startswith("Tensor") and (mutates_args == "unknown" or name in mutates_args):
            kind = f"Tensor(a{i}!)" + kind.removeprefix("Tensor")
        elif mutates_args != "unknown" and name in mutates_args:
            raise ValueError(f"infer_schema(func): Parameter {name} is in mutates_args but only tensors can be changed")
        default = "" if parameter.default is parameter.empty else "=" + _default_in_schema(parameter.default)
        found.append(f"{kind} {name}{default}")
    returned = hints.get("return")
    several = typing.get_args(returned) if typing.get_origin(returned) is tuple else None
    if returned is type(None):
        result = "()"
    else:
        kinds = [_kind_in_schema(h) for h in several or (returned,)]
        if None in kinds:
            raise ValueError(f"infer_schema(func): Return has unsupported type {returned}")
        result = f"({', '.join(kinds)})" if several else kinds[0]
    return f"{op_name or ''}({', '.join(found)}) -> {result}"


# ---- what is said of ops for traces and transforms


@harmless(lib=_STAYS)
def register_vmap(op, func=None, /, *, lib=None):
    """See CustomOpDef.register_vmap."""
    return _named(op).register_vmap(func)


def triton_op(name, fn=None, /, *, mutates_args, schema=None):
    """custom_op() of a function that launches kernels of Triton."""
    return custom_op(name, fn, mutates_args=mutates_args, schema=schema)


def wrap_triton(triton_kernel, /):
    """The kernel."""
    return triton_kernel


def get_ctx():
    """Raises RuntimeError: nothing is traced, so register_fake()'s function has nothing to ask."""
    raise RuntimeError("get_ctx() is for sizes that a trace does not know; nothing is traced, and tensors of the device 'meta' have sizes "
                       "that are known")


class _Namespace:
    """torch.ops.pack: the ops of a package."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        found = _ops.get(f"{self._name}::{name}")
        if found is None and (own := _own(f"{self._name}::{name}")) is not None:
            return _own_op(self._name, name, own)
        if found is None and (overloads := _library_ops.overloads(f"{self._name}::{name}")):
            return _find(f"{self._name}::{name}") if overloads == [""] else _library_ops.packet(self._name, name, _find)
        if found is None and any(key.startswith(f"{self._name}::{name}.") for key in _ops):
            return CustomOpDef(f"{self._name}::{name}")  # of overloads with names alone
        if found is None:
            raise AttributeError(f"'_OpNamespace' '{self._name}' object has no attribute '{name}'")
        return found

    def __dir__(self):
        own = {key.partition("::")[2].partition(".")[0] for key in _ops if key.startswith(f"{self._name}::")}
        return sorted({*super().__dir__(), *own, *_library_ops.names(self._name)})


_own_op = functools.cache(OpOverloadPacket)


class _Aten(_Namespace):
    """torch.ops.aten: the functions and methods of tensors that are ops, by PyTorch's names."""

    @functools.cache
    def __getattr__(self, name):
        found = [getattr(holder, name, None) for holder in (_C, _C.Tensor)]
        function = _INTERNAL.get(name) or next((f for f in found if isinstance(f, _GENERATED)), None)
        if function is None or name in _NO_OPS:
            return super().__getattr__(name)  # of custom_op()
        schemas = {**schemas_of(name), "default": parse("stride(Tensor self) -> int[]", "aten")} if name == "stride" else None
        return OpOverloadPacket("aten", name, function, schemas)


def _to_copy(self, *, dtype=None, layout=None, device=None, pin_memory=None, non_blocking=False, memory_format=_C.preserve_format):
    """A copy of another dtype or on another device."""
    if layout not in (None, _C.strided):
        raise NotImplementedError(f"torch.ops.aten._to_copy: layout: expected torch.strided, got {layout}")
    copy = self.to(device=device or self.device, dtype=dtype or self.dtype, non_blocking=non_blocking, copy=True,
                   memory_format=memory_format)
    return copy.pin_memory() if pin_memory else copy


def _convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    """A convolution of any number of dimensions."""
    dims = len(stride)
    if transposed:
        transpose = getattr(_C, f"conv_transpose{dims}d")
        return transpose(input, weight, bias, stride, padding, output_padding, groups, dilation)
    return _C._convolution_nd(input, weight, bias, stride, padding, dilation, groups)


def _is_like(self, memory_format):
    """Whether the strides are those of a memory format."""
    from ._dispatched_metadata import ask
    found = ask(self, "aten.is_strides_like_format", memory_format)
    with _dispatch.StateOff():
        return bool(self.is_contiguous(memory_format=memory_format)) if found is None else found


def _is_dense(self):
    """Whether the elements fill a piece of memory without gaps, each at a place of its own."""
    from ._dispatched_metadata import ask
    found = ask(self, "aten.is_non_overlapping_and_dense")
    if found is not None:
        return found
    expected = 1
    with _dispatch.StateOff():
        strides, sizes = self.stride(), self.shape
    for stride, size in sorted((s, n) for s, n in zip(strides, sizes) if n != 1):
        if stride != expected:
            return False
        expected *= size
    return True


def _lift_fresh(self):
    """The tensor, unless a mode makes something else of one that was made of numbers."""
    from . import _dispatch
    return _dispatch.ask_custom(ops.aten.lift_fresh.default, lambda t: t, (self,), {})


_GENERATED = type(_C.add), type(_C.Tensor.add)  # the types of functions and methods that are made of schemas
_NO_OPS = ("from_numpy", "new_tensor", "_text")  # are made as ops are
_INTERNAL = {"_to_copy": _to_copy, "_local_scalar_dense": lambda self: self.item(), "lift_fresh": _lift_fresh,
             "lift": lambda self: self, "lift_fresh_copy": lambda self: self.clone(), "convolution": _convolution,
             "_pin_memory": lambda self, device=None: self.pin_memory(), "_unsafe_view": _C.Tensor.view,
             "sym_size": lambda self, *dim: self.size(*dim), "sym_stride": lambda self, *dim: self.stride(*dim),
             "is_contiguous": lambda self, memory_format=_C.contiguous_format: self.is_contiguous(memory_format=memory_format),
             "is_strides_like_format": _is_like, "is_non_overlapping_and_dense": _is_dense,
             **{name: getattr(_C.Tensor, name) for name in (  # methods made by hand
                 "detach_", "dim", "is_complex", "is_floating_point", "is_pinned", "is_set_to", "is_signed", "item", "numel",
                 "pin_memory", "record_stream", "set_", "storage_offset", "to_dense")},
             **{name: refused(f"torch.ops.aten.{name}", "there are no sparse tensors")
                for name in ("_sparse_addmm", "_sparse_mm_reduce_impl", "_sparse_mm", "_sparse_sum")}}


class _Prim(_Namespace):
    """torch.ops.prim: what a tensor knows of itself."""

    @functools.cache
    def __getattr__(self, name):
        if name in ("device", "layout"):
            return OpOverloadPacket("prim", name, lambda t: getattr(t, name))
        return super().__getattr__(name)


class _Profiler(_Namespace):
    """torch.ops.profiler: ranges with names, for programs that begin one here and end it there."""

    @staticmethod
    def _record_function_enter_new(name, args=None):
        """Begins a range in profiles: what _record_function_exit() takes."""
        from .autograd.profiler import record_function
        return record_function(name, args).__enter__()

    @staticmethod
    def _record_function_exit(handle):
        """Ends a range."""
        handle.__exit__(None, None, None)

    _record_function_enter = _record_function_enter_new


class _Ops:
    """torch.ops: what custom_op() and libraries in C++ defined, by package and name, aten, profiler, and the library's own ops of other
    packages."""

    def __init__(self):
        self.loaded_libraries = set()
        self.aten, self.prim, self.profiler = _Aten("aten"), _Prim("prim"), _Profiler("profiler")

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self.__dict__.setdefault(name, _Namespace(name))

    def load_library(self, path):
        """Loads a shared library that was built for Argand: its blocks of TORCH_LIBRARY define ops (docs/extensions.md)."""
        self.loaded_libraries.add(_library_ops.load_library(path))


ops = _Ops()


__getattr__, __dir__ = _surface.of(__name__)
