"""DistributedDataParallel in several processes, against one process that has the whole batch, in float64."""
import pytest
from ranks import run

import argand

pytestmark = pytest.mark.skipif(not argand.distributed.is_gloo_available(), reason="libgloo is not installed")

COMMON = """
    from argand.nn.parallel import DistributedDataParallel as DDP
    from argand import nn
    torch.set_default_dtype(torch.float64)
    def net(seed=0, **options):
        torch.manual_seed(seed)
        return nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 3))
    def data(n=12):
        g = torch.Generator().manual_seed(7)
        return torch.randn(n, 5, generator=g), torch.randn(n, 3, generator=g)
    def part(t): return t.chunk(size)[rank]
    def step(model, optimizer, x, y):
        optimizer.zero_grad(); loss = nn.functional.mse_loss(model(x), y); loss.backward(); optimizer.step(); return loss
    def near(a, b): assert torch.allclose(a, b, rtol=1e-12, atol=1e-13), (a - b).abs().max()
    def same_as(model, alone):
        for a, b in zip(model.parameters(), alone.parameters()): near(a, b)
"""


def ddp(tmp_path, size, body, **options):
    return run(tmp_path, size, COMMON + body, **options)


@pytest.mark.parametrize("size", [2, 3, 4])
def test_training_is_that_of_one_process(tmp_path, size):
    ddp(tmp_path, size, """
    alone = net(0); model = net(seed=rank)  # the parameters become rank 0's
    before = torch.optim.Adam(model.parameters(), lr=0.01)  # made before wrapping
    wrapped = DDP(model, bucket_cap_mb=0.001); same_as(model, alone)
    optimizer = torch.optim.Adam(alone.parameters(), lr=0.01)
    x, y = data()
    for i in range(5):
        step(wrapped, before, part(x), part(y)); step(alone, optimizer, x, y)
        same_as(model, alone)
    assert list(wrapped.state_dict()) == ["module." + name for name in alone.state_dict()]
    assert len(wrapped._reducer.buckets()) > 1
    """)


def test_accumulation(tmp_path):
    ddp(tmp_path, 2, """
    alone, wrapped = net(), DDP(net())
    x, y = data(); loss = nn.functional.mse_loss
    for i in range(2):
        xs, ys = x.chunk(6), y.chunk(6)
        for k in range(3):
            if k < 2:
                with wrapped.no_sync(): loss(wrapped(xs[2 * k + rank]), ys[2 * k + rank]).backward()
            else:
                loss(wrapped(xs[2 * k + rank]), ys[2 * k + rank]).backward()
        for a, b in zip(xs, ys): (loss(alone(a), b) / 2).backward()
        for p, q in zip(wrapped.parameters(), alone.parameters()): near(p.grad, q.grad)
        wrapped.zero_grad(); alone.zero_grad()
        for k in range(3):  # the same as nanoGPT does it
            wrapped.require_backward_grad_sync = k == 2
            loss(wrapped(xs[2 * k + rank]), ys[2 * k + rank]).backward()
        for a, b in zip(xs, ys): (loss(alone(a), b) / 2).backward()
        for p, q in zip(wrapped.parameters(), alone.parameters()): near(p.grad, q.grad)
        wrapped.zero_grad(set_to_none=i == 0); alone.zero_grad()
    """)


def test_parameters_that_are_not_used(tmp_path):
    ddp(tmp_path, 2, """
    class Branches(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.never, self.frozen = (nn.Linear(5, 3) for _ in range(4))
            self.frozen.requires_grad_(False)
        def forward(self, x, which): return (self.a if which else self.b)(x) + self.frozen(x)
    torch.manual_seed(1)
    wrapped = DDP(Branches()); x, y = data()
    for i in range(3):
        wrapped.zero_grad()
        nn.functional.mse_loss(wrapped(part(x), rank == 0), part(y)).backward()
        m = wrapped.module
        assert m.never.weight.grad is None and m.frozen.weight.grad is None
        for branch, r in ((m.a, 0), (m.b, 1)):
            w = branch.weight.detach().clone().requires_grad_()
            loss = nn.functional.mse_loss(nn.functional.linear(x.chunk(2)[r], w, branch.bias.detach()) + m.frozen(x.chunk(2)[r]), y.chunk(2)[r])
            near(branch.weight.grad, torch.autograd.grad(loss, w)[0] / 2)
    # No rank takes one of the branches.
    wrapped.zero_grad(); wrapped(part(x), True).sum().backward(); assert m.b.weight.grad is None and m.a.weight.grad is not None
    """)


