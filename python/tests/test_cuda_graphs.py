"""What a capture takes and refuses; on the pretended GPU too.  Values are compared in test_cuda.py."""
import pytest
from pretended_gpu import run

HEAD = """
p = torch.nn.Parameter(torch.ones(3).cuda())
p.grad = torch.ones(3).cuda()
rate = torch.tensor(0.01).cuda()
def capture(optimizer):
    torch.cuda.synchronize()
    try:
        with torch.cuda.graph(torch.cuda.CUDAGraph()): optimizer.step()
    except RuntimeError as e: print(e)
    else: print("captured")
"""


@pytest.mark.parametrize("kind", ["Adam", "AdamW", "Adadelta", "Adamax", "ASGD", "NAdam", "RAdam", "RMSprop", "Rprop"])
def test_capturable_steps(tmp_path, kind):
    out = run(tmp_path, HEAD + f"""
o = torch.optim.{kind}([p], lr=rate, capturable=True)
capture(o)
o.step()
print({{t.device for t in o.state[p].values()}})
capture(o)
o = torch.optim.{kind}([p], lr=0.1)
o.step()
capture(o)
o.param_groups[0]["capturable"] = True  # PyTorch's programs change their mind so
o.step()
capture(o)
""")
    lines = out.stdout.splitlines()
    assert len(lines) == 5, out.stdout + out.stderr
    assert "has no state yet" in lines[0] and lines[1] == "{device(type='cuda', index=0)}" and "counts its steps on the host" in lines[3]
    assert lines[2] == lines[4] == "captured"


def test_what_is_not_capturable_is_stepped_beside_but_not_captured(tmp_path):
    out = run(tmp_path, HEAD + """
q = torch.nn.Parameter(torch.ones(2)); q.grad = torch.ones(2)
r = p.detach().clone(); r.grad = torch.ones(3).cuda()
o = torch.optim.Adam([{"params": [p]}, {"params": [q]}, {"params": [r], "capturable": False}], lr=0.5, capturable=True)
o.step(); o.step()
print(q.tolist(), [o.state[t]["step"].device.type for t in (p, q, r)])
capture(o)
""")
    lines = out.stdout.splitlines()
    assert lines[0] == "[0.0, 0.0] ['cuda', 'cpu', 'cpu']", out.stdout + out.stderr
    assert "give all parameter groups capturable=True" in lines[1]


def test_what_waits_for_the_gpu_is_no_part_of_a_graph(tmp_path):
    out = run(tmp_path, HEAD + """
for wait in (lambda: p.sum().item(), lambda: torch.cuda.synchronize(), lambda: torch.linalg.ldl_factor(p.detach().view(1, -1)[:, :1]), lambda: p.cpu()):
    try:
        with torch.cuda.graph(torch.cuda.CUDAGraph()): wait()
    except RuntimeError as e: print(e)
print(torch.cuda.is_current_stream_capturing())
""")
    lines = out.stdout.splitlines()
    assert len(lines) == 5 and lines[4] == "False", out.stdout + out.stderr
    assert all("while a CUDA graph is being captured" in line for line in lines[:4]), lines


def test_copies_of_page_locked_memory_are_part_of_a_graph(tmp_path):
    """Those that the host does not wait for; the graph keeps that memory."""
    out = run(tmp_path, HEAD + """
host, x = torch.arange(4096.).pin_memory(), torch.empty(4000, device="cuda")
address, graph = host.data_ptr(), torch.cuda.CUDAGraph()
with torch.cuda.graph(graph): x.copy_(host[96:], non_blocking=True)
del host
print(torch.empty(4096, pin_memory=True).data_ptr() == address)
del graph
torch.cuda.synchronize()
print(torch.empty(4096, pin_memory=True).data_ptr() == address)
for source, wait in ((torch.ones(4000).pin_memory(), True), (torch.ones(4000), False)):
    try:
        with torch.cuda.graph(torch.cuda.CUDAGraph()): x.copy_(source, non_blocking=not wait)
    except RuntimeError as e: print(e)
""")
    lines = out.stdout.splitlines()
    assert lines[:2] == ["False", "True"], out.stdout + out.stderr
    assert len(lines) == 4 and all("a copy between host and device is not possible while" in line for line in lines[2:]), lines


def test_graphed_callables(tmp_path):
    """A module and a function, and what they refuse."""
    out = run(tmp_path, """
from torch import nn
from torch.cuda import make_graphed_callables as graphed
x = torch.randn(4, 8).cuda()
net = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1)).cuda()
assert graphed(net, (x,)) is net and net[0].weight.grad is None
net(x + 1).sum().backward()
print(net[0].weight.grad.shape, net(x).shape, net(x).requires_grad)
net.eval()
print(net(torch.randn(2, 8).cuda()).shape)  # as it was before
f = lambda pair, y: {"sum": pair[0] + pair[1] * y, "mask": pair[0] > 0}
g, h = graphed((f, nn.Linear(8, 2).cuda()), (((x, x), x.clone().requires_grad_()), (x,)))
out = g((x, x), x)
print(sorted(out), out["sum"].requires_grad, out["mask"].dtype, h(x).shape)
y = x.clone().requires_grad_()
g((x, x), y)["sum"].sum().backward()
print(y.grad.shape)
def refused(call):
    try: call()
    except (RuntimeError, TypeError, ValueError) as e: print(*str(e).split())  # a nest is shown on several lines
refused(lambda: g((x, x), x[:2]))
refused(lambda: g((x, x, x), x))
refused(lambda: graphed(f, ((x, 1), x)))
refused(lambda: graphed(nn.Linear(8, 2), (x,)))
hooked = nn.Linear(8, 2).cuda(); hooked.register_forward_hook(lambda *a: None)
refused(lambda: graphed(hooked, (x,)))
def cached():
    with torch.autocast("cuda"): graphed(nn.Linear(8, 2).cuda(), (x,))
refused(cached)
""")
    lines = out.stdout.splitlines()
    assert lines[:5] == ["torch.Size([8, 8]) torch.Size([4, 1]) True", "torch.Size([2, 1])",
                         "['mask', 'sum'] False torch.bool torch.Size([4, 2])", "torch.Size([4, 8])",
                         "a graphed callable: expected argument 2 as it was when it was made, torch.float32 (4, 8) on cuda:0, got "
                         "torch.float32 (2, 8) on cuda:0"], out.stdout + out.stderr
    for line, words in zip(lines[5:], ("expected arguments nested as when it was made", "must hold tensors alone, got int",
                                       "expected arguments and parameters on a GPU, got one on cpu", "expected modules without hooks",
                                       "use torch.autocast(cache_enabled=False)"), strict=True):
        assert words in line


def test_random_slopes_are_drawn_on_the_gpu(tmp_path):
    out = run(tmp_path, """
x = torch.ones(5).cuda()
torch.nn.functional.rrelu(x, training=True)
with torch.cuda.graph(torch.cuda.CUDAGraph()): torch.nn.functional.rrelu(x, training=True)
print("captured")
""")
    assert out.stdout == "captured\n", out.stdout + out.stderr
