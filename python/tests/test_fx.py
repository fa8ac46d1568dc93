"""torch.fx, against what PyTorch answered (recorded/fx.json).

Run with PyTorch's Python, this file writes that record: `python test_fx.py`.
"""
import ast
import collections
import copy
import importlib
import json
import os
import pickle
import re
import subprocess
import sys
import types

RECORDED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recorded", "fx.json")

PRELUDE = """
import collections, copy, math, operator, pickle, typing
class Block(nn.Module):
    def __init__(self, k=3):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, k, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.tail = nn.Sequential(nn.ReLU(), nn.Dropout())
    def forward(self, x):
        return self.tail(self.norm(self.conv(x)))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])
        self.w = nn.Parameter(torch.ones(4))
        self.register_buffer("b", torch.ones(4))
        self.unused = nn.Linear(9, 9)
        self.plain = torch.zeros(4)
    def forward(self, x, scale=2, *, extra=None):
        x = self.block(x)
        x = F.adaptive_avg_pool2d(x, 1)
        x = torch.flatten(x, 1)
        for layer in self.layers:
            x = F.relu(layer(x)) * self.w - self.b
        x = x.view(x.shape[0], -1)[:, 1:3, None, ...]
        x = torch.cat([x, x + self.plain[:1]], dim=-1) / scale
        a, b = x.size(0), x.shape
        return {"a": x.softmax(-1), "b": [torch.clamp(x, min=0), (a, b)]}
class Leaf(nn.Module):
    def forward(self, x, k=2):
        return x * k if k > 1 else x
class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(2, 2)
        self.m = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
        self.unused = nn.Linear(3, 3)
    def forward(self, x):
        return self.m(self.l(x)).clamp(0.0, 1.0)
def inc(x):
    return x + 1
def graph():
    g = fx.Graph()
    x, y = g.placeholder("x"), g.placeholder("y", type_expr=torch.Tensor, default_value=3)
    a = g.call_function(torch.add, (x, y))
    b = g.call_method("relu", (a,))
    return g, x, y, a, b
g, x, y, a, b = graph()
def nodes(g):
    return [(n.op, n.name, str(n._pretty_print_target(n.target)), str(n.args), str(n.kwargs), str(list(n.users))) for n in g.nodes]
def code(f, **kwds):
    return fx.symbolic_trace(f, **kwds).code
def rewritten(f, pattern, replacement):
    gm = fx.symbolic_trace(f)
    matches = fx.replace_pattern(gm, pattern, replacement)
    gm.graph.lint()
    return gm.code, [(m.anchor, m.nodes_map) for m in matches]
def of(result):
    g.output(result)
    return g.python_code("self").src
"""

