"""Tracer: runs a module's forward() with proxies, and makes a graph of what it does."""
import builtins
import collections
import contextlib
import copy
import functools
import inspect
import itertools
import math
import warnings
from types import FunctionType

import argand

from .._ignored import harmless, record
from ..nn import Module, Parameter, Sequential
from ..utils import _pytree as pytree
from ._compatibility import compatibility  # noqa: F401 -- packages that write their own trace() find all they need here
from ._recording import find_proxy, recorder
from ._patching import _Patcher
from .graph import Graph, _PyTreeCodeGen, _PyTreeInfo
from .graph_module import GraphModule
from .proxy import ParameterProxy, Proxy, Scope, ScopeContextManager, TracerBase  # noqa: F401 -- Proxy as well

_orig_module_call, _orig_module_getattr = Module.__call__, Module.__getattr__
_is_fx_tracing_flag = False
_proxyable_classes = {}
# The registrations of wrap(): (id of a namespace, name) -> the namespace; and (class, method).
_wrapped_fns_to_patch = {}
_wrapped_methods_to_patch = []
_VARIADIC = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


def is_fx_tracing():
    """Whether a trace runs."""
    return _is_fx_tracing_flag


is_fx_symbolic_tracing = is_fx_tracing


@contextlib.contextmanager
def _tracing():
    global _is_fx_tracing_flag
    before, _is_fx_tracing_flag = _is_fx_tracing_flag, True
    try:
        yield
    finally:
        _is_fx_tracing_flag = before


class ProxyableClassMeta(type):
    """The metaclass of classes whose construction from proxies is recorded."""

    def __init__(cls, name, bases, attrs):
        _proxyable_classes.setdefault(cls)
        super().__init__(name, bases, attrs)

    def __call__(cls, *args, **kwargs):
        proxy = find_proxy(args, kwargs) if is_fx_tracing() else None
        if proxy is not None:
            return proxy.tracer.create_proxy("call_function", cls, args, kwargs)
        return super().__call__(*args, **kwargs)


class ScriptObject:
    """The type of objects of classes in TorchScript; there are none."""


class PHBase:
    """In concrete_args: this place stays an argument."""

    def __repr__(self):
        return "PH"


PH = PHBase()


@record
class PHWithMeta(PHBase):
    """PH whose attributes the placeholder gets."""

    def __init__(self, ph_key=None):
        self.ph_key = ph_key