def test_models_that_are_called_twice_and_shared_parameters(tmp_path):
    ddp(tmp_path, 2, """
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(5, 5), nn.Linear(5, 5)
            self.second.weight = self.first.weight
            self.norm = nn.BatchNorm1d(5)
        def forward(self, x): return self.second(torch.tanh(self.norm(self.first(x))))
    torch.manual_seed(rank); wrapped = DDP(Tied()); x, _ = data()
    a, b = wrapped(part(x)), wrapped(part(x) * 2)  # as a GAN's discriminator: the buffers are sent between the two
    (a.pow(2).mean() + b.mean()).backward()
    grads = [torch.zeros_like(p) for p in wrapped.parameters()]
    for p, g in zip(wrapped.parameters(), grads):
        g.copy_(p.grad); dist.broadcast(g, 0); assert torch.equal(g, p.grad)
    wrapped(part(x)); wrapped(part(x))
    mean = wrapped.module.norm.running_mean.clone(); wrapped._sync_buffers(); dist.broadcast(mean, 0); near(mean, wrapped.module.norm.running_mean)
    """)


def test_checkpointing_and_autocast(tmp_path):
    ddp(tmp_path, 2, """
    from argand.utils.checkpoint import checkpoint
    class Deep(nn.Module):
        def __init__(self, reentrant):
            super().__init__(); torch.manual_seed(3); self.layers, self.reentrant = nn.ModuleList(nn.Linear(5, 5) for _ in range(4)), reentrant
        def forward(self, x):
            for layer in self.layers:
                x = x + (layer(x).tanh() if self.reentrant is None else checkpoint(lambda v, layer=layer: layer(v).tanh(), x, use_reentrant=self.reentrant))
            return x
    x, _ = data(); grads = []
    for reentrant in (None, False, True):
        wrapped = DDP(Deep(reentrant), bucket_cap_mb=0.0005)
        for _ in range(2):
            wrapped.zero_grad(); wrapped(part(x).clone().requires_grad_()).pow(2).mean().backward()
        grads.append([p.grad for p in wrapped.parameters()])
    for a, b in zip(grads[0], grads[1]): near(a, b)
    for a, b in zip(grads[0], grads[2]): near(a, b)
    torch.set_default_dtype(torch.float32)
    wrapped = DDP(net()); scaler = torch.amp.GradScaler("cpu"); optimizer = torch.optim.SGD(wrapped.parameters(), lr=0.1)
    x, y = (t.float() for t in data())
    for _ in range(3):
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16): loss = nn.functional.mse_loss(wrapped(part(x)), part(y))
        scaler.scale(loss).backward(); scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(wrapped.parameters(), 1.0); scaler.step(optimizer); scaler.update()
    for p in wrapped.parameters():
        q = p.detach().clone(); dist.broadcast(q, 0); assert torch.equal(p, q)
    """)