# Each is run after PRELUDE; its last expression, or what it raises, is the answer.  Lines of def, class and with go on.
SNIPPETS = re.findall(r"^(?:(?:def|class|with|[ ]).*\n)*.+$", r"""
code(Net())
str(fx.symbolic_trace(Net()).graph)
nodes(fx.symbolic_trace(Net()).graph)
str(fx.symbolic_trace(Small()))
fx.symbolic_trace(Small()).print_readable(print_output=False)
[n for n, _ in fx.symbolic_trace(Net()).named_modules()]
list(fx.symbolic_trace(Net()).state_dict())
code(lambda x, *args, **kw: x + args[0] + kw['a'])
code(lambda *, a, b=2: a + b)
code(lambda x: x if x.sum() > 0 else -x)
code(lambda x: [i for i in x])
code(lambda x: dict(**x))
code(lambda x: len(x))
code(lambda x: list(range(x.size(0))))
code(lambda x: int(x))
code(lambda x: {x: 1})
code(lambda x: x + {1: object()}.get(1))
def f(x):
    x[0] = 1
code(f)
def f(x):
    a, b, c = x.shape
    return a * b + c
code(f)
def f(x):
    a, *b = x
    return a
code(f)
def f(x, a: int = 3, b: 'str' = None) -> torch.Tensor:
    return x + a
code(f)
def f(x, a=3, b=None):
    return x + a if b is None else x
code(f, concrete_args={'a': 3, 'b': None})
def f(x, a=3, b=None):
    return x + a if b is None else x
fx.symbolic_trace(f, concrete_args={'b': None})(torch.ones(1), 1, 2)
def f(x, a=3):
    return x + a
code(f, concrete_args=(1, 2, 3))
def f(d):
    return d['a'] + d['b'][0]
code(f, concrete_args={'d': {'a': fx.PH, 'b': [fx.PH, 2]}})
def f(d):
    return {'o': d['a'] + d['b'][0]}
fx.symbolic_trace(f, concrete_args={'d': {'a': fx.PH, 'b': [fx.PH]}})({'a': torch.ones(1), 'b': [torch.ones(1)]})
def f(d):
    return {'o': d['a'] + d['b'][0]}
fx.Interpreter(fx.symbolic_trace(f, concrete_args={'d': {'a': fx.PH, 'b': [fx.PH]}})).run({'a': torch.ones(1), 'b': [torch.ones(1)]})
code(lambda x, y: (x + y, 2 + x, torch.ones(3) + x, x % 2, 2 % x, x // 2, x ** 2, 2 ** x, x @ y, x & y, x | y, x ^ y, -x, +x, ~x, abs(x)))
code(lambda x: (torch.ones(3) * x, torch.ones(3) / x, torch.ones(3) < x, torch.ones(3) == x, torch.ones(3) & x, torch.ones(3) % x))
code(lambda x: (x < 1, 1 < x, x == 1, x != 1, 1 >= x, x.T, x.device, x.dtype, x[x.size(0):, ::2]))
code(lambda x: math.sqrt(x.size(0)))
code(lambda x: torch._assert(x.sum() > 0, 'm'))
code(lambda x: operator.iadd(x, 1))
code(lambda x: (torch.max(x, 1)[0], torch.stack((x, x)), torch.sum(x, dim=1, keepdim=True), torch.where(x > 0, x, x), torch.numel(x)))
code(lambda x: (torch.split(x, 2), torch.norm(x), torch.is_floating_point(x), torch.einsum('ij,jk', x, x), torch.zeros_like(x), torch.bmm(x, x)))
code(lambda x, w: (F.relu(x), F.relu(x, True), F.dropout(x, 0.2), F.embedding(x, w), F.pad(x, (1, 1)), F.interpolate(x, scale_factor=2)))
code(lambda x, w: (F.layer_norm(x, (3,)), F.batch_norm(x, w, w, training=True), F.cross_entropy(x, w), F.mse_loss(x, w), F.log_softmax(x, -1)))
code(lambda x, w: (F.conv2d(x, w, padding=1), F.linear(x, w), F.gelu(x), F.max_pool2d(x, 2), F.avg_pool2d(x, 2), F.one_hot(x, 3), F.silu(x)))
code(lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True))
code(lambda x: [None, x.to(torch.float16), x.to(device=torch.device('cpu')), x + float('inf'), x * 1j, x.contiguous(memory_format=torch.channels_last)])
P = collections.namedtuple('P', 'a b'); code(lambda x: P(x, 1))
fx.wrap('len'); fx.wrap('inc'); code(lambda x: inc(x) * len(x))
fx.wrap('inc'); fx.symbolic_trace(lambda x: inc(x) * 2)(torch.ones(2))
fx.wrap('inc'); nodes(fx.symbolic_trace(fx.symbolic_trace(lambda x: inc(x) * 2)).graph)
def f():
    fx.wrap('len')
f()
fx.wrap(len) is len, code(lambda x: len(x) + 1)
fx.wrap(3)
class Pair(metaclass=fx.ProxyableClassMeta):
    def __init__(self, a, b):
        self.a, self.b = a, b
def f(x):
    p = Pair(x, 1)
    return p.a
code(f)
[g.create_node('call_function', inc, (x,), name=n).name for n in ['x', 'x', 'x_1', 'x_3', 'x_3', 'a-b', '1a', '', 'for', 'getattr', '__add__', 'torch', 'x_7', 'x', '9']]
[g.call_function(f, (x,)).name for f in [torch.sum, torch.max, operator.and_, operator.not_, F.relu, torch.abs, inc, nn.Linear, len, lambda x: x]]
[g.call_method(f, (x,)).name for f in ['__add__', 'sum', 'camelCase', 'float', '__getitem__']] + [g.call_module(f).name for f in ['layer1.0.Conv', '0', 'a.b']]
g.output((x, [a, b])); str(g), str(g.output_node()), g.output_node().all_input_nodes
g.erase_node(a)
g.erase_node(b); str(g), a.users, len(g.nodes), list(reversed(g.nodes))
g.output(b)
with g.inserting_before(b):
    c = g.call_function(inc, (a,))
b.replace_input_with(a, c); str(g), a.users, c.users
g.output(b)
with g.inserting_after(a):
    c = g.call_function(torch.neg, (a,)); d = g.call_function(torch.exp, (a,))
str(g), a.next, a.prev
with g.inserting_before():
    g.placeholder('z')
str(g)
g.output(b); g.call_function(torch.neg, (a,)); g.call_function(torch._assert, (a, 'm')); g.eliminate_dead_code(), str(g)
c = g.call_function(torch.neg, (a,)); a.replace_all_uses_with(c, lambda user: user is not c), str(g)
a.prepend(b); g.lint()
b.args = (x, a, [a, {'k': y}], slice(y)); b.args, list(a.users), list(y.users), b.all_input_nodes, [type(v).__name__ for v in b.args]
b.update_arg(0, y); b.update_kwarg('z', a); b.insert_arg(0, x); b.args, b.kwargs, list(a.users)
b.args = ([x],); b.args[0].append(1)
b.kwargs = {'k': {'v': 1}}; b.kwargs['k']['v'] = 2
graph()[0].call_function(torch.add, (x,)).graph.lint()
g.create_node('nothing', 'x')
g.create_node('call_function', 'x')
g.create_node('call_method', 'x', [1])
g.inserting_before(graph()[1])
a.append(graph()[1])
g.find_nodes(op='call_function', target=torch.add), g.find_nodes(op='placeholder'), g.find_nodes(op='call_method', target='none')
[n.is_impure() for n in g.nodes], a.format_node(), repr(a), a.type, a.meta, a.graph is g
h = fx.Graph(); m = {}; h.graph_copy(g, m); str(h), m, m[a].graph is h
g.output(b); h = copy.deepcopy(g); g.erase_node(g.output_node()); str(h), len(h.nodes), len(g.nodes)
g.output(b); str(pickle.loads(pickle.dumps(fx.GraphModule({}, g))).graph)
of(g.call_function(inc, (x, torch.float32, torch.device('cuda:1'), torch.Size([1, 2]), 'q', 1j, None, ..., (1,), (), [], {'k': y}, float('-inf'))))
of(g.call_function(operator.setitem, (x, 1, 2)))
of(g.call_function(getattr, (x, 'a b')))
of(g.call_function(collections.Counter, (x,)))
g.placeholder('p', type_expr=typing.List[int]); g.placeholder('q', type_expr=typing.Optional[torch.Tensor]); g.placeholder('r', type_expr=tuple[int, str]); of(x)
fx.GraphModule({}, (lambda g: (g.call_module('zip'), g)[1])(fx.Graph()))
fx.GraphModule(Small(), (lambda g: (g.call_module('zip'), g)[1])(fx.Graph()))
gm = fx.symbolic_trace(Small()); gm.graph.create_node('call_module', 'zzz'); gm.graph.lint()
gm = fx.symbolic_trace(Small()); gm.add_submodule('new.thing', nn.ReLU()), gm.add_submodule('l.weight.thing', nn.ReLU()), gm.delete_submodule('m.1'), gm.delete_submodule('q.r'), [n for n, _ in gm.named_modules()]
gm = fx.symbolic_trace(Small()); gm.add_submodule('new.thing', nn.ReLU()); gm.delete_all_unused_submodules(); [n for n, _ in gm.named_modules()]
gm = fx.symbolic_trace(Small()); [n.target for n in gm.graph.nodes if n.op == 'call_method']; m = [n for n in gm.graph.nodes if n.op == 'call_method'][0]; m.target = 'neg'; m.args = m.args[:1]; gm.recompile(); gm.code
gm = fx.symbolic_trace(lambda x: x + 1); gm.graph.on_generate_code(lambda before: lambda body: ['"first"\n', *body]); gm.recompile(); gm.code
it = fx.Interpreter(fx.symbolic_trace(lambda x: x * 2 + 1), garbage_collect_values=False); it.run(torch.ones(2)), list(map(str, it.env))
it = fx.Interpreter(fx.symbolic_trace(lambda x: x * 2 + 1)); it.run(torch.ones(2)), list(map(str, it.env))
class T(fx.Transformer):
    def call_method(self, t, a, k):
        return super().call_method('tanh', a[:1], {}) + F.relu(a[0])
T(fx.symbolic_trace(Small())).transform().code
rewritten(lambda x: torch.relu(x + 1) + torch.relu(x + 1), lambda x: torch.relu(x + 1), lambda x: torch.sigmoid(x))
rewritten(lambda x, y: torch.add(torch.mul(x, y), x), lambda a, b: torch.mul(a, b), lambda a, b: a - b)
rewritten(lambda x: torch.add(x, x), lambda a, b: torch.add(a, b), lambda a, b: a - b)
rewritten(lambda x: x.neg().neg().neg().neg(), lambda x: x.neg().neg(), lambda x: x.abs())
def f(x):
    a = torch.neg(x)
    return torch.exp(a) + a
rewritten(f, lambda x: torch.exp(torch.neg(x)), lambda x: x * 2)
def f(x):
    a = torch.neg(x)
    return torch.cat([torch.exp(a), torch.sin(a)])
def p(x):
    a = torch.neg(x)
    return torch.exp(a), torch.sin(a)
rewritten(f, p, lambda x: (x.cos(), x.tan()))
rewritten(lambda x: torch.relu(x + 3), lambda x: torch.relu(x + 1), lambda x: x)
rewritten(lambda x: x.shape[0] + x.size(1), lambda x: x.shape[0], lambda x: x.size(0))
rewritten(lambda x, y: (x + y) * 2, lambda x, y: x + y, lambda x, y: x)
gm = fx.symbolic_trace(Small()); fx.replace_pattern(gm, lambda x: x.clamp(0.0, 1.0), Block()); gm.code, [n for n, _ in gm.named_modules()]
class L(fx.Tracer):
    def is_leaf_module(self, m, name):
        return isinstance(m, (Leaf, Block)) or super().is_leaf_module(m, name)
m = Net(); m.leaf = Leaf(); str(L().trace(m)), L().trace(nn.Sequential(Leaf(), m)).output_node().args
code(nn.Sequential(Leaf(), Leaf()))
t = fx.Tracer(); [(n.name, list(n.meta.get('nn_module_stack', {}))) for n in t.trace(nn.Sequential(Block(), nn.Sequential(Leaf()))).nodes]
p = fx.Proxy(x); q = (p * 2).relu() + p.shape[0]; nodes(g), repr(q)
""".strip(), re.MULTILINE)


