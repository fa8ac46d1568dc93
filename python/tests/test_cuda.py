"""argand.cuda on a GPU."""
import argand as torch
import pytest
from argand.nn.parameter import Parameter

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
CUDA = "cuda"
torch.set_float32_precision("exact")  # results are compared with the CPU's


def test_devices():
    assert torch.cuda.device_count() >= 1 and torch.cuda.current_device() == 0 and torch.cuda.is_initialized()
    properties = torch.cuda.get_device_properties(0)
    assert properties.name == torch.cuda.get_device_name("cuda:0") and properties.total_memory > 0
    assert (properties.major, properties.minor) == torch.cuda.get_device_capability(torch.device("cuda", 0))
    assert torch.cuda.get_arch_list() and torch.cuda.is_bf16_supported()
    with torch.cuda.device(0), torch.cuda.device("cuda"), torch.cuda.device(None):
        assert torch.cuda.current_device() == 0


def test_streams_and_events():
    default, side = torch.cuda.default_stream(), torch.cuda.Stream()
    assert torch.cuda.current_stream() == default and side != default and hash(side) == hash(side)
    x = torch.ones(1000, 1000, device=CUDA)
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    side.wait_stream(default)
    with torch.cuda.stream(side):
        assert torch.cuda.current_stream() == side
        start.record()
        y = x @ x
        end.record()
    with side, torch.cuda.Stream():
        assert torch.cuda.current_stream() != side
    assert torch.cuda.current_stream() == default
    default.wait_event(end)
    assert y[0, 0].item() == 1000
    end.synchronize()
    assert end.query() and start.elapsed_time(end) > 0
    event = side.record_event()
    event.wait(default)
    torch.cuda.synchronize()
    assert side.query() and torch.cuda.ExternalStream(side.cuda_stream).cuda_stream == side.cuda_stream


def test_memory():
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    x = torch.ones(1 << 20, device=CUDA)
    torch.cuda.synchronize()
    assert torch.cuda.memory_allocated() - before >= 4 << 20
    del x
    torch.cuda.synchronize()
    assert torch.cuda.memory_allocated() == before and torch.cuda.max_memory_allocated() >= before + (4 << 20)
    assert torch.cuda.memory_reserved() >= torch.cuda.memory_allocated() and torch.cuda.mem_get_info()[0] > 0
    assert torch.cuda.memory_stats()["allocated_bytes.all.current"] == before
    assert isinstance(torch.cuda.memory_summary(), str) and isinstance(torch.cuda.memory_snapshot(), list)
    torch.cuda.empty_cache()


@pytest.mark.parametrize("make", [
    lambda: torch.empty(1 << 45, device=CUDA, dtype=torch.uint8), lambda: torch.zeros(1 << 45, device=CUDA),
    lambda: torch.ones(1, device=CUDA).expand(1 << 45).clone(), lambda: torch.empty(0, device=CUDA).resize_(1 << 45),
    lambda: torch.empty_like(torch.empty(1, device=CUDA).expand(1 << 45), memory_format=torch.contiguous_format)])
def test_out_of_memory_is_an_error_of_the_call_that_asks(make):
    with pytest.raises(torch.cuda.OutOfMemoryError):
        make()
    assert torch.ones(2, device=CUDA).sum().item() == 2


def test_resize_keeps_contents():
    """Larger, smaller and larger again, of memory that was written by a launch just before."""
    x = torch.arange(1000., device=CUDA) * 2
    before = x.tolist()
    for size in (5000, 10, 1 << 20, 1000):
        x.resize_(size)
        assert x[:10].tolist() == before[:10]
    assert x.tolist() == before
    shared = torch.arange(8., device=CUDA)
    view = shared[4:]
    shared.resize_(1000)
    assert view.tolist() == [4, 5, 6, 7] and shared[:8].tolist() == list(range(8))


def test_generators():
    torch.cuda.manual_seed(7)
    state = torch.cuda.get_rng_state()
    a = torch.randn(5, device=CUDA).tolist()
    torch.cuda.set_rng_state(state)
    assert torch.randn(5, device=CUDA).tolist() == a and torch.cuda.initial_seed() == 7
    torch.cuda.manual_seed_all(7)
    assert torch.randn(5, device=CUDA).tolist() == a
    with torch.random.fork_rng():
        torch.randn(3, device=CUDA)
        inside = torch.cuda.get_rng_state().tolist()
    assert torch.cuda.get_rng_state().tolist() != inside


