#!/usr/bin/env python3
"""Programs that mix tensors of a GPU and of the CPU, by the Python front and by PyTorch on the same GPU.

    mixed_devices.py [--verbose] [TEXT...]

Each line of PROGRAMS is run by both libraries: either both refuse it, or the results of its last expression agree in device, dtype,
shape and values.  What PyTorch alone refuses is counted by itself: numbers of the CPU go with tensors of a GPU in more places here.
With TEXT, the programs that contain one.  Prints what differs, last `N passed, N failed`.  Without PyTorch and NumPy, or without a GPU
that both libraries see, nothing is done, with exit status 77.
"""
import argparse
import ast
import cmath
import io
import sys
import warnings

import any_processor  # noqa: F401  before torch

try:
    import numpy
    import torch
except ImportError as error:
    print(f"mixed_devices: skipped, because this Python has no PyTorch or no NumPy ({error})")
    sys.exit(77)
import argand

# What is known to differ is left out: the default device is not torch.normal's in PyTorch, and it is not the steps of optimizers' here.
# x, i, m, s on the GPU: 3x4 floats, two rows' numbers, a mask of rows, one number; c, j, n, t the same on the CPU.
GIVEN = """
import copy, math
F, nn = torch.nn.functional, torch.nn
c = torch.arange(12.).reshape(3, 4) / 4 - 1
x = c.cuda()
j = torch.tensor([2, 0]); i = j.cuda()
n = torch.tensor([True, False, True]); m = n.cuda()
t = torch.tensor(0.5); s = t.cuda()
k = torch.tensor(1); g = k.cuda()
"""

