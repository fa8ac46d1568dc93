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