def answer(snippet, torch):
    """What the snippet's last expression is, or the error it raises, as text that does not depend on the library's name."""
    fx = importlib.import_module(torch.__name__ + ".fx")
    names = {"__name__": "program", "torch": torch, "nn": torch.nn, "F": torch.nn.functional, "fx": fx}
    exec(PRELUDE, names)
    sys.modules["program"] = types.ModuleType("program")  # where a pickle finds functions
    sys.modules["program"].__dict__.update(names)
    *before, last = ast.parse(snippet).body
    try:
        exec(compile(ast.Module(before, []), "program", "exec"), names)
        text = str(eval(compile(ast.Expression(last.value), "program", "eval"), names))
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
    text = re.sub(r"\bargand\.", "torch.", text)
    text = text.replace("torch._C._nn.", "torch.nn.functional.").replace("torch.functional.", "torch.")
    return re.sub(r"0x[0-9a-f]+", "0x", text)


if __name__ == "__main__":
    import torch
    with open(RECORDED, "w") as file:
        json.dump({snippet: answer(snippet, torch) for snippet in SNIPPETS}, file, indent=0)
    sys.exit()

import argand  # noqa: E402
import pytest  # noqa: E402
from argand import fx, nn  # noqa: E402

F = nn.functional
with open(RECORDED) as file:
    EXPECTED = json.load(file)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("snippet", SNIPPETS)