def test_hooks(tmp_path):
    ddp(tmp_path, 2, """
    from argand.distributed.algorithms.ddp_comm_hooks import default_hooks as hooks
    from argand.distributed.algorithms.ddp_comm_hooks import DDPCommHookType, register_ddp_comm_hook
    x, y = data(); results = []
    def grads(hook, state=None, register=None):
        wrapped = DDP(net(), bucket_cap_mb=0.001)
        if register: register(wrapped)
        elif hook: wrapped.register_comm_hook(state, hook)
        for _ in range(2):
            wrapped.zero_grad(); nn.functional.mse_loss(wrapped(part(x)), part(y)).backward()
        return [p.grad for p in wrapped.parameters()]
    plain = grads(None)
    for a, b in zip(plain, grads(hooks.allreduce_hook)): near(a, b)
    for a, b in zip(plain, grads(None, register=lambda m: register_ddp_comm_hook(DDPCommHookType.ALLREDUCE, m))): near(a, b)
    for hook, eps in ((hooks.fp16_compress_hook, 1e-3), (hooks.bf16_compress_hook, 1e-2), (hooks.fp16_compress_wrapper(hooks.allreduce_hook), 1e-3)):
        for a, b in zip(plain, grads(hook)): assert torch.allclose(a, b, rtol=eps, atol=eps / 10) and not torch.equal(a, b)
    calls = []
    def custom(state, bucket):
        calls.append((state, bucket.index(), bucket.is_last())); assert bucket.buffer().numel() == sum(g.numel() for g in bucket.gradients())
        future = torch.futures.Future(); future.set_result(bucket.buffer() * 0 + 5); return future
    assert all(bool((g == 5).all()) for g in grads(custom, "state")) and calls[0] == ("state", 0, False) and calls[-1][2]
    def broken(state, bucket): raise KeyError("in the hook")
    try: grads(broken); assert False
    except KeyError as e: assert "in the hook" in str(e)
    """)


def test_hooks_by_name(tmp_path):
    ddp(tmp_path, 2, """
    from argand.distributed.algorithms.ddp_comm_hooks.debugging_hooks import noop_hook
    x, y = data()
    def grads(register):
        wrapped = DDP(net()); register(wrapped); nn.functional.mse_loss(wrapped(part(x)), part(y)).backward(); return [p.grad for p in wrapped.parameters()]
    plain, kinds = grads(lambda m: None), dist.BuiltinCommHookType
    for a, b in zip(plain, grads(lambda m: m._register_builtin_comm_hook(kinds.ALLREDUCE))): near(a, b)
    for a, b in zip(plain, grads(lambda m: m._register_builtin_comm_hook(kinds.FP16_COMPRESS))): assert torch.allclose(a, b, rtol=1e-3, atol=1e-4) and not a.equal(b)
    alone = net(); nn.functional.mse_loss(alone(part(x)), part(y)).backward()
    for p, g in zip(alone.parameters(), grads(lambda m: m.register_comm_hook(None, noop_hook))): near(p.grad, g)
    """)


def test_all_arguments(tmp_path):
    """Those that change how gradients travel give the same gradients."""
    ddp(tmp_path, 2, """
    x, y = data(); loss = nn.functional.mse_loss
    class Mesh:  # what has a group
        def __init__(self, ndim): self.ndim = ndim
        def get_group(self, mesh_dim): assert mesh_dim == 0; return dist.group.WORLD
    def delayed(model, names): return [(name, p) for name, p in model.named_parameters() if name in names]
    def made(**options):
        model = net(seed=rank); names = options.pop("delayed", ())
        if names: options.update(delay_all_reduce_named_params=delayed(model, names), param_to_hook_all_reduce=model[0].weight)
        return DDP(model, **options)
    alone, optimizer = net(0), None
    for options, buckets in (({}, 1), ({"bucket_cap_mb": 0}, 6), ({"bucket_cap_mb_list": [0, 1]}, 2), ({"bucket_cap_mb_list": [1]}, 1), ({"bucket_cap_mb_list": []}, 1),
                    ({"delayed": ["4.weight", "4.bias"]}, 1), ({"delayed": ["0.weight", "0.bias", "2.weight", "2.bias", "4.weight", "4.bias"]}, 1),
                    ({"device_mesh": Mesh(1)}, 1), ({"static_graph": True}, 1), ({"gradient_as_bucket_view": True, "find_unused_parameters": True}, 1),
                    ({"skip_all_reduce_unused_params": True, "batched_grad_copy": True, "lazy_bucket_allocation": True, "dim": 0}, 1)):
        alone, wrapped = net(0), made(**options)
        a, b = (torch.optim.SGD(m.parameters(), lr=0.1) for m in (alone, wrapped))
        for _ in range(3): step(alone, a, x, y); step(wrapped, b, part(x), part(y)); same_as(wrapped.module, alone)
        assert len(wrapped._reducer.buckets()) == buckets, (options, wrapped._reducer.buckets())
    wrapped = made(bucket_cap_mb=0, delayed=["4.weight", "4.bias"]); order = [list(p.shape) for p in wrapped._parameters_of_reducer]
    assert order[:2] == [[3, 16], [3]] and wrapped._reducer.buckets()[-1] == [0]  # sent last
    lazy = nn.Sequential(nn.LazyLinear(3))
    for model, options, says in ((net(), {"bucket_cap_mb": -1}, "bucket_cap_mb=-1"), (net(), {"bucket_cap_mb_list": [1, -2]}, "bucket_cap_mb_list=[1, -2]"),
                                 (net(), {"delay_all_reduce_named_params": []}, "need to be set at the same time"), (lazy, {}, "Run a dummy forward"),
                                 (net(), {"device_mesh": Mesh(2)}, "Only 1D device mesh"), (net(), {"device_mesh": Mesh(1), "process_group": dist.group.WORLD}, "Cannot specify both"),
                                 (net(), {"device_ids": [0]}, "only work with modules on a GPU"), (net(), {"output_device": 0}, "only work with modules on a GPU"),
                                 (net(), {"device_ids": [0, 1]}, "a single element")):
        try: DDP(model, **options); assert False, options
        except (ValueError, RuntimeError) as e: assert says in str(e), e
    assert made().parameters_to_ignore == set() and made().is_multi_device_module is False
    """)


