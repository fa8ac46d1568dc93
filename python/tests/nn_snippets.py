"""Small programs about Module and containers; what they print, or the error they raise, is PyTorch's.

Run with PyTorch's Python, this file writes what PyTorch answers to nn_snippets.json; test_nn_module.py compares.
"""
import json
import os
import re

RECORDED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "nn_snippets.json")

PRELUDE = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
        self.act = nn.ReLU()
        self.register_buffer("b", torch.zeros(2))
        self.register_buffer("hidden", torch.ones(1), persistent=False)
        self.register_parameter("none", None)
        self.scale = nn.Parameter(torch.ones(1))
    def forward(self, x, k=1):
        return self.act(self.fc(x)) * k
class Late(nn.Module):
    def __init__(self):
        self.a = A
class Extra(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 5
    def get_extra_state(self):
        return self.n
    def set_extra_state(self, state):
        self.n = state
net = Net()
log = []
"""

# Each is run after PRELUDE; its last expression, or what it raises, is the answer.
SNIPPETS = """
net
list(net.state_dict())
dict(net.state_dict()._metadata)
[n for n, _ in net.named_parameters()]
[n for n, _ in net.named_buffers()]
[n for n, _ in net.named_modules()]
[n for n, _ in net.named_children()]
[n for n, _ in net.named_parameters(prefix='p', recurse=False)]
net.other = net.fc; [n for n, _ in net.named_parameters()]
net.other = net.fc; [n for n, _ in net.named_parameters(remove_duplicate=False)]
net.other = net.fc; [n for n, _ in net.named_modules(remove_duplicate=False)]
net.missing
net.fc = 3
net.fc = None; net
net.scale = torch.ones(1)
net.scale = 'x'
net.scale = None; [n for n, _ in net.named_parameters()]
net.b = 5
net.b = None; list(net.state_dict())
net.b = torch.ones(2); net.b
del net.fc; net
del net.b; list(net.state_dict())
del net.scale; hasattr(net, 'scale')
del net.nothing
net.b = nn.Parameter(torch.ones(1)); list(net.state_dict())
net.act = nn.Parameter(torch.ones(1)); net
net.x = nn.Linear(1, 1); net.x = nn.Parameter(torch.ones(1)); [n for n, _ in net.named_children()]
net.plain = 3; net.plain = nn.Linear(1, 1); net
net.buf = nn.Buffer(torch.ones(2)); list(net.state_dict())
net.buf = nn.Buffer(torch.ones(2), persistent=False); list(net.state_dict())
isinstance(nn.Buffer(torch.ones(1)), nn.Buffer), isinstance(torch.ones(1), nn.Buffer), isinstance(nn.Parameter(torch.ones(1)), nn.Buffer)
isinstance(nn.Parameter(torch.ones(1)), nn.Parameter), isinstance(torch.ones(1), nn.Parameter)
A = nn.Parameter(torch.ones(1)); Late()
A = nn.Linear(1, 1); Late()
A = 3; Late()
net.register_buffer('a.b', None)
net.register_buffer('', None)
net.register_buffer(3, None)
net.register_buffer('act', None)
net.register_buffer('c', 3)
net.register_parameter('a.b', None)
net.register_parameter('', None)
net.register_parameter(3, None)
net.register_parameter('act', None)
net.register_parameter('c', torch.ones(1))
net.register_parameter('c', 'text')
net.add_module('a.b', None)
net.add_module('', None)
net.add_module(3, None)
net.add_module('b', nn.ReLU())
net.add_module('c', 3)
net.add_module('c', None); net
nn.Module(3)
nn.Module(a=3)
nn.Module()(1)
nn.Module()
net.get_submodule('fc')
net.get_submodule('')
net.get_submodule('fc.x')
net.get_submodule('b')
net.get_parameter('fc.bias').shape
net.get_parameter('fc.nope')
net.get_parameter('b')
net.get_buffer('b')
net.get_buffer('scale')
net.get_buffer('nope')
net.set_submodule('fc', nn.Identity()); net
net.load_state_dict({})
net.load_state_dict({}, strict=False)
net.load_state_dict(net.state_dict())
net.load_state_dict(5)
net.load_state_dict({**net.state_dict(), 'fc.weight': torch.ones(3, 3), 'extra': torch.ones(1), 'fc.deep.x': torch.ones(1)})
net.load_state_dict({**net.state_dict(), 'b': 3})
net.load_state_dict({**net.state_dict(), 'b': torch.full((2,), 7.)}); net.b
net.load_state_dict({**net.state_dict(), 'fc.bias': torch.full((2,), 7.)}, assign=True); net.fc.bias
list(Extra().state_dict().items())
e = Extra(); e.load_state_dict({'_extra_state': 9}); e.n
Extra().load_state_dict({})
nn.Linear(1, 1).load_state_dict({'weight': torch.ones(1, 1), 'bias': torch.ones(1), '_extra_state': 3})
net.state_dict(prefix='p.', keep_vars=True)['p.scale']
net.state_dict()['scale']
net.double().fc.weight.dtype, net.b.dtype
net.half().float().b.dtype
net.to(torch.bfloat16).scale
net.to(torch.int32)
net.to(torch.ones(1, dtype=torch.float64)).b
net.to('cpu', torch.float64, non_blocking=True).b
net.type(torch.float64).b
net.type('torch.DoubleTensor').b
p = net.scale; net.double(); p is net.scale, p.dtype
p = net.fc.weight; p.grad = torch.ones(2, 3); net.double(); p.grad.dtype, p.is_leaf
net.train(3)
net.eval().fc.training
net.requires_grad_(False).fc.weight.requires_grad
net(torch.ones(1, 3)).sum().backward(); net.zero_grad(set_to_none=False); net.fc.bias.grad
net(torch.ones(1, 3)).sum().backward(); net.zero_grad(); net.fc.bias.grad
net.apply(lambda m: log.append(type(m).__name__)) and log
net.compile(); 3
sorted(n for n in dir(net) if n in ('fc', 'b', 'scale', 'none', 'forward', '0'))
[n for n in dir(nn.Sequential(nn.ReLU())) if n.isdigit()]
h = net.register_forward_hook(lambda m, a, o: o * 0); y = net(torch.ones(1, 3)); h.remove(); y
net.register_forward_pre_hook(lambda m, a: torch.zeros(1, 3)); nn.init.ones_(net.fc.bias); net(torch.ones(1, 3))
net.register_forward_pre_hook(lambda m, a, k: (a, {'k': 0}), with_kwargs=True); net(torch.ones(1, 3), k=2)
net.register_forward_pre_hook(lambda m, a, k: 3, with_kwargs=True); net(torch.ones(1, 3), k=2)
net.register_forward_hook(lambda m, a, k, o: log.append(k), with_kwargs=True); net(torch.ones(1, 3), k=2); log
net.register_forward_hook(lambda m, a, o: log.append(1)); net.register_forward_hook(lambda m, a, o: log.append(0), prepend=True); net(torch.ones(1, 3)); log
net.register_forward_hook(lambda m, a, o: log.append(o), always_call=True); [None for _ in [0] if not log] and (lambda: net(3))()
net.fc.register_full_backward_hook(lambda m, i, o: log.append((i, o))); nn.init.ones_(net.fc.weight); nn.init.ones_(net.fc.bias); net(torch.ones(1, 3, requires_grad=True)).sum().backward(); log
net.fc.register_full_backward_hook(lambda m, i, o: log.append((i, o))); nn.init.ones_(net.fc.weight); nn.init.ones_(net.fc.bias); net(torch.ones(1, 3)).sum().backward(); log
x = torch.ones(1, 3, requires_grad=True); net.fc.register_full_backward_hook(lambda m, i, o: (i[0] * 0,)); net(x).sum().backward(); x.grad
net.fc.register_full_backward_pre_hook(lambda m, o: (o[0] * 0,)); net(torch.ones(1, 3)).sum().backward(); net.fc.weight.grad
x = torch.ones(1, 3, requires_grad=True); net.fc.register_full_backward_hook(lambda m, i, o: (i[0], i[0])); net(x).sum().backward()
net.register_state_dict_pre_hook(lambda m, p, k: log.append((p, k))); net.state_dict(); log
net.register_state_dict_post_hook(lambda m, s, p, l: s.pop('b').zero_().sum().item() or None); list(net.state_dict())
net.register_load_state_dict_post_hook(lambda m, k: k.missing_keys.clear()); net.load_state_dict({})
net.register_load_state_dict_pre_hook(lambda m, s, p, *a: s.update(b=torch.full((2,), 3.))); net.load_state_dict(net.state_dict()); net.b
c = copy.deepcopy(net); c.fc.weight is net.fc.weight, torch.equal(c.fc.weight, net.fc.weight), type(c.fc.weight).__name__, c
c = pickle.loads(pickle.dumps(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)))); c, type(c[0].weight).__name__, list(c.state_dict())
copy.deepcopy(nn.Parameter(torch.ones(2)))
pickle.loads(pickle.dumps(nn.Parameter(torch.ones(2), requires_grad=False)))
nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(2), False)
nn.Sequential()
nn.Sequential(OrderedDict(a=nn.ReLU(), b=nn.Linear(1, 2)))
nn.Sequential(nn.ReLU(), nn.Tanh(), nn.Sigmoid())[1:]
nn.Sequential(nn.ReLU(), nn.Tanh(), nn.Sigmoid())[-1]
nn.Sequential(nn.ReLU())[3]
nn.Sequential(3)
s = nn.Sequential(nn.ReLU(), nn.Tanh(), nn.Sigmoid()); del s[1]; s
s = nn.Sequential(nn.ReLU(), nn.Tanh()); s[0] = nn.ELU(); s.append(nn.GELU()); s.insert(1, nn.SiLU()); s.extend([nn.ReLU6()]); s
s = nn.Sequential(nn.ReLU(), nn.Tanh()); s.pop(0), s
nn.Sequential(nn.ReLU()) + nn.Sequential(nn.Tanh())
nn.Sequential(nn.ReLU()) + 3
nn.Sequential(nn.ReLU(), nn.Tanh()) * 2
nn.Sequential(nn.ReLU()) * 0
len(nn.Sequential(nn.ReLU())), list(nn.Sequential(nn.ReLU()))
nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2), nn.ReLU()])
nn.ModuleList()
nn.ModuleList([nn.ReLU()])(3)
l = nn.ModuleList([nn.ReLU(), nn.Tanh()]); l.insert(1, nn.ELU()); l.append(nn.GELU()); l += [nn.SiLU()]; del l[0]; l[-1], l[1:3], len(l), l
nn.ModuleList([nn.ReLU()]).extend(3)
nn.ModuleList([nn.ReLU()])[2]
nn.ModuleList([nn.Sequential(nn.Linear(2, 2), nn.ReLU()) for _ in range(3)])
d = nn.ModuleDict({'a': nn.ReLU(), 'b': nn.Tanh()}); d.update([['c', nn.ELU()]]); d['a'], 'b' in d, list(d), d.pop('a'), len(d), d
nn.ModuleDict(3)
nn.ModuleDict([3])
nn.ModuleDict([[3]])
l = nn.ParameterList([torch.ones(2), nn.Parameter(torch.ones(1, 3))]); l.append(3); l, list(l.state_dict()), len(l), l[0]
nn.ParameterList([torch.ones(1)])()
d = nn.ParameterDict({'b': torch.ones(2), 'a': nn.Parameter(torch.ones(1, 3))}); d['c'] = torch.zeros(1); d, list(d), list(d.state_dict()), 'a' in d
nn.Linear(2, 3, dtype=torch.float64).weight.dtype
nn.Linear(2, 3, device='meta').weight.is_meta
nn.Linear(2, 3, device='meta').to_empty(device='cpu').weight.shape
nn.utils.skip_init(nn.Linear, 2, 3).weight.shape
nn.Conv2d(3, 4, 3, groups=2)
nn.Conv2d(3, 4, 3, padding='same', stride=2)
nn.Conv2d(4, 4, 3, groups=0)
nn.ConvTranspose2d(4, 4, 3, padding_mode='reflect')
nn.ConvTranspose2d(4, 4, 3, stride=2)(torch.ones(1, 4, 3, 3), output_size=(8, 8)).shape
nn.ConvTranspose2d(4, 4, 3, stride=2)(torch.ones(1, 4, 3, 3), output_size=(9, 8)).shape
nn.ConvTranspose2d(4, 4, 3, stride=2)(torch.ones(1, 4, 3, 3), output_size=(9,)).shape
nn.BatchNorm2d(3)(torch.ones(2, 3))
nn.BatchNorm1d(3)(torch.ones(1, 3))
nn.BatchNorm1d(3)(torch.ones(3))
nn.InstanceNorm1d(3)(torch.ones(2, 3, 1))
nn.InstanceNorm2d(3)(torch.ones(3, 1))
nn.GroupNorm(2, 3)
nn.Dropout(1.5)
nn.Embedding(3, 2, padding_idx=3)
nn.Embedding(3, 2, padding_idx=1).weight[1]
nn.Embedding.from_pretrained(torch.ones(2)), 3
nn.Embedding(5, 2, max_norm=1., norm_type=1., scale_grad_by_freq=True, sparse=True)
nn.Hardtanh(1, 0)
nn.Unflatten(1, 3)
nn.Unflatten(1, (3, 'x'))
pickle.loads(pickle.dumps((torch.float32, torch.Size([2]), torch.device('cpu'))))
nn.Softmax2d()(torch.ones(2))
nn.MSELoss(reduction='x')(torch.ones(1), torch.ones(1))
nn.MSELoss(size_average=False).reduction, nn.MSELoss(reduce=False).reduction
nn.LSTM(3, 4, dropout=2)
nn.LSTM(3, 0)
nn.LSTM(3, 4, proj_size=4)
nn.GRU(3, 4, proj_size=2)
nn.RNN(3, 4, nonlinearity='x')
nn.LSTM(3, 4, 2, bidirectional=True, batch_first=True, bias=False, proj_size=2), list(nn.LSTM(3, 4, 2, bidirectional=True, proj_size=2).state_dict())
nn.LSTM(3, 4)(torch.ones(2, 5))
nn.LSTM(3, 4)(torch.ones(2, 5, 4))
nn.LSTM(3, 4)(torch.ones(2, 5, 3), (torch.ones(1, 5, 3), torch.ones(1, 5, 4)))
nn.GRU(3, 4)(torch.ones(2, 5, 3), torch.ones(1, 4, 4))
nn.GRU(3, 4)(torch.ones(2, 3), torch.ones(1, 4, 4))
nn.GRU(3, 4)(torch.ones(3))
nn.GRUCell(3, 4)(torch.ones(1, 1, 3))
nn.MultiheadAttention(8, 3)
nn.MultiheadAttention(0, 3)
nn.TransformerEncoderLayer(8, 2, activation='x')
nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2), 2)
nn.Transformer.generate_square_subsequent_mask(3)
F.dropout(torch.ones(1), 2)
F.softmax(torch.ones(2, 2))
F.interpolate(torch.ones(1, 1, 2), size=3, scale_factor=2)
F.interpolate(torch.ones(1, 1, 2))
F.interpolate(torch.ones(1, 1, 2), size=3, align_corners=True)
F.interpolate(torch.ones(1, 1, 2), size=3, mode='bilinear')
F.interpolate(torch.ones(1, 1, 2, 2), size=(3,))
F.binary_cross_entropy(torch.ones(1), torch.ones(2))
F.binary_cross_entropy_with_logits(torch.ones(1), torch.ones(2))
F.multi_margin_loss(torch.ones(1, 2), torch.tensor([0]), p=3)
F.gaussian_nll_loss(torch.ones(1), torch.ones(1), -torch.ones(1))
F.triplet_margin_loss(torch.ones(1, 2), torch.ones(1, 2), torch.ones(1, 2), margin=-1)
F.glu(torch.tensor(1.))
F.grid_sample(torch.ones(1, 1, 2, 2), torch.ones(1, 1, 1, 2), mode='x')
F.normalize(torch.tensor([[3., 4.]]))
F.pdist(torch.tensor([[0., 0.], [3., 4.], [0., 1.]]))
F.one_hot(torch.tensor([1, 0]), 3)
F.bilinear(torch.ones(2, 3), torch.ones(2, 4), torch.ones(5, 3, 3))
nn.init.calculate_gain('leaky_relu', 0.2), nn.init.calculate_gain('tanh'), nn.init.calculate_gain('conv2d')
nn.init.calculate_gain('x')
nn.init.kaiming_uniform_(torch.ones(2))
nn.init.kaiming_uniform_(torch.ones(2, 2), mode='x')
nn.init.dirac_(torch.empty(4, 2, 3), 2)
nn.init.dirac_(torch.empty(3, 2, 3), 2)
nn.init.dirac_(torch.empty(3, 2), 1)
nn.init.eye_(torch.empty(2, 3))
nn.init.eye_(torch.empty(2))
nn.init.orthogonal_(torch.empty(2))
nn.init.sparse_(torch.empty(2), 0.5)
nn.utils.clip_grad_norm_(net.parameters(), 1.)
net(torch.ones(1, 3)).sum().backward(); net.fc.bias.grad.fill_(3.); net.fc.weight.grad.fill_(float('inf')); nn.utils.clip_grad_norm_(net.parameters(), 1., error_if_nonfinite=True)
nn.utils.parameters_to_vector(nn.Sequential(nn.BatchNorm1d(2), nn.BatchNorm1d(1)).parameters())
m = nn.BatchNorm1d(2); nn.utils.vector_to_parameters(torch.arange(4.), m.parameters()); m.bias
nn.utils.vector_to_parameters(3, [])
nn.utils.fuse_conv_bn_eval(nn.Conv2d(1, 1, 1), nn.BatchNorm2d(1))
m = nn.utils.weight_norm(nn.Linear(2, 3)); [n for n, _ in m.named_parameters()], m, m.weight_g.shape
m = nn.utils.remove_weight_norm(nn.utils.weight_norm(nn.Conv1d(2, 3, 2), dim=None)); [n for n, _ in m.named_parameters()], m
nn.utils.remove_weight_norm(nn.Linear(2, 3))
m = nn.utils.spectral_norm(nn.Linear(2, 3)); m.train(); y = m(torch.ones(1, 2)); list(m.state_dict()), m, m.eval()(torch.ones(1, 2)).detach()
m = nn.utils.remove_spectral_norm(nn.utils.spectral_norm(nn.Conv2d(2, 3, 2))); list(m.state_dict()), m
m = nn.utils.parametrizations.weight_norm(nn.Linear(2, 3)); list(m.state_dict()), m, type(m).__name__, nn.utils.parametrize.is_parametrized(m, 'weight')
m = nn.utils.parametrizations.spectral_norm(nn.Conv2d(2, 3, 2)); list(m.state_dict()), m, m(torch.ones(1, 2, 2, 2)).detach()
m = nn.utils.parametrize.register_parametrization(nn.Linear(2, 2, bias=False), 'weight', nn.ReLU()); w = m.weight; (w >= 0).all(), m.parametrizations.weight.original.shape, m
m = nn.utils.parametrize.register_parametrization(nn.Linear(2, 2), 'weight', nn.ReLU()); nn.utils.parametrize.remove_parametrizations(m, 'weight'); list(m.state_dict()), m, (m.weight >= 0).all()
nn.utils.parametrize.register_parametrization(nn.Linear(2, 2), 'nope', nn.ReLU())
m = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2)); m.weight = torch.tensor([[3., 4.], [0., 1.]]); m.parametrizations.weight.original0, m.weight.detach()
c = copy.deepcopy(nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))); list(c.state_dict()), c(torch.ones(1, 2)).shape
m = nn.utils.weight_norm(nn.Linear(2, 2)); m(torch.ones(1, 2)).sum().backward(); m.weight_g.grad, m.weight_v.grad
nn.utils.stateless.functional_call(nn.Linear(2, 1), {'weight': torch.ones(1, 2), 'bias': torch.zeros(1)}, (torch.ones(1, 2),))
nn.init.trunc_normal_(torch.empty(40)), nn.init.trunc_normal_(torch.empty(20), 1., 2., 0., 3.), nn.init.trunc_normal_(torch.empty(20), 1., 2., 3.5, 4.), nn.init.trunc_normal_(torch.empty(9), 0., 1., -.1, .1)
nn.init.xavier_uniform_(torch.empty(2, 3), gain=2.), nn.init.xavier_normal_(torch.empty(2, 3))
nn.init.kaiming_normal_(torch.empty(2, 3), a=0.1, mode='fan_out'), nn.init.kaiming_uniform_(torch.empty(2, 3, 2), nonlinearity='relu')
nn.init.sparse_(torch.empty(4, 2), 0.5)
nn.init.orthogonal_(torch.empty(3, 2)), nn.init.orthogonal_(torch.empty(2, 3, 2), 2.)
nn.init.uniform_(torch.empty(3), generator=torch.Generator().manual_seed(5)), nn.init.normal_(torch.empty(20), 1., 2.)
nn.DataParallel(nn.Linear(1, 1))
list(nn.DataParallel(nn.Linear(1, 1)).state_dict())
""".strip().split("\n")


def answer(snippet, torch):
    """What `snippet` evaluates to or raises, as text, the same for both libraries' names."""
    import ast
    import collections
    import copy
    import pickle
    names = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "copy": copy, "pickle": pickle,
             "OrderedDict": collections.OrderedDict}
    torch.manual_seed(0)
    exec(PRELUDE, names)
    body = ast.parse(snippet).body
    try:
        exec(compile(ast.Module(body[:-1], []), "snippet", "exec"), names)
        if isinstance(body[-1], ast.Expr):
            text = repr(eval(compile(ast.Expression(body[-1].value), "snippet", "eval"), names))
        else:
            exec(compile(ast.Module(body[-1:], []), "snippet", "exec"), names)
            text = "done"
    except Exception as error:
        kind = next(c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins")
        text = f"{kind}: {error}"
    return re.sub(r" at 0x[0-9a-f]+", "", text).replace("argand", "torch")


if __name__ == "__main__":
    import warnings
    import torch
    warnings.simplefilter("ignore")
    with open(RECORDED, "w") as file:
        json.dump({s: answer(s, torch) for s in SNIPPETS}, file, indent=0)
        file.write("\n")