def test_snippet(snippet):
    assert answer(snippet, argand) == EXPECTED[snippet]


class Encoder(nn.Module):
    """What vision models do: blocks with a way around them, sizes, tuples, functions of F and of the library."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.mix = nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.Linear(8, 8))
        self.scale = nn.Parameter(argand.ones(8))

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm(self.stem(x))), 2)
        n, c, h, w = x.shape
        tokens = x.view(n, c, h * w).transpose(1, 2)
        q, k = tokens.chunk(2, dim=-1)
        tokens = tokens + F.scaled_dot_product_attention(q, k, tokens) * self.scale
        tokens = F.layer_norm(tokens + self.mix(tokens), (c,))
        return {"pooled": argand.einsum("nlc->nc", tokens) / (h * w), "last": (tokens[:, -1], argand.max(tokens, 1)[0])}


def encoder():
    argand.manual_seed(0)
    return Encoder().eval(), argand.randn(2, 3, 6, 6)


def same(a, b):
    assert argand.equal(a["pooled"], b["pooled"]) and all(map(argand.equal, a["last"], b["last"]))
    return True


def test_a_graph_computes_what_the_module_does():
    module, x = encoder()
    traced = fx.symbolic_trace(module)
    traced.graph.lint()
    expected = module(x)
    assert same(traced(x), expected) and same(fx.Interpreter(traced).run(x), expected)
    for other in (copy.deepcopy(traced), copy.copy(traced), pickle.loads(pickle.dumps(traced)), fx.symbolic_trace(traced),
                  fx.Transformer(traced).transform()):
        assert isinstance(other, fx.GraphModule) and other is not traced
        assert other.code == traced.code and same(other(x), expected)
    # Another size than the traced one (there was none), and gradients.
    assert same(traced(x[:1, :, :4]), module(x[:1, :, :4]))
    traced(x)["pooled"].sum().backward()
    assert traced.scale is module.scale and module.scale.grad is not None


def test_copies_are_their_own():
    module, x = encoder()
    traced = fx.symbolic_trace(module)
    other = copy.deepcopy(traced)
    assert other.graph is not traced.graph and other.graph.owning_module is other and other.scale is not traced.scale
    other.graph.output_node().args = (other.graph.find_nodes(op="placeholder")[0],)
    other.graph.eliminate_dead_code()
    other.recompile()
    assert other(x) is x and len(other.graph.nodes) == 2
    assert same(traced(x), module(x))  # forward() is each object's own
    proxy = fx.Proxy(other.graph.output_node())
    assert copy.copy(proxy).node is proxy.node and len(other.graph.nodes) == 2
    deep = copy.deepcopy(proxy)
    assert deep.node is not proxy.node and deep.node.name == proxy.node.name and deep.node.graph.output_node() is deep.node
    assert deep.tracer.graph is deep.node.graph


def test_nests_of_arguments_survive_copies():
    def total(d, k):
        return {"sum": d["a"] + d["b"][0] * k}
    traced = fx.symbolic_trace(total, concrete_args={"d": {"a": fx.PH, "b": [fx.PH]}})
    one = argand.ones(2)
    for module in (traced, copy.deepcopy(traced), pickle.loads(pickle.dumps(traced))):
        assert module({"a": one, "b": [one]}, 3)["sum"].tolist() == [4, 4]
        assert fx.Interpreter(module).run({"a": one, "b": [one]}, 3)["sum"].tolist() == [4, 4]
        with pytest.raises(ValueError):
            module({"a": one, "b": [one, one]}, 3)


def test_a_pickle_without_a_graph_is_traced_from_its_code():
    module, x = encoder()
    traced = fx.symbolic_trace(module)
    body = {k: v for k, v in traced.__dict__.items() if k != "_graph"}  # as PyTorch writes it
    loaded = fx.graph_module.reduce_graph_module(body, "import argand as torch\n")
    assert loaded.code == traced.code and same(loaded(x), module(x))


class QualifiedNames(fx.Tracer):
    """A tracer that overrides call_module() and create_proxy() as packages that extract features do."""

    def __init__(self):
        super().__init__()
        self.path, self.names = "", {}

    def call_module(self, m, forward, args, kwargs):
        before, self.path = self.path, self.path_of_module(m)
        try:
            if self.is_leaf_module(m, self.path):
                return self.create_proxy("call_module", self.path, args, kwargs)
            return forward(*args, **kwargs)
        finally:
            self.path = before

    def create_proxy(self, kind, target, args, kwargs, name=None, type_expr=None, *_):
        proxy = super().create_proxy(kind, target, args, kwargs, name, type_expr)
        self.names[proxy.node] = self.path if kind == "call_module" else f"{self.path}/{proxy.node}"
        return proxy


def test_features_are_extracted_by_a_changed_graph():
    module, x = encoder()
    tracer = QualifiedNames()
    graph = tracer.trace(module)
    assert list(tracer.names.values())[:6] == ["/x", "stem", "norm", "/relu", "/max_pool2d", "/getattr_1"]
    assert "mix.1" in tracer.names.values() and "/scale" in tracer.names.values()
    features = fx.GraphModule(tracer.root, graph, "Features")
    graph.erase_node(graph.output_node())
    wanted = {name: node for node, name in tracer.names.items() if name in ("norm", "/relu")}
    graph.output(wanted)
    graph.eliminate_dead_code()
    features.recompile()
    features.delete_all_unused_submodules()
    assert [name for name, _ in features.named_children()] == ["stem", "norm"] and type(features).__name__ == "Features"
    got = features(x)
    assert argand.equal(got["norm"], module.norm(module.stem(x))) and argand.equal(got["/relu"], F.relu(got["norm"]))


def test_a_trace_leaves_nothing_behind():
    functions = dict(vars(F))
    call, look_up = nn.Module.__call__, nn.Module.__getattr__
    fx.symbolic_trace(Encoder())

    def branches(x):
        return F.relu(x) if F.relu(x).sum() > 0 else x
    for _ in range(2):
        with pytest.raises(fx.proxy.TraceError):
            fx.symbolic_trace(branches)
    assert all(vars(F)[name] is was for name, was in functions.items()) and len(functions) > 80
    assert nn.Module.__call__ is call and nn.Module.__getattr__ is look_up
    assert not fx._symbolic_trace.is_fx_tracing()
    assert F.relu(argand.tensor([-1.0, 2.0])).tolist() == [0, 2]


def test_functions_are_leaves_wherever_they_were_imported_from():
    names = {}
    exec("from argand.nn.functional import relu, pad\ndef helper(x):\n    return relu(pad(x, (1, 1)))", names)  # not the forward's file
    graph = fx.symbolic_trace(lambda x: names["helper"](x) + F.relu(argand.ones(1))[0].item()).graph
    assert [(n.name, n.target) for n in graph.nodes][1:3] == [("pad", F.pad), ("relu", F.relu)]
    assert list(graph.nodes)[3].args[1] == 1  # what has no proxy is computed


def test_interpreter_says_which_node_failed():
    module = fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2)))
    with pytest.raises(RuntimeError, match=r"(?s)^Expected positional argument for parameter input, but one was not passed in!\n\n"
                       r"While executing %input_1 : \[num_users=1\] = placeholder\[target=input\]"):
        fx.Interpreter(module).run()
    with pytest.raises(RuntimeError, match="While executing %_0"):
        fx.Interpreter(module).run(argand.ones(3, 3))


def test_shapes():
    from argand.fx.passes.shape_prop import ShapeProp
    module, x = encoder()
    traced = fx.symbolic_trace(module)
    ShapeProp(traced).propagate(x)
    meta = {n.name: n.meta for n in traced.graph.nodes}
    pooled = meta["max_pool2d"]["tensor_meta"]
    assert pooled.shape == (2, 8, 3, 3) and pooled.dtype == argand.float32 and pooled.stride == (72, 9, 3, 1) and pooled.requires_grad
    assert [m.shape for m in meta["chunk"]["tensor_meta"]] == [(2, 9, 4), (2, 9, 4)] and meta["getattr_1"]["type"] is argand.Size
    assert "tensor_meta" not in meta["getattr_1"]


def test_importing_argand_does_not_import_it():
    program = "import sys, argand; assert 'argand.fx' not in sys.modules; argand.fx.Graph; assert 'argand.fx' in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_operands_of_einsum_in_a_list():
    """PyTorch's einsum takes them out before it asks who overrides it."""
    graph = argand.fx.Graph()
    x = argand.fx.Proxy(graph.placeholder("x"), argand.fx.proxy.GraphAppendingTracer(graph))
    assert argand.einsum("i,i->", (x, x)).node.args == argand.einsum("i,i->", x, x).node.args == ("i,i->", x.node, x.node)

    class Traced(argand.Tensor):
        seen = []

        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            cls.seen.append(len(args))
            return super().__torch_function__(function, types, args, kwargs)
    t = argand.ones(2).as_subclass(Traced)
    assert argand.einsum("i,i->", [t, t]).item() == 2 and Traced.seen[0] == 3