class Tracer(TracerBase):
    """Traces modules and functions.  Subclasses say which modules are leaves, and what to do with calls and values.

    autowrap_modules: functions of these, as `math`, become nodes where they are given proxies; so do autowrap_functions.
    param_shapes_constant: the shapes of parameters are known to the trace.
    """

    def __init__(self, autowrap_modules=(math,), autowrap_functions=(), param_shapes_constant=False):
        self._autowrap_search = list(autowrap_modules)
        self._autowrap_functions = [*autowrap_functions, *(f for module in autowrap_modules for name, f in vars(module).items()
                                                           if callable(f) and not name.startswith("_"))]
        self._autowrap_function_ids = {id(f) for f in self._autowrap_functions}  # theirs as long as they live
        self.param_shapes_constant = param_shapes_constant
        self.submodule_paths = None
        self.root_module_name = ""
        self.scope = Scope("", None)
        self.module_stack = collections.OrderedDict()
        self.node_name_to_scope = {}
        self._calls = collections.Counter()

    def __deepcopy__(self, memo):
        result = object.__new__(type(self))
        memo[id(self)] = result
        kept = ("_autowrap_search", "_autowrap_functions", "_autowrap_function_ids")
        result.__dict__.update({k: v if k in kept else copy.deepcopy(v, memo) for k, v in self.__dict__.items()})
        return result

    # ---- what programs override

    def create_arg(self, a):
        """What a node's argument may be, of a value in the program: tensors become attributes of the module."""
        if isinstance(a, Parameter):
            for name, param in self.root.named_parameters():
                if a is param:
                    return self.create_node("get_attr", name, (), {})
            raise NameError("parameter is not a member of this module")
        if isinstance(a, argand.Tensor):
            for name, buffer in self.root.named_buffers():
                if a is buffer:
                    return self.create_node("get_attr", name, (), {})
            return self._constant(a)
        if isinstance(a, Module):
            for name, module in self.root.named_modules():
                if a is module:
                    return self.create_node("get_attr", name, (), {})
        if type(a) in _proxyable_classes:
            return self._constant(a, f"_{type(a).__name__}_constant")
        return super().create_arg(a)

    def _named_tuple(self, cls, items):
        return self.create_node("call_function", cls, tuple(items), {})

    def _constant(self, value, prefix="_tensor_constant"):
        name = self.tensor_attrs.get(value)
        if name is None:
            name = self.get_fresh_qualname(prefix)
            self.tensor_attrs[value] = name
            setattr(self.root, name, value)
        return self.create_node("get_attr", name, (), {})

    def get_fresh_qualname(self, prefix):
        """The first of prefix0, prefix1... that the root has not."""
        return next(name for name in (f"{prefix}{i}" for i in itertools.count()) if not hasattr(self.root, name))

    @harmless(module_qualified_name="it is for subclasses to look at")
    def is_leaf_module(self, m, module_qualified_name):
        """Whether a call of the module is one node: of the library's own, except Sequential."""
        return m.__module__.startswith(("argand.nn", "argand.ao.nn", "torch.nn", "torch.ao.nn")) and not isinstance(m, Sequential)

    def path_of_module(self, mod):
        """The full name of a module of the root."""
        if self.submodule_paths:
            path = self.submodule_paths.get(mod)
            if path is None:
                raise NameError("module is not installed as a submodule")
            return path
        for name, module in self.root.named_modules():
            if module is mod:
                return name
        raise NameError("module is not installed as a submodule")

    def call_module(self, m, forward, args, kwargs):
        """What the call of a module gives: a node if it is a leaf, else what forward() does."""
        path = self.path_of_module(m)
        with ScopeContextManager(self.scope, Scope(path, type(m))):
            calls = self._calls[path]
            self._calls[path] += 1
            key = f"{path}@{calls}" if calls else path
            self.module_stack[key] = (path, type(m))
            try:
                if self.is_leaf_module(m, path):
                    return self.create_proxy("call_module", path, args, kwargs)
                return forward(*args, **kwargs)
            finally:
                self.module_stack.pop(key)

    @harmless(attr="it is for subclasses to look at")
    def getattr(self, attr, attr_val, parameter_proxy_cache):
        """What an attribute of a module is in the trace: a parameter becomes the value of a node."""
        if isinstance(attr_val, Parameter):
            return self._attribute_proxy(attr_val, self.root.named_parameters(), parameter_proxy_cache)
        if self.proxy_buffer_attributes and isinstance(attr_val, argand.Tensor):
            return self._attribute_proxy(attr_val, self.root.named_buffers(), parameter_proxy_cache)
        return attr_val

    def _attribute_proxy(self, value, named, cache):
        for name, tensor in named:
            if tensor is value:
                if name not in cache:
                    # Subclasses that override create_proxy() need not know of factories.
                    factory = {}
                    if self.param_shapes_constant and isinstance(value, Parameter):
                        factory["proxy_factory_fn"] = lambda node: ParameterProxy(self, node, name, value)
                    cache[name] = self.create_proxy("get_attr", name, (), {}, **factory)
                return cache[name]
        return value

    # ---- the trace

    def create_args_for_root(self, root_fn, is_module, concrete_args=None):
        """(the function, its arguments as proxies); parts of arguments that concrete_args has stay what they are there."""
        function = inspect.unwrap(root_fn)
        code = function.__code__
        names = list(code.co_varnames[:code.co_argcount + code.co_kwonlyargcount])
        args = []
        if is_module:
            if not names:
                raise RuntimeError("``self`` argument cannot be part of *args expansion!")
            names.pop(0)
            args.append(self.root)
        more = []
        if isinstance(concrete_args, tuple):
            if code.co_flags & inspect.CO_VARARGS and not code.co_kwonlyargcount and len(concrete_args) > len(names):
                star = code.co_varnames[code.co_argcount]
                more = [f"{star}_{i}" for i in range(len(concrete_args) - len(names))]
                names += more
            if len(concrete_args) != len(names):
                raise RuntimeError(f"Tracing expected {len(names)} arguments but got {len(concrete_args)} concrete arguments")
            concrete_args = dict(zip(names, concrete_args))
        parameters = inspect.signature(function).parameters
        of_star = inspect.Parameter("more", inspect.Parameter.POSITIONAL_ONLY)
        given = [self._placeholder(name, parameters.get(name, of_star), function, concrete_args) for name in names]
        for flag, stars in ((inspect.CO_VARARGS, "*"), (inspect.CO_VARKEYWORDS, "**")):
            if code.co_flags & flag and not more:
                name = code.co_varnames[len(names) + len(args)]
                names.append(name)
                given.append(self.create_proxy("placeholder", stars + name, (), {}))
        if code.co_kwonlyargcount or code.co_flags & _VARIADIC and not more:
            root_fn = _positional(function, len(args) + len(given))
        leaves, in_spec = pytree.tree_flatten(tuple(given))
        if all(child.is_leaf() for child in in_spec.children_specs):
            return root_fn, args + given
        info = _PyTreeInfo((["self"] if is_module else []) + names, in_spec, None)
        codegen = self.graph._codegen = _PyTreeCodeGen(info)

        def flat(*leaves):
            result = root_fn(*args, *pytree.tree_unflatten(leaves, in_spec))
            out, out_spec = pytree.tree_flatten(result)
            codegen.pytree_info = info._replace(out_spec=out_spec)
            return out
        return flat, leaves

    def _placeholder(self, name, parameter, function, concrete_args):
        default = () if parameter.default is parameter.empty else (parameter.default,)
        if concrete_args is None or name not in concrete_args:
            return self.create_proxy("placeholder", name, default, {}, type_expr=function.__annotations__.get(name))
        numbers = itertools.count(1)

        def leaf(value):
            proxy = self.create_proxy("placeholder", f"{name}_{next(numbers)}", default, {})
            message = f"{name} has been specialized to have value {value} but got another value"
            if isinstance(value, PHBase):
                if isinstance(value, PHWithMeta):
                    for key, what in vars(value).items():
                        if not hasattr(proxy.node, key):
                            setattr(proxy.node, key, what)
                return proxy
            if isinstance(value, (bool, int, float, str)):
                self.create_proxy("call_function", argand._assert, (proxy == value, message), {})
            elif value is None:
                self.create_proxy("call_function", _assert_is_none, (proxy, message), {})
            else:
                warnings.warn(f"Was not able to add assertion to guarantee correct input {name} to specialized function. It is up to the "
                              "user to make sure that your inputs match the inputs you specialized the function with.", stacklevel=2)
            return value
        return pytree.tree_map(leaf, concrete_args[name])

    def trace(self, root, concrete_args=None):
        """The graph of a module's forward(), or of a function."""
        is_module = isinstance(root, Module)
        if is_module:
            function = getattr(type(root), self.traced_func_name, None)
            assert function is not None, f"traced_func_name={self.traced_func_name} doesn't exist in {type(root).__name__}"
            self.root, self.root_module_name = root, root._get_name()
            self.submodule_paths = {module: name for name, module in root.named_modules()}
        else:
            function, self.root = root, Module()
        self.graph = Graph(tracer_cls=type(self))
        self.graph._traced_code = getattr(inspect.unwrap(function), "__code__", None)
        self.tensor_attrs = _tensor_attributes(self.root)
        self._calls = collections.Counter()
        assert isinstance(function, FunctionType), f"Expected FunctionType, got {type(function)}"
        globals_, annotations = function.__globals__, function.__annotations__
        with _tracing():
            function, args = self.create_args_for_root(function, is_module, concrete_args)
            with _Patcher() as patcher:
                self._patch(patcher, globals_)
                result = function(*args)
                self.create_node("output", "output", (self.create_arg(result),), {}, type_expr=annotations.get("return"))
        self.submodule_paths = None
        return self.graph

    def _patch(self, patcher, globals_):
        parameter_proxies = {}

        def traced_getattr(module, name):
            return self.getattr(name, _orig_module_getattr(module, name), parameter_proxies)

        def traced_call(module, *args, **kwargs):
            def forward(*args, **kwargs):
                return _orig_module_call(module, *args, **kwargs)
            _autowrap_check(patcher, getattr(getattr(module, "forward", module), "__globals__", {}), self._autowrap_function_ids)
            return self.call_module(module, forward, args, kwargs)
        patcher.patch_method(Module, "__getattr__", traced_getattr, deduplicate=False)
        patcher.patch_method(Module, "__call__", traced_call, deduplicate=False)
        _patch_wrapped_functions(patcher)
        for namespace in (globals_, *map(vars, self._autowrap_search)):
            _autowrap_check(patcher, namespace, self._autowrap_function_ids)