def test_normal_of_tensors():
    mean, std = torch.tensor([1.0, 5.0], device=CUDA), torch.tensor([0.0, 1e-3], device=CUDA)
    drawn = torch.normal(mean, std)
    assert drawn[0] == 1 and abs(drawn[1] - 5) < 0.01
    assert (torch.normal(2.0, std)[0], torch.normal(mean, 0.0).tolist()) == (2, [1, 5])
    with pytest.raises(ValueError, match="expects all elements of std >= 0.0, but found -1"):
        torch.normal(mean, torch.tensor([1.0, -1.0], device=CUDA))


def test_graph():
    x = torch.zeros(1000, device=CUDA)
    y = x * 2 + 1  # what is made once is there
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        assert torch.cuda.is_current_stream_capturing()
        y = x * 2 + 1
    for value in (3.0, 5.0):
        x.fill_(value)
        graph.replay()
        torch.cuda.synchronize()
        assert y[17].item() == 2 * value + 1
    with pytest.raises(ZeroDivisionError):
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            1 / 0
    assert not torch.cuda.is_current_stream_capturing()


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "ASGD",
                                  "Rprop", "Adafactor"])
def test_optimizers_agree_with_the_cpu(name):
    def run(device):
        torch.manual_seed(0)
        params = [Parameter(torch.randn(4, 3).to(device)), Parameter(torch.randn(5).to(device))]
        optimizer = getattr(torch.optim, name)(params, lr=0.05)
        for _ in range(5):
            for p in params:
                p.grad = torch.randn(p.shape).to(device)
            optimizer.step()
        for state in optimizer.state.values():
            for key, value in state.items():
                assert key in ("step", "eta", "mu", "mu_product") or value.device.type == device
        return [v for p in params for v in p.detach().cpu().reshape(-1).tolist()]
    assert run(CUDA) == pytest.approx(run("cpu"), rel=1e-4, abs=1e-5)


def test_optimizer_state_moves_with_a_loaded_state_dict():
    p = Parameter(torch.ones(3))
    optimizer = torch.optim.Adam([p], lr=0.1)
    p.grad = torch.ones(3)
    optimizer.step()
    q = Parameter(p.detach().cuda())
    other = torch.optim.Adam([q], lr=0.1)
    other.load_state_dict(optimizer.state_dict())
    q.grad, p.grad = torch.ones(3, device=CUDA), torch.ones(3)
    optimizer.step()
    other.step()
    assert other.state[q]["exp_avg"].is_cuda and q.tolist() == pytest.approx(p.tolist(), rel=1e-6)


def test_counted_steps_are_not_captured():
    p = Parameter(torch.ones(3, device=CUDA))
    optimizer = torch.optim.Adam([p], lr=0.1)
    p.grad = torch.ones(3, device=CUDA)
    optimizer.step()
    with pytest.raises(RuntimeError, match="counts its steps on the host"):
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            optimizer.step()


@pytest.mark.parametrize("kind", [getattr(torch.optim, name) for name in (
    "Adam", "AdamW", "Adadelta", "Adamax", "ASGD", "NAdam", "RAdam", "RMSprop", "Rprop")])
def test_captured_steps_count_and_read_their_rate(kind):
    """Each replay is the next step, with what the learning rate then is: as steps without a graph."""
    x, y = torch.randn(64, 8, device=CUDA), torch.randn(64, 1, device=CUDA)
    rates = [0.01, 0.01, 0.0, 0.05, 0.001]

    def make():
        torch.manual_seed(1)
        net = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1)).cuda()
        rate = torch.tensor(0.01, device=CUDA)
        return net, kind(net.parameters(), lr=rate, capturable=True), rate

    def step(net, optimizer):
        optimizer.zero_grad(set_to_none=False)
        loss = (net(x) - y).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    net, optimizer, rate = make()
    losses = [step(net, optimizer) for _ in range(3)]
    for r in rates:
        rate.fill_(r)
        losses.append(step(net, optimizer).item())
    captured_net, optimizer, rate = make()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step(captured_net, optimizer)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step(captured_net, optimizer)
    for r, expected in zip(rates, losses[3:]):
        rate.fill_(r)
        graph.replay()
        assert loss.item() == pytest.approx(expected, rel=1e-4)
    for p, q in zip(net.parameters(), captured_net.parameters()):
        assert torch.allclose(p, q, rtol=1e-4, atol=1e-6)
    assert optimizer.state[captured_net[0].weight]["step"].item() == 8