PROGRAMS = """
# indexing
x[j]
x[n]
x[:, j]
x[j, j]
x[i, j]
x[n, 1:]
x[c > 0]
x[k]
x[g]
c[g]
c[i]
c[m]
c[x > 0]
x[[0, 2]]
x[torch.randperm(3)].sum().round(decimals=3)
x[j.to(torch.int32)]
x[n.to(torch.uint8)]
x[None, j]
x[j, ..., None]
x[k, g]
x[True]
x[torch.tensor(True)]
x[torch.tensor(True, device='cuda')]
x[j] = 5; x
x[j] = c[:2]; x
x[j] = t; x
x[n] = c[:2]; x
x[n] = s; x
x[m] = t; x
x[c > 0] = 0; x
x[0] = c[1]; x
x[0] = t; x
x[1:] = c[:2]; x
x[0, 0] = t; x
x[j] += 1; x
x[c > 0] *= 2; x
c[i] = 1; c
c[m] = 1; c
c[0] = x[1]; c
c[j] = x[:2]; c
c[j] = s; c
x.index_put((j,), t)
x.index_put((j,), torch.ones(2, 4))
x.index_put_((i,), c[:2]); x
x.index_select(0, j)
c.index_select(0, i)
x.index_fill(0, j, 1.0)
x.index_fill(0, i, t)
x.index_add(0, j, x[:2])
x.index_add(0, i, c[:2])
x.index_copy(0, i, c[:2])
x.gather(0, torch.zeros(1, 4, dtype=torch.long))
x.scatter(0, torch.zeros(1, 4, dtype=torch.long), 1.0)
x.scatter(0, torch.zeros(1, 4, dtype=torch.long, device='cuda'), c)
x.take(j)
x.put(j, torch.ones(2, device='cuda'))
x.masked_fill(c > 0, 1.0)
x.masked_fill(x > 0, t)
x.masked_fill(x > 0, s)
c.masked_fill(c > 0, s)
x.masked_select(c > 0)
x.masked_scatter(x > 0, c)
x.repeat_interleave(torch.tensor([1, 2, 0]), dim=0)
x.unflatten(1, (2, 2))[j]
list(x)[1][j]
x.tolist()[0]
[1, 2, 3][g]
range(3)[g]
# arithmetic with numbers of the other device
x + t
t + x
x + c
x * c[0]
x.add(t, alpha=2)
x.add_(c); x
x.add_(t); x
c + s
c.add_(s); c
c.add_(x); c
t + s
t * s
s.add_(t); s
t.add_(s); t
s.add_(1); s
t == s
x == t
x == c
x > t
x // t
x % t
x ** t
t ** x
torch.pow(2, s)
torch.maximum(x, t)
torch.where(x > 0, x, t)
torch.where(x > 0, t, x)
torch.where(x > 0, s, t)
torch.where(x > 0, 1.0, t)
torch.where(c > 0, x, 0.0)
torch.where(torch.tensor(True), x, t)
torch.where(c > 0, s, t)
x.clamp(min=t)
x.clamp(t, s)
x.clamp(c)
torch.lerp(x, x + 1, t)
torch.lerp(x, c, 0.5)
torch.addcmul(x, x, t)
torch.addcdiv(x, t, x + 9)
torch.dot(x[0], c[0])
x @ c.T
F.linear(x, c)
F.linear(x, x, c[:, 0])
torch.addmm(c[:, :3], x, x.T)
torch.bmm(x[None], c.T[None])
torch.outer(x[0], c[0])
torch.cat([x, c])
torch.cat([x, torch.empty(0)])
torch.stack([s, t])
torch.stack([x, c])
torch.hstack([x, c])
torch.atan2(x, t)
torch.fmod(x, t)
torch.isclose(x, t)
torch.allclose(x, c)
torch.equal(x, c)
torch.heaviside(x, t)
torch.hypot(x, t)
torch.logaddexp(x, t)
torch.bucketize(x, torch.tensor([0., 1.]))
torch.bucketize(0.3, torch.tensor([0., 1.], device='cuda'))
torch.searchsorted(torch.tensor([0., 1.], device='cuda'), x)
torch.searchsorted(torch.tensor([0., 1.], device='cuda'), t)
torch.isin(x, t)
torch.isin(i, j)
torch.linspace(s, t, 3)
torch.linspace(0, s, 3, device='cuda')
torch.arange(g, 4)
torch.full((2,), s)
torch.full((2,), t, device='cuda')
torch.full_like(x, t)
torch.full_like(x, s)
torch.tensor([s, s])
torch.tensor([s, t])
torch.tensor(s)
torch.tensor(x)
torch.tensor(s, device='cuda')
torch.as_tensor(x)
torch.as_tensor(x, device='cpu')
torch.as_tensor(c, device='cuda')
x.new_tensor([1., 2.])
x.new_zeros(2)
x.new_full((2,), t)
torch.asarray(x)
torch.normal(s, t).shape
torch.normal(x, t).shape
torch.normal(c, x.abs()).shape
torch.bernoulli(torch.ones(3, device='cuda'), generator=torch.Generator()).shape
torch.rand(3, device='cuda', generator=torch.Generator()).shape
torch.rand(3, generator=torch.Generator('cuda')).shape
torch.randperm(4, device='cuda', generator=torch.Generator()).shape
x.copy_(c + 1); x
c.copy_(x + 1); c
x.copy_(t); x
x.fill_(t); x
x.fill_(s); x
c.fill_(s); c
x.data = c; x
x.set_(c); x
torch.add(x, x, out=c)
torch.add(x, 1, out=torch.empty(3, 4))
torch.sum(x, out=t)
torch.mm(x, x.T, out=torch.empty(3, 3))
x.numpy()
x.__array__()
torch.from_numpy(c.numpy()).cuda()
x.type_as(c)
c.type_as(x)
x.to(c)
c.to(x)
c.to(x).to('cpu', torch.float64)
x.cpu().device.type + str(x.cpu().device.index)
c.cuda(0).device.index
c.to('cuda').device.index
torch.zeros(1, device=0)
torch.zeros(1, device='cuda:0')
torch.zeros(1, device='cuda:99')
c.to('cuda:99')
c.cuda(99)
torch.device('cuda') == x.device
torch.device('cuda', 0) == x.device
x.get_device(), c.get_device()
x.is_cuda, c.is_cuda
x.storage().device if hasattr(x.storage(), 'device') else x.device
x.untyped_storage().device
x.data_ptr() == x.view(-1).data_ptr()
x.pin_memory()
c.pin_memory().is_pinned(), c.is_pinned()
c.pin_memory().to('cuda', non_blocking=True)
bool(s > 0.1), float(s), int(g)
f'{s:.2f}'
s.item()
max(s, t)
sum([s, s])
sum([t, s])
math.sqrt(s)
round(float(s), 2)
# splitting by tensors
torch.tensor_split(x, torch.tensor([1, 2]))
torch.tensor_split(x, torch.tensor([1, 2], device='cuda'))
torch.split(x, [1, 2])
x.repeat(k, 2)
x.expand(torch.Size([1, 3, 4]))
x.view(g, -1)
torch.roll(x, g)
torch.narrow(x, 0, g, 1)
torch.narrow(x, 0, k, 1)
torch.select(x, 0, g)
x.select(0, k)
torch.unbind(x)[k]
torch.topk(x, g)
torch.zeros(g, 2)
torch.histc(x, 4, 0, 1)
torch.bincount(i, torch.tensor([1., 2.]))
torch.quantile(x, t)
torch.quantile(x, s)
torch.quantile(x, torch.tensor([0.1, 0.5]))
torch.cumsum(x, k)
torch.diff(x, prepend=c[:, :1])
torch.trapezoid(x, dx=s)
torch.meshgrid(i, j, indexing='ij')
torch.cartesian_prod(i, j)
torch.einsum('ij,kj->ik', x, c)
torch.block_diag(x, c)
torch.nn.utils.rnn.pad_sequence([x, x[:2]], batch_first=True)
torch.nn.utils.rnn.pad_sequence([x, c])
# functions of nn
F.embedding(i, x)
F.embedding(j, x)
F.embedding(i, c)
F.embedding_bag(i, x, torch.tensor([0]))
F.embedding_bag(i, x, torch.tensor([0], device='cuda'))
F.one_hot(i)
F.cross_entropy(x[:2], i)
F.cross_entropy(x[:2], j)
F.cross_entropy(x[:2], i, weight=torch.ones(4))
F.cross_entropy(x[:2], i, weight=torch.ones(4, device='cuda'))
F.nll_loss(x[:2], j)
F.mse_loss(x, c)
F.mse_loss(x, x + t)
F.l1_loss(x, t)
F.binary_cross_entropy(x.sigmoid(), (c > 0).float())
F.binary_cross_entropy_with_logits(x, (x > 0).float(), pos_weight=torch.tensor(2.))
F.binary_cross_entropy_with_logits(x, (x > 0).float(), weight=torch.tensor(2.))
F.kl_div(x, c)
F.smooth_l1_loss(x, c)
F.margin_ranking_loss(x[0], x[1], torch.ones(4))
F.cosine_similarity(x, c)
F.pairwise_distance(x, c)
torch.cdist(x, c)
F.ctc_loss(x.view(3, 1, 4).log_softmax(2), torch.tensor([[1, 2]]), torch.tensor([3]), torch.tensor([2])).cpu()
F.ctc_loss(x.view(3, 1, 4).log_softmax(2), torch.tensor([[1, 2]]).cuda(), torch.tensor([3]), torch.tensor([2]))
F.ctc_loss(x.view(3, 1, 4).log_softmax(2), torch.tensor([[1, 2]]).cuda(), torch.tensor([3]).cuda(), torch.tensor([2]).cuda())
F.ctc_loss(x.view(3, 1, 4).log_softmax(2), torch.tensor([[1, 2]]).cuda(), (3,), (2,))
F.prelu(x, torch.tensor([0.25]))
F.prelu(x, torch.tensor(0.25))
F.prelu(x, torch.tensor([0.25], device='cuda'))
F.layer_norm(x, (4,), torch.ones(4))
F.batch_norm(x, torch.zeros(4), torch.ones(4))
F.batch_norm(x, torch.zeros(4, device='cuda'), torch.ones(4, device='cuda'))
F.group_norm(x, 2, torch.ones(4), torch.zeros(4))
F.conv1d(x[None], torch.ones(2, 3, 3))
F.conv1d(x[None], torch.ones(2, 3, 3, device='cuda'), torch.ones(2))
F.conv1d(c[None], torch.ones(2, 3, 3, device='cuda'))
F.grid_sample(x[None, None], torch.zeros(1, 2, 2, 2))
F.pad(x, (1, 1), value=0.5)
F.interpolate(x[None], size=8)
F.scaled_dot_product_attention(x[None], c[None], x[None])
F.scaled_dot_product_attention(x[None], x[None], x[None], attn_mask=torch.ones(3, 3, dtype=torch.bool))
F.scaled_dot_product_attention(x[None], x[None], x[None], attn_mask=torch.ones(3, 3, dtype=torch.bool, device='cuda'))
F.gumbel_softmax(x).shape
F.dropout(x, 0.0)
F.bilinear(x, c, torch.ones(2, 4, 4, device='cuda'))
torch.nn.utils.rnn.pack_padded_sequence(x[None], torch.tensor([3]), batch_first=True).data
torch.nn.utils.rnn.pack_padded_sequence(x[None], torch.tensor([3]).cuda(), batch_first=True).data
torch.nn.utils.rnn.pack_padded_sequence(x[None], [3], batch_first=True).batch_sizes
torch.nn.utils.rnn.pad_packed_sequence(torch.nn.utils.rnn.pack_padded_sequence(x[None], [3], batch_first=True))
# modules
nn.Linear(4, 2)(x)
nn.Linear(4, 2).cuda()(c)
nn.Linear(4, 2, device='cuda')(x).shape
nn.LSTM(4, 2).cuda()(x[:, None])[0].shape
nn.LSTM(4, 2).cuda()(x[:, None], (torch.zeros(1, 1, 2), torch.zeros(1, 1, 2)))
nn.LSTM(4, 2)(x[:, None])
nn.GRU(4, 2).cuda()(x[:, None], torch.zeros(1, 1, 2))
nn.RNN(4, 2).cuda()(c[:, None])
nn.LSTMCell(4, 2).cuda()(x, (torch.zeros(3, 2), torch.zeros(3, 2)))
nn.Embedding(3, 2).cuda()(j)
nn.BatchNorm1d(4)(x)
nn.BatchNorm1d(4).cuda()(x).device
nn.MultiheadAttention(4, 2).cuda()(x[:, None], c[:, None], c[:, None])
nn.Linear(4, 2).to(x.device).weight.device
nn.Linear(4, 2).to(x).weight.device
nn.Linear(4, 2).to('cuda', torch.float64).weight.dtype
nn.Linear(4, 2).cuda().cpu().weight.device
a = nn.Linear(4, 2); b = nn.Linear(4, 2).cuda(); b.load_state_dict(a.state_dict()); b.weight.device
a = nn.Linear(4, 2); b = nn.Linear(4, 2).cuda(); a.load_state_dict(b.state_dict()); a.weight.device
a = nn.Linear(4, 2); p = a.weight; a.cuda(); p is a.weight, p.device
a = nn.Linear(4, 2); a(c).sum().backward(); a.cuda(); a.weight.grad.device
a = nn.Linear(4, 2).cuda(); a.weight.grad = torch.zeros(2, 4); a.weight.grad
a = nn.Linear(4, 2).cuda(); a.weight.grad = torch.zeros(2, 4, device='cuda'); a.weight.grad
a = nn.Linear(4, 2).cuda(); a.bias.data = torch.ones(2); a.bias
a = nn.Linear(4, 2).cuda(); a.weight = nn.Parameter(torch.ones(2, 4)); a(x)
a = nn.Linear(4, 2); a.register_buffer('q', x); sorted({v.device.type for v in a.state_dict().values()})
copy.deepcopy(nn.Linear(4, 2).cuda()).weight.device
nn.Sequential(nn.Linear(4, 2).cuda(), nn.Linear(2, 2))(x)
nn.ParameterList([nn.Parameter(c)]).cuda()[0]
nn.DataParallel(nn.Linear(4, 2), [0]).cuda()(c).device
nn.utils.clip_grad_norm_([], 1.0)
a = nn.Parameter(x.clone()); b = nn.Parameter(c.clone()); (a.sum() + b.sum().cuda()).backward(); nn.utils.clip_grad_norm_([a, b], 1.0)
a = nn.Parameter(x.clone()); b = nn.Parameter(c.clone()); (a.sum() + b.sum().cuda()).backward(); nn.utils.clip_grad_value_([a, b], 0.5); a.grad + b.grad.cuda()
nn.utils.parameters_to_vector([x, c])
nn.utils.parameters_to_vector([x, x])
nn.utils.vector_to_parameters(torch.ones(12), [nn.Parameter(x)])
# autograd
a = c.clone().requires_grad_(); (a.cuda() * 2).sum().backward(); a.grad
a = x.clone().requires_grad_(); (a * t).sum().backward(); a.grad
a = t.clone().requires_grad_(); (x * a).sum().backward(); a.grad
a = s.clone().requires_grad_(); (a * t).backward(); a.grad
a = x.clone().requires_grad_(); a.sum().backward(torch.tensor(1.0)); a.grad
a = x.clone().requires_grad_(); (a * 2).backward(torch.ones(3, 4)); a.grad
a = x.clone().requires_grad_(); a.grad = torch.zeros(3, 4)
a = x.clone().requires_grad_(); a[j].sum().backward(); a.grad
a = x.clone().requires_grad_(); a[n].sum().backward(); a.grad
a = x.clone().requires_grad_(); b = a * 1; b[j] = t; b.sum().backward(); a.grad
a = c.clone().requires_grad_(); b = x * 1; b[j] = a[:2].cuda(); b.sum().backward(); a.grad
a = c.clone().requires_grad_(); torch.where(x > 0, a.cuda(), t).sum().backward(); a.grad
torch.autograd.grad(x.clone().requires_grad_().sum(), [c.clone().requires_grad_()])
a = c.clone().requires_grad_(); x.copy_(a); a.requires_grad, x.requires_grad, x.device
# optimizers
a = nn.Parameter(x.clone()); o = torch.optim.Adam([a]); a.sum().backward(); o.step(); a
a = nn.Parameter(x.clone()); b = nn.Parameter(c.clone()); o = torch.optim.Adam([a, b]); (a.sum() + b.sum().cuda()).backward(); o.step(); a - b.cuda()
a = nn.Parameter(c.clone()); o = torch.optim.SGD([a], 0.1, momentum=0.9); a.sum().backward(); o.step(); a.data = a.data.cuda(); a.grad = a.grad.cuda(); o.step()
a = nn.Parameter(c.clone()); o = torch.optim.Adam([a]); a.sum().backward(); o.step(); d = o.state_dict(); b = nn.Parameter(x.clone()); p = torch.optim.Adam([b]); p.load_state_dict(d); p.state[b]['exp_avg'].device, p.state[b]['step'].device
a = nn.Parameter(x.clone()); o = torch.optim.Adam([a], lr=torch.tensor(0.1)); a.sum().backward(); o.step(); a
a = nn.Parameter(x.clone()); o = torch.optim.Adam([a], lr=torch.tensor(0.1, device='cuda')); a.sum().backward(); o.step(); a
a = nn.Parameter(x.clone()); o = torch.optim.SGD([a], lr=0.1); a.sum().backward(); o.step(); o.zero_grad(); a
torch.amp.GradScaler('cuda').scale(s)
torch.amp.GradScaler('cuda').scale([s, s * 2])
# data, checkpoints, other
b = io.BytesIO(); torch.save(x, b); b.seek(0); torch.load(b)
b = io.BytesIO(); torch.save(x, b); b.seek(0); torch.load(b, map_location='cpu')
b = io.BytesIO(); torch.save(c, b); b.seek(0); torch.load(b, map_location='cuda')
b = io.BytesIO(); torch.save({'a': x, 'b': c}, b); b.seek(0); [v.device for v in torch.load(b).values()]
b = io.BytesIO(); torch.save(x, b); b.seek(0); torch.load(b, map_location={'cuda:0': 'cpu'})
b = io.BytesIO(); torch.save(x, b); b.seek(0); torch.load(b, map_location=torch.device('cuda', 0))
b = io.BytesIO(); torch.save(x, b); b.seek(0); torch.load(b, map_location=lambda storage, place: storage)
torch.utils.data.default_collate([x[0], x[1]])
torch.utils.data.default_collate([x[0], c[1]])
next(iter(torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x), batch_size=2)))
next(iter(torch.utils.data.DataLoader(torch.utils.data.TensorDataset(c), batch_size=2, pin_memory=True)))[0].is_pinned()
torch.utils.data.TensorDataset(x, c)[1]
copy.deepcopy(x)
copy.copy(x).device
str(s), repr(x[0])
str(torch.device('cuda:0'))
hash(x.device) == hash(torch.device('cuda:0'))
torch.set_default_device('cuda'); a = torch.ones(2); torch.set_default_device(None); a
torch.set_default_device('cuda'); a = torch.tensor([1.]) + t; torch.set_default_device(None); a
torch.set_default_device('cuda'); a = nn.Linear(2, 2).weight.device, torch.randperm(3).device, torch.from_numpy(c.numpy()).device, torch.eye(2).device; torch.set_default_device(None); a
a = torch.device('cuda').__enter__(); b = torch.zeros(1).device; torch.device('cuda').__exit__(None, None, None); b
torch.set_default_device('cuda'); a = [torch.as_tensor(c.numpy()).device, torch.tensor(c.numpy()).device, torch.asarray(c.numpy()).device, torch.as_tensor(c).device]; a
torch.set_default_device('cuda'); torch.from_numpy(c.numpy()) + 1
torch.set_default_device('cuda'); torch.frombuffer(bytearray(8), dtype=torch.float32).device
torch.set_default_device('cuda'); b = io.BytesIO(); torch.save(c, b); b.seek(0); torch.load(b)
torch.set_default_device('cuda'); [v.device for v in next(iter(torch.utils.data.DataLoader(torch.utils.data.TensorDataset(c, c), batch_size=2)))]
torch.set_default_device('cuda'); next(iter(torch.utils.data.DataLoader([1., 2.], batch_size=2)))
torch.set_default_device('cuda'); next(iter(torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x), batch_size=2, shuffle=True, generator=torch.Generator('cuda'))))[0].shape
torch.set_default_device('cuda'); next(iter(torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x), batch_size=2, shuffle=True)))[0].shape
torch.set_default_device('cuda'); list(torch.utils.data.SequentialSampler(c))
torch.set_default_device('cuda'); [len(v) for v in torch.utils.data.random_split(c, [1, 2], generator=torch.Generator('cuda'))]
torch.set_default_device('cuda'); a = nn.Linear(4, 2); o = torch.optim.Adam(a.parameters()); a(x).sum().backward(); o.step(); o.state[a.weight]['exp_avg'].device
torch.set_default_device('cuda'); a = nn.LSTM(4, 2); a(x[:, None])[0].device
torch.set_default_device('cuda'); nn.MultiheadAttention(4, 2)(x[:, None], x[:, None], x[:, None])[0].device
torch.set_default_device('cuda'); nn.BatchNorm1d(4).running_mean.device
torch.set_default_device('cuda'); nn.Transformer(4, 2, 1, 1, 8).generate_square_subsequent_mask(3).device
torch.set_default_device('cuda'); F.one_hot(torch.tensor([0, 2])).device
torch.set_default_device('cuda'); torch.randint(0, 3, (2,)).device, torch.arange(3).device, torch.full((2,), 1).device, torch.linspace(0, 1, 3).device
torch.set_default_device('cuda'); torch.hann_window(4).device, torch.tril_indices(2, 2).device, torch.complex(torch.ones(1), torch.ones(1)).device
torch.set_default_device('cuda'); torch.empty(2, device='cpu').device, torch.zeros_like(c).device, c.new_zeros(2).device
torch.set_default_device('cuda'); torch.get_default_device()
torch.set_default_device('cuda'); torch.Generator().device
torch.set_default_device('cuda'); torch.tensor(1.).item(), torch.scalar_tensor(1.).device
torch.set_default_device('cuda'); torch.Tensor([1.]).device
torch.set_default_device('cuda'); torch.FloatTensor([1.]).device
torch.set_default_device('cuda'); torch.distributions.Normal(0., 1.).sample((2,)).device
torch.set_default_device('cuda'); torch.nn.utils.rnn.pack_padded_sequence(x[None], [3], batch_first=True).batch_sizes.device
torch.set_default_device('cuda'); torch.nn.utils.rnn.pack_padded_sequence(x[None], torch.tensor([3], device='cpu'), batch_first=True).batch_sizes.device
torch.set_default_device('cuda'); torch.multinomial(torch.ones(3), 1).device, torch.bernoulli(torch.ones(2)).device
torch.set_default_device('cuda'); torch.utils.data.default_collate([1, 2]).device
torch.set_default_device('cuda'); torch.stack([c, c]).device
torch.set_default_device('cuda'); nn.CrossEntropyLoss(weight=torch.ones(4))(x[:2], i)
torch.set_default_device('cuda'); nn.init.trunc_normal_(torch.empty(2)).device, nn.init.orthogonal_(torch.empty(2, 2)).device, nn.init.dirac_(torch.empty(1, 1, 3)).device
torch.set_default_device('cuda'); x.new_tensor([1.]).device, c.new_tensor([1.]).device
torch.set_default_device('cuda'); c.numpy().sum().item(), np.asarray(c).sum().item()
torch.set_default_device('cuda:0'); torch.ones(1).device, torch.get_default_device()
torch.device('cuda').__enter__(); a = torch.ones(1).device, nn.Linear(1, 1).weight.device; torch.device('cuda').__exit__(None, None, None); a
torch.manual_seed(3); a = torch.rand(2, device='cuda'); torch.manual_seed(3); torch.equal(a, torch.rand(2, device='cuda'))
torch.cuda.manual_seed(3); a = torch.rand(2, device='cuda'); torch.cuda.manual_seed_all(3); torch.equal(a, torch.rand(2, device='cuda'))
a = torch.cuda.get_rng_state(); b = torch.rand(2, device='cuda'); torch.cuda.set_rng_state(a); torch.equal(b, torch.rand(2, device='cuda')), a.device, a.dtype
a = torch.get_rng_state(); b = torch.rand(2); torch.set_rng_state(a); torch.equal(b, torch.rand(2))
torch.broadcast_tensors(x, c[0])
torch.broadcast_tensors(x, t)
torch.result_type(x, t)
torch.result_type(i, t)
i + t
i * 0.5
torch.tensor([1, 2], device='cuda') / t
x.half() + t
x.half() * torch.tensor(2.0, dtype=torch.float64)
x.bfloat16() * s
torch.promote_types(x.dtype, t.dtype)
x.eq(c[0].cuda()).all().item()
x.map_(c, lambda a, b: a)
x.apply_(lambda a: a)
torch.nonzero(x)
torch.unique(i)
x.any(), (x > 9).any()
torch.cuda.memory_allocated('cpu')
torch.cuda.get_device_name(torch.device('cpu'))
torch.cuda.synchronize('cuda:99')
torch.cuda.set_device(99)
torch.cuda.current_stream(torch.device('cuda:0')).device
torch.cuda.Event().record()
torch.nn.init.normal_(nn.Linear(2, 2).cuda().weight).device
torch.nn.init.orthogonal_(torch.empty(3, 3, device='cuda')).device
torch.linalg.solve(x[:, :3] + 5 * torch.eye(3, device='cuda'), c[:, :1])
torch.linalg.solve(x[:, :3] + torch.eye(3), x[:, :1])
torch.linalg.lstsq(c.T.cuda(), c.T)
torch.kron(x, c)
torch.fft.fftfreq(4, device='cuda')
torch.complex(x, c)
torch.polar(x.abs(), c)
torch.view_as_real(torch.complex(x, x))[j]
torch.vmap(lambda a: a + t)(x)
torch.func.grad(lambda a: (a * t).sum())(x)
torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(x))
torch.from_dlpack(x).device
torch.utils.checkpoint.checkpoint(lambda a: a * t, x.clone().requires_grad_(), use_reentrant=False)
torch.nn.functional.normalize(x)[j]
torch.distributions.Normal(s, t).mean
torch.distributions.Normal(s, torch.tensor(1., device='cuda')).sample().device
torch.distributions.Categorical(probs=x.softmax(1)).sample().device
torch.multinomial(x.softmax(1), 2).device
torch.triu_indices(3, 3, device='cuda')
x[torch.triu_indices(3, 3).unbind(0)]
x[torch.triu(torch.ones(3, 4, dtype=torch.bool))]
x[torch.tensor([], dtype=torch.long)]
x[torch.tensor([[0, 1], [1, 2]])]
x[torch.tensor([0., 1.])]
x.index_select(0, k)
x[(j,)]
x[j.tolist()]
x[j.numpy()]
x[n.numpy()]
x[j.numpy()] = 1; x
x + c.numpy()
x * 2.5
x + c[0, 0].numpy()
c.numpy() + x
x == None
x[0, 0] < 3
""".strip().splitlines()