def test_nodes_know_where_they_come_from():
    class Sum(argand.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = argand.nn.Parameter(argand.ones(1))

        def forward(self, a, b):
            return argand.sin(a) + argand.cos(b) * self.weight
    tracer = fx.Tracer()
    tracer.record_stack_traces = True
    graph = tracer.trace(Sum())
    for node in graph.nodes:
        assert node.op == "output" or "test_fx.py" in node.stack_trace and os.sep + "fx" + os.sep not in node.stack_trace
    weight, = (n for n in graph.nodes if n.op == "get_attr")
    weight.meta["nn_module_stack"] = "self"
    again = fx.Transformer(fx.GraphModule(tracer.root, graph)).transform()
    assert [n.meta["nn_module_stack"] for n in again.graph.nodes if n.op == "get_attr"] == ["self"]
    assert all("test_fx.py" in n.stack_trace for n in again.graph.nodes if n.op == "call_function")


def test_lines_of_code_are_known_by_their_nodes():
    traced = fx.symbolic_trace(lambda a, b: argand.sin(a) + argand.cos(b))
    assert set({1: 2, 2: 3, 3: 4, 4: 5}.items()) <= set(traced._lineno_map.items())
    lines, names = traced.code.split("\n"), [n.name for n in traced.graph.nodes]
    for line, node in traced._lineno_map.items():
        text = lines[traced._prologue_start + line - 1].strip()
        assert not text or text.startswith(("return", names[node]))
    traced.graph.on_generate_code(lambda _: lambda code: ["print('hello!')\n", *code])
    traced.recompile()
    assert set({2: 2, 3: 3, 4: 4, 5: 5}.items()) <= set(traced._lineno_map.items())
    assert "COUNTER" not in traced.code
    assert "test_fx.py" in traced.forward.__code__.co_filename


def test_ops_that_write_are_refused_where_a_tracer_asks_for_it():
    class Strict(fx.Tracer):
        check_mutable_operations = True

    def writes(x):
        y = argand.rand_like(x)
        argand.sigmoid(x, out=y)
        return y
    with pytest.raises(RuntimeError, match="mutable operation aten::sigmoid.out"):
        Strict().trace(writes)
    Strict().trace(lambda x: argand.sigmoid(x))


def test_nests_are_taken_apart_by_places_and_more_arguments_than_names_are_given():
    traced = fx.symbolic_trace(lambda x: sum(x), concrete_args={"x": [fx.PH, fx.PH, fx.PH]})
    again = fx.symbolic_trace(traced)
    assert again([argand.ones(1), argand.ones(1), argand.ones(1)]).item() == 3

    class Starred(argand.nn.Module):
        def forward(self, *args, **kwargs):
            return args[0] + args[1]
    traced = fx.symbolic_trace(Starred(), concrete_args=(fx.PH, fx.PH))
    traced.graph.lint()
    assert traced(argand.ones(1), argand.ones(1)).item() == 2


def test_spans_of_a_profile_stay_in_graphs():
    graph = fx.Graph()
    handle = graph.call_function(argand.ops.profiler._record_function_enter_new, ("span",))
    graph.call_function(argand.ops.profiler._record_function_exit, (handle,))
    graph.output(None)
    graph.eliminate_dead_code()
    assert len(graph.nodes) == 3


def test_named_tuples_are_taken_apart_by_places():
    Point = collections.namedtuple("Point", ["x", "y"])
    traced = fx.symbolic_trace(fx.symbolic_trace(lambda p: p.x + p.y, concrete_args={"p": Point(fx.PH, fx.PH)}))
    assert traced(Point(argand.ones(1), argand.ones(1))).item() == 2


def test_patterns_match_ops_whatever_way_their_arguments_are_given():
    pool = argand.ops.aten.max_pool2d_with_indices.default
    traced = fx.symbolic_trace(lambda x: pool(x, [2, 2], stride=[2, 2]))

    def pattern(x, kernel_size, stride):
        return pool(x, kernel_size, stride, padding=[0, 0])
    assert len(fx.replace_pattern(traced, pattern, pattern)) == 1
    traced = fx.symbolic_trace(lambda x: pool(x, [2, 2], stride=[2, 2], padding=[1, 1]))
    assert not fx.replace_pattern(traced, pattern, pattern)