def test_replays_draw_new_numbers():
    x, out = torch.ones(4096, device=CUDA), torch.empty(4096, device=CUDA)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        torch.nn.functional.dropout(x, 0.5)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out.copy_(torch.nn.functional.dropout(x, 0.5))

    def replayed():
        graph.replay()
        return out.clone()
    torch.cuda.manual_seed(11)
    masks = [replayed() for _ in range(3)]
    assert not torch.equal(masks[0], masks[1]) and not torch.equal(masks[1], masks[2])
    torch.cuda.manual_seed(11)
    assert torch.equal(replayed(), masks[0])
    assert torch.equal(torch.nn.functional.dropout(x, 0.5), masks[1])  # a draw between two replays takes its turn
    assert torch.equal(replayed(), masks[2])


def test_replays_draw_as_many_numbers_as_they_need():
    rates, out = torch.full((4096,), 9.9, device=CUDA), torch.empty(4096, device=CUDA)
    torch.poisson(rates)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out.copy_(torch.poisson(rates))

    def replayed():
        graph.replay()
        return out.clone()
    torch.cuda.manual_seed(11)
    first, second = replayed(), replayed()
    assert not torch.equal(first, second)
    torch.cuda.manual_seed(11)
    assert torch.equal(torch.poisson(rates), first) and torch.equal(replayed(), second)


def test_graphed_callables_are_what_they_were():
    """Values, gradients of arguments and parameters, and training, as without graphs; dropout draws anew."""
    def make():
        torch.manual_seed(0)
        return torch.nn.Sequential(torch.nn.Linear(32, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1)).cuda()
    plain, captured = make(), torch.cuda.make_graphed_callables(make(), (torch.randn(4, 32, device=CUDA, requires_grad=True),))
    optimizers = [torch.optim.SGD(net.parameters(), lr=0.1) for net in (plain, captured)]
    for _ in range(3):
        x = torch.randn(4, 32, device=CUDA)
        inputs = [x.clone().requires_grad_() for _ in range(2)]
        for net, optimizer, given in zip((plain, captured), optimizers, inputs):
            optimizer.zero_grad()
            net(given).square().sum().backward()
            optimizer.step()
        assert torch.allclose(inputs[0].grad, inputs[1].grad, rtol=1e-4, atol=1e-6)
        for p, q in zip(plain.parameters(), captured.parameters()):
            assert torch.allclose(p, q, rtol=1e-4, atol=1e-6)
    captured.eval()
    x = torch.randn(7, 32, device=CUDA)
    assert torch.allclose(captured(x), plain(x), rtol=1e-4, atol=1e-6)
    drop = torch.cuda.make_graphed_callables(torch.nn.Dropout(0.5).cuda(), (torch.ones(1000, device=CUDA),))
    ones = torch.ones(1000, device=CUDA)
    assert not torch.equal(drop(ones).clone(), drop(ones).clone())


def test_copies_of_page_locked_memory_are_captured():
    host, back = torch.arange(1000.0).pin_memory(), torch.empty(1000, pin_memory=True)
    x, y = torch.empty(1000, device=CUDA), torch.empty(1000, device=CUDA)
    assert host.is_pinned() and back.is_pinned()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        x.copy_(host, non_blocking=True)
        y.copy_(x)
        y.mul_(2)
        back.copy_(y, non_blocking=True)
    for start in (0.0, 5.0):
        host.copy_(torch.arange(1000.0) + start)
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(back, 2 * (torch.arange(1000.0) + start))


@pytest.mark.parametrize("draw", [lambda r: torch.poisson(50 * r), lambda r: torch.binomial(1000 * r, r / 4),
                                  lambda r: torch._standard_gamma(3 * r), lambda r: torch._sample_dirichlet(3 * r),
                                  lambda r: torch.distributions.Gamma(3 * r, r).sample()])