def test_mixed_precision(tmp_path):
    ddp(tmp_path, 2, """
    from argand.nn.parallel.distributed import _MixedPrecision
    import copy
    torch.set_default_dtype(torch.float32)
    def normed(): torch.manual_seed(0); return nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8), nn.Linear(8, 3))
    seen = []
    x, y = (t.float() for t in data())
    alone = normed(); nn.functional.mse_loss(alone(part(x)), part(y)).backward(); means = [p.grad for p in alone.parameters()]
    for g in means: dist.all_reduce(g, dist.ReduceOp.AVG)
    for precision, sent in ((_MixedPrecision(torch.bfloat16, torch.float16, torch.bfloat16), torch.float16), (_MixedPrecision(torch.bfloat16), torch.bfloat16),
                            (_MixedPrecision(torch.bfloat16, torch.float32), torch.float32), (_MixedPrecision(reduce_dtype=torch.bfloat16), torch.bfloat16)):
        wrapped = DDP(normed(), mixed_precision=precision)
        hook = wrapped.module[0].register_forward_pre_hook(lambda m, args: seen.append((args[0].dtype, m.weight.dtype)))
        for again in (wrapped, copy.deepcopy(wrapped)):
            again.zero_grad(); out = again(part(x)); assert out.dtype == (precision.param_dtype or torch.float32)
            nn.functional.mse_loss(out.float(), part(y)).backward()
            assert seen.pop() == (precision.param_dtype or torch.float32,) * 2
            for p, g in zip(again.parameters(), means):
                assert p.dtype == p.grad.dtype == torch.float32 and torch.allclose(p.grad, g, rtol=0.05, atol=0.02), (p.grad - g).abs().max()
                assert p.grad.equal(p.grad.to(sent).float())
                same = p.grad.clone(); dist.broadcast(same, 0); assert same.equal(p.grad)
        assert wrapped.module[1].running_mean.dtype == (precision.buffer_dtype or torch.float32) and wrapped.module[1].num_batches_tracked.dtype == torch.int64
        assert all(t.dtype != torch.bfloat16 for n, t in wrapped.state_dict().items() if "running" not in n)
    """)


def test_layers_that_checkpoints_share(tmp_path):
    """checkpoint(use_reentrant=True) runs a backward for each use of a layer; its gradient is sent after the last."""
    ddp(tmp_path, 2, """
    from argand.utils.checkpoint import checkpoint
    class Again(nn.Module):
        def __init__(self, also_outside):
            super().__init__(); torch.manual_seed(3); self.layer, self.other, self.also_outside = nn.Linear(5, 5), nn.Linear(5, 5), also_outside
        def forward(self, x):
            for i in range(3): x = self.other(checkpoint(lambda v: self.layer(v).tanh(), x, use_reentrant=True) if self.training else self.layer(x).tanh())
            return self.layer(x) if self.also_outside else x
    x, _ = data()
    for also_outside in (False, True):
        for late in (False, True):
            alone, wrapped = Again(also_outside).eval(), DDP(Again(also_outside), bucket_cap_mb=0, static_graph=also_outside and not late)
            if late and also_outside: wrapped._set_static_graph()
            a, b = (torch.optim.SGD(m.parameters(), lr=0.1) for m in (alone, wrapped))
            for _ in range(3):
                for m, o, v in ((alone, a, x), (wrapped, b, part(x))): o.zero_grad(); m(v.clone().requires_grad_()).pow(2).mean().backward(); o.step()
                same_as(wrapped.module, alone)
    """)