def described(value):
    """What is compared: of tensors device, dtype, shape and values."""
    if hasattr(value, "detach") and hasattr(value, "numel"):
        v = value.detach().cpu()
        v = v.to(getattr(sys.modules[type(v).__module__.split(".")[0]], "complex128" if v.is_complex() else "float64"))
        return ("tensor", str(value.device), str(value.dtype), tuple(value.shape), value.requires_grad, v.reshape(-1).tolist())
    if isinstance(value, (list, tuple)):
        return [described(v) for v in value]
    if isinstance(value, (int, bool, float, str, type(None))):
        return value
    if type(value).__name__ == "device":  # Argand's can be called, as a decorator
        return repr(value)
    return "an object" if callable(value) or " object at " in repr(value) else repr(value)


def outcome(library, program):
    library.manual_seed(0)
    names = {"torch": library, "io": io, "np": numpy}
    exec(GIVEN, names)
    try:
        *before, last = ast.parse(program).body
        exec(compile(ast.Module(before, []), "program", "exec"), names)
        if not isinstance(last, ast.Expr):
            exec(compile(ast.Module([last], []), "program", "exec"), names)
            return "done", None
        return "gave", described(eval(compile(ast.Expression(last.value), "program", "eval"), names))
    except Exception as error:  # noqa: BLE001: that it is refused is the outcome
        return "refused", f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    finally:
        library.set_default_device(None)