def test_every_draw_follows_the_gpus_seed(draw):
    rates, cpu = torch.ones(1000, device=CUDA), torch.get_rng_state()
    torch.cuda.manual_seed(5)
    first, second = draw(rates), draw(rates)
    torch.cuda.manual_seed(5)
    assert torch.equal(draw(rates), first) and torch.equal(draw(rates), second) and not torch.equal(first, second)
    assert torch.equal(torch.get_rng_state(), cpu)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("n", [1, 768, 769, 3073, 100000])
def test_bags_of_any_length(n, mode):
    torch.manual_seed(0)
    bag, twin = (torch.nn.EmbeddingBag(10, 4, mode=mode, padding_idx=2) for _ in range(2))
    twin.load_state_dict(bag.state_dict())
    twin.cuda()
    i, offsets = torch.randint(10, (n,)), torch.tensor(sorted({0, n // 3, n // 2}))
    a, b = bag(i, offsets), twin(i.cuda(), offsets.cuda())
    a.sum().backward()
    b.sum().backward()
    assert torch.allclose(a, b.cpu(), atol=1e-2, rtol=1e-4)
    assert torch.allclose(bag.weight.grad, twin.weight.grad.cpu(), atol=1e-3, rtol=1e-4) and twin.weight.grad[2].eq(0).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_mixed_precision(dtype):
    torch.manual_seed(0)
    w = Parameter(torch.randn(8, 1, device=CUDA))
    x = torch.randn(64, 8, device=CUDA)
    y = x @ torch.arange(8.0, device=CUDA).reshape(8, 1)
    optimizer, scaler = torch.optim.Adam([w], lr=0.3), torch.amp.GradScaler("cuda", init_scale=2.0**40)
    losses = []
    for _ in range(120):
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=dtype):
            out = x @ w
            assert out.dtype is dtype
            loss = ((out.float() - y) ** 2).mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 20
    if dtype is torch.float16:
        assert scaler.get_scale() < 2.0**40  # the first gradients overflowed


def test_pinned_batches():
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.arange(8.0)), 4, num_workers=2, pin_memory=True)
    got = []
    for batch, in loader:
        assert batch.is_pinned()
        got += batch.to(CUDA, non_blocking=True).tolist()
    assert got == list(range(8))


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_checkpoint_with_dropout(use_reentrant):
    x = torch.ones(1000, device=CUDA, requires_grad=True)
    out = torch.utils.checkpoint.checkpoint(lambda t: torch.dropout(t, 0.5, True), x, use_reentrant=use_reentrant)
    torch.randn(3, device=CUDA)
    out.sum().backward()
    assert x.grad.tolist() == out.tolist()


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("dtype, tolerance", [(torch.float32, 6e-6), (torch.float16, 3e-3)])
def test_convolutions_and_attention_with_and_without_cudnn(enabled, dtype, tolerance):
    torch.manual_seed(0)
    # Weights that keep the attention's logits small: its softmax would magnify what float32 rounds in large ones.
    x, w = torch.randn(4, 16, 20, 20).to(dtype), (torch.randn(32, 16, 3, 3) / 12).to(dtype)

    def run(device, of):
        a, b = (t.to(device, of).requires_grad_() for t in (x, w))
        y = torch.nn.functional.conv2d(a, b, padding=1, stride=2)
        z = y.flatten(2).unsqueeze(1)
        z = torch.nn.functional.scaled_dot_product_attention(z, z, z)
        return [t.double().cpu() for t in (y.detach(), z.detach(), *torch.autograd.grad(y.sum() + z.sum(), (a, b)))]

    with torch.backends.cudnn.flags(enabled=enabled, allow_tf32=False):
        got = run(CUDA, dtype)
    for e, g in zip(run("cpu", torch.float64), got):
        assert (g - e).abs().max() <= 10 * tolerance * e.abs().max()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("shape", [(2, 3, 3, 64, 64, 64, 64), (1, 4, 2, 130, 200, 80, 64), (1, 2, 2, 257, 257, 128, 128), (1, 2, 2, 40, 50, 7, 5),
                                   (2, 70, 70, 300, 200, 128, 128), (2, 64, 64, 300, 300, 64, 64)])