def test_buffers(tmp_path):
    """Which ranks' buffers count: at first, before each forward, and while some ranks have no batches left."""
    ddp(tmp_path, 2, """
    def normed(): torch.manual_seed(0); return nn.Sequential(nn.Linear(5, 4), nn.BatchNorm1d(4), nn.Linear(4, 3))
    for options, at_first, later in (({}, 1.0, True), ({"broadcast_buffers": False}, 1.0 + rank, False), ({"forward_sync_buffers": False}, 1.0, False),
                                     ({"broadcast_buffers": True, "forward_sync_buffers": False}, 1.0, False), ({"init_sync": False}, 1.0 + rank, True)):
        model = normed(); model[1].running_mean.fill_(1.0 + rank); wrapped = DDP(model, **options)
        assert model[1].running_mean.tolist() == [at_first] * 4 and wrapped.broadcast_buffers is later, options
        model[1].running_mean.fill_(5.0 + rank); wrapped.eval(); wrapped(data()[0]); assert model[1].running_mean.tolist() == [5.0 if later else 5.0 + rank] * 4, options
    model = normed(); DDP._set_params_and_buffers_to_ignore_for_model(model, ["1.running_mean", "0.bias"]); model[1].running_mean.fill_(1.0 + rank); model[0].bias.data.fill_(rank)
    wrapped = DDP(model); wrapped(part(data()[0])).sum().backward()
    assert model[1].running_mean[0] != 1.0 and float(model[0].bias[0]) == rank and wrapped.parameters_to_ignore == {"1.running_mean", "0.bias"}
    # join(): those of the last rank that has batches, as in PyTorch
    wrapped = DDP(normed()); x = data(24)[0]
    with wrapped.join():
        for i in range(4 - rank):
            wrapped.module[1].running_mean.fill_(10.0 * i + rank); wrapped(x[i * 4:i * 4 + 4]).sum().backward(); wrapped.zero_grad()
            mean = wrapped.module[1].running_mean - 0.9 * (10.0 * i + (1 if i < 3 else 0)); assert mean.abs().max() < 0.5, (i, mean)
    """)


def test_uneven_numbers_of_batches(tmp_path):
    ddp(tmp_path, 3, """
    x, y = data(30)
    for by_all in (True, False):
        alone, wrapped = net(), DDP(net()); a, b = (torch.optim.SGD(m.parameters(), lr=0.1) for m in (alone, wrapped))
        batches = [(x[i * 3 + rank].unsqueeze(0), y[i * 3 + rank].unsqueeze(0)) for i in range(3 + 2 * rank)]
        with wrapped.join(divide_by_initial_world_size=by_all):
            for u, v in batches: step(wrapped, b, u, v)
        for i in range(7):
            who = [r for r in range(3) if i < 3 + 2 * r]
            a.zero_grad()
            for r in who: (nn.functional.mse_loss(alone(x[i * 3 + r].unsqueeze(0)), y[i * 3 + r].unsqueeze(0)) / (3 if by_all else len(who))).backward()
            a.step()
        same_as(wrapped.module, alone)
    wrapped = DDP(net())
    try:
        with wrapped.join(throw_on_early_termination=True):
            for i in range(2 + rank): wrapped(x[:1]).sum().backward()
        assert False
    except RuntimeError as e:
        assert str(e) in (f"Rank {rank} exhausted all inputs.", "Detected at least one rank that exhausted inputs. Throwing across all ranks.")
    """)