def text(value):
    return str(value).replace("argand.", "torch.")


def same(a, b):
    """Whether two descriptions agree: numbers within 2e-6 of their size or 2e-8, names but for the library's."""
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, (float, complex)) and isinstance(b, (float, complex)):
        return a == b or a != a and b != b or cmath.isclose(a, b, rel_tol=2e-6, abs_tol=2e-8)
    return type(a) is type(b) and text(a) == text(b)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--verbose", action="store_true", help="what both refuse, too, with their errors")
    parser.add_argument("texts", nargs="*")
    options = parser.parse_args()
    if not (torch.cuda.is_available() and argand.cuda.is_available()):
        print("mixed_devices: skipped, because there is no GPU that both libraries see")
        sys.exit(77)
    warnings.filterwarnings("ignore")
    passed = failed = more = 0
    for program in PROGRAMS:
        if program.startswith("#") or (options.texts and not any(t in program for t in options.texts)):
            continue
        theirs, ours = outcome(torch, program), outcome(argand, program)
        both = theirs[0] == ours[0]
        agree = both and (theirs[0] == "refused" or same(theirs[1], ours[1]))
        takes_more = not both and theirs[0] == "refused"
        passed, more, failed = passed + agree, more + takes_more, failed + (not agree and not takes_more)
        if not (agree or takes_more) or (options.verbose and theirs[0] == "refused"):
            what = "both refuse" if agree else "PyTorch alone refuses" if takes_more else "differs"
            print(f"{what}: {program}\n    PyTorch {theirs[0]} {text(theirs[1])[:300]}\n    Argand  {ours[0]} {text(ours[1])[:300]}", flush=True)
    print(f"{more} more are refused by PyTorch alone")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