@pytest.mark.parametrize("mask", ["none", "causal", "bool", "added"])
def test_attention(dtype, shape, mask):
    n, heads, kv_heads, queries, keys, width, value_width = shape
    torch.manual_seed(0)
    q, k, v, g = (torch.randn(n, h, rows, columns).to(dtype) for h, rows, columns in
                  ((heads, queries, width), (kv_heads, keys, width), (kv_heads, keys, value_width), (heads, queries, value_width)))
    given = {"bool": torch.rand(n, 1, queries, keys) > 0.3, "added": torch.randn(queries, keys).to(dtype)}.get(mask)
    if mask == "bool":
        given[:, :, 1] = False  # a query that sees nothing

    def run(device, of):
        t = [x.to(device, of).requires_grad_() for x in (q, k, v)]
        m = given if given is None else given.to(device) if mask == "bool" else given.to(device, of)
        out = torch.nn.functional.scaled_dot_product_attention(*t, m, is_causal=mask == "causal", enable_gqa=heads != kv_heads)
        return [out.detach(), *torch.autograd.grad(out, t, g.to(device, of))]

    expected, got, again = run("cpu", torch.float64), run(CUDA, dtype), run(CUDA, dtype)
    tolerance = {torch.float32: 6e-6, torch.float16: 3e-3, torch.bfloat16: 2e-2}[dtype]
    for e, x, y in zip(expected, got, again):
        assert (x.cpu().double() - e).abs().max() <= tolerance * e.abs().max()
        assert torch.equal(x, y)


# By a kernel, or in ops for so many queries at a time.
@pytest.mark.parametrize("dtype, rows", [(torch.float32, None), (torch.bfloat16, None), (torch.float64, 50), (torch.float32, 300)])
def test_attention_with_dropout(dtype, rows):
    torch.manual_seed(0)
    q, k = (torch.randn(2, 3, 128, 64, device=CUDA).to(dtype).requires_grad_() for _ in range(2))
    v = torch.eye(128, device=CUDA).to(dtype).expand(2, 3, 128, 128).clone().requires_grad_()  # shows the weights

    def attend(*tensors, dropout_p):
        if rows is None:
            return torch.nn.functional.scaled_dot_product_attention(*tensors, dropout_p=dropout_p)
        return torch._scaled_dot_product_attention_by_rows(*tensors, None, dropout_p, False, rows)[0]
    state = torch.cuda.get_rng_state()
    out = attend(q, k, v, dropout_p=0.3)
    other = attend(q, k, v, dropout_p=0.3)
    torch.cuda.set_rng_state(state)
    assert torch.equal(attend(q, k, v, dropout_p=0.3), out) and not torch.equal(out, other)
    kept = (out != 0).double()
    assert abs(kept.mean().item() - 0.7) < 0.01
    g = torch.randn(2, 3, 128, 128, device=CUDA).to(dtype)
    got = torch.autograd.grad(out, (q, k, v), g)
    wide = [x.detach().double().requires_grad_() for x in (q, k, v)]
    weights = (wide[0] @ wide[1].transpose(-1, -2) / 8).softmax(-1) * kept / 0.7
    expected = torch.autograd.grad(weights @ wide[2], wide, g.double())
    tolerance = 1e-2 if dtype == torch.bfloat16 else 1e-5
    for e, x in zip(expected, got):
        assert (x.double() - e).abs().max() <= tolerance * e.abs().max()


# In blocks; with weights so large that each step is a kernel of its own; and that it is a product and a kernel.
@pytest.mark.parametrize("hidden", [48, 640, 650])
@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_recurrent_layers(kind, hidden):
    torch.manual_seed(0)
    layer = getattr(torch.nn, kind)(24, hidden, num_layers=2, bidirectional=True)
    x, g = torch.randn(5, 37, 24), torch.randn(5, 37, 2 * hidden)

    def run(device, dtype):
        own = getattr(torch.nn, kind)(24, hidden, num_layers=2, bidirectional=True).to(device, dtype)
        own.load_state_dict(layer.state_dict())
        given = x.to(device, dtype).requires_grad_()
        out, state = own(given)
        states = state if kind == "LSTM" else (state,)
        loss = (out * g.to(device, dtype)).sum() + sum(s.square().sum() for s in states)
        return [out.detach(), *(s.detach() for s in states), *torch.autograd.grad(loss, [given, *own.parameters()])]

    for expected, got, again in zip(run("cpu", torch.float64), run(CUDA, torch.float32), run(CUDA, torch.float32)):
        assert (got.cpu().double() - expected).abs().max() <= 1e-5 * expected.abs().max()
        assert torch.equal(got, again)