def _autowrap_check(patcher, frame_dict, function_ids):
    """Functions of these ids record calls where this name space has them."""
    if patcher.visit_once(frame_dict):
        for name, value in list(frame_dict.items()):
            if id(value) in function_ids and callable(value) and not name.startswith("_"):
                patcher.patch(frame_dict, name, recorder(value))


def _patch_wrapped_functions(patcher):
    """What wrap() was told records calls."""
    for (_, name), namespace in _wrapped_fns_to_patch.items():
        function = namespace[name] if name in namespace else getattr(builtins, name)
        patcher.patch(namespace, name, recorder(function))
    for cls, name in _wrapped_methods_to_patch:
        patcher.patch_method(cls, name, _method_recorder(name, getattr(cls, name)))


def _method_recorder(name, original):
    @functools.wraps(original)
    def recorded(*args, **kwargs):
        proxy = find_proxy(args, kwargs)
        if proxy is None:
            return original(*args, **kwargs)
        return proxy.tracer.create_proxy("call_method", name, args, kwargs)
    return recorded


def _tensor_attributes(root):
    """Tensors that are plain attributes -> their full names."""
    return {value: f"{path}.{name}" if path else name for path, module in root.named_modules() for name, value in vars(module).items()
            if isinstance(value, argand.Tensor) or type(value) in _proxyable_classes}


def _positional(function, count):
    # *args, **kwargs and arguments after * as plain ones: each is one proxy.
    code = function.__code__
    code = code.replace(co_flags=code.co_flags & ~_VARIADIC, co_argcount=count, co_posonlyargcount=0, co_kwonlyargcount=0)
    return FunctionType(code, function.__globals__, function.__name__, None, function.__closure__)


def wrap(fn_or_name):
    """Calls of this function of the calling module, by itself or by name, become nodes where they are given proxies.

    A decorator, or a call at module level: wrap("len").
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__
    frame = inspect.currentframe().f_back
    if frame.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    _wrapped_fns_to_patch[id(frame.f_globals), name] = frame.f_globals
    return fn_or_name


@wrap
def _assert_is_none(value, msg):
    assert value is None, msg


def symbolic_trace(root, concrete_args=None):
    """A GraphModule of what a module or a function does; arguments in concrete_args are known to the trace."""
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    return GraphModule(tracer.root, graph, root._get_name() if isinstance(root, Module) else root.__name__)