def test_models_that_differ(tmp_path):
    ddp(tmp_path, 2, """
    try: DDP(nn.Linear(5, 3 + rank)); assert False
    except RuntimeError as e: assert "rank 0 has weight of float64 [3, 5], rank 1 has weight of float64 [4, 5]" in str(e), e
    try: DDP(nn.Linear(5, 3, bias=rank == 0)); assert False
    except RuntimeError as e: assert str(e) == "DDP expects same model across all ranks, but Rank 0 has 2 params, while rank 1 has inconsistent 1 params.", e
    """)


def test_an_error_in_one_rank_reaches_the_others(tmp_path):
    out = ddp(tmp_path, 2, """
    wrapped = DDP(net()); x, _ = data()
    try:
        out = wrapped(part(x))
        if rank == 1: raise KeyError("on purpose")
        out.sum().backward()
    except dist.DistBackendError as e: print(type(e).__name__, e)
    except KeyError: print("left"); os._exit(0)
    os._exit(0)
    """)
    assert out[1] == "left\n" and out[0].startswith("PeerLost all_reduce(AVG, "), out


def test_copies(tmp_path):
    ddp(tmp_path, 2, """
    import copy, pickle
    wrapped = DDP(net()); x, y = data(); again = copy.deepcopy(wrapped)
    nn.functional.mse_loss(again(part(x)), part(y)).backward(); alone = net(); nn.functional.mse_loss(alone(x), y).backward()
    for p, q in zip(again.parameters(), alone.parameters()): near(p.grad, q.grad)
    assert all(p.grad is None for p in wrapped.parameters())
    torch.save(wrapped.state_dict(), sys.argv[0] + str(rank)); wrapped.load_state_dict(torch.load(sys.argv[0] + str(rank)))
    """)


def test_batch_norm_over_processes(tmp_path):
    ddp(tmp_path, 3, """
    def normed():
        torch.manual_seed(2)
        return nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Unflatten(1, (4, 2)), nn.BatchNorm1d(4, momentum=None, affine=False),
                             nn.Flatten(), nn.Linear(8, 3))
    alone, wrapped = normed(), DDP(nn.SyncBatchNorm.convert_sync_batchnorm(normed()), broadcast_buffers=False)
    a, b = (torch.optim.SGD(m.parameters(), lr=0.1) for m in (alone, wrapped))
    x, y = data(12)
    for _ in range(4):
        step(alone, a, x, y); step(wrapped, b, part(x), part(y)); same_as(wrapped.module, alone)
        for name, buffer in alone.named_buffers(): near(buffer.double(), dict(wrapped.module.named_buffers())[name].double())
    mine = part(x).clone().requires_grad_(); whole = x.clone().requires_grad_()
    nn.functional.mse_loss(wrapped(mine), part(y)).backward(); nn.functional.mse_loss(alone(whole), y).backward()
    near(mine.grad / 3, part(whole.grad))
    wrapped.eval(); alone.eval(); near(wrapped(x), alone(x))
    """)


def test_what_packages_take_from_utils(tmp_path):
    run(tmp_path, 2, """
        from argand.distributed import utils
        group = dist.group.WORLD
        torch.manual_seed(rank)
        model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
        model[1].running_mean.fill_(rank + 1.0); own = model[0].bias.detach().clone()
        utils._sync_module_states(model, group, 250 << 20, src=1, params_and_buffers_to_ignore={"0.bias"}, broadcast_buffers=True)
        torch.manual_seed(1)
        assert model[0].weight.equal(torch.nn.Linear(3, 2).weight) and model[0].bias.equal(own) and model[1].running_mean.tolist() == [2, 2]
        model[1].running_mean.fill_(rank + 1.0)
        utils._sync_module_states(model, group, 250 << 20, 0, (), broadcast_buffers=False)
        assert model[1].running_mean.tolist() == [rank + 1.0] * 2
        utils._verify_param_shape_across_processes(group, list(model.parameters()))
        try: utils._verify_param_shape_across_processes(group, [torch.ones(2 + rank)])
        except RuntimeError as e: assert "DDP expects same model across all ranks" in str(e)
        else: assert False
        state = {"module.a": 1, "module.b": 2, "c": 3}; utils._replace_by_prefix(state, "module.", ""); assert state == {"a": 1, "b": 2, "c": 3}
    """)
