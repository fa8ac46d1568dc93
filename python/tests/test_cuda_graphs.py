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


@pytest.mark.parametrize("kind", ["Adam", "AdamW"])
def test_capturable_steps(tmp_path, kind):
    out = run(tmp_path, HEAD + f"""
o = torch.optim.{kind}([p], lr=rate, capturable=True)
capture(o)
o.step()
print(o.state[p]["step"].device, o.state[p]["exp_avg"].device)
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
    assert "has no state yet" in lines[0] and lines[1] == "cuda:0 cuda:0" and "counts its steps on the host" in lines[3]
    assert lines[2] == lines[4] == "captured"


def test_capturable_needs_a_gpu_for_all(tmp_path):
    out = run(tmp_path, HEAD + """
q = torch.nn.Parameter(torch.ones(2)); q.grad = torch.ones(2)
for groups in ([{"params": [p]}, {"params": [p.clone().detach()], "capturable": False}], [{"params": [p]}, {"params": [q]}]):
    try: torch.optim.Adam(groups, capturable=True).step()
    except RuntimeError as e: print(e)
""")
    assert out.stdout.count("capturable=True must be the option of all parameter groups") == 2, out.stdout + out.stderr


def test_what_waits_for_the_gpu_is_no_part_of_a_graph(tmp_path):
    out = run(tmp_path, HEAD + """
for wait in (lambda: p.sum().item(), lambda: torch.cuda.synchronize(), lambda: torch.poisson(p.detach()), lambda: p.cpu()):
    try:
        with torch.cuda.graph(torch.cuda.CUDAGraph()): wait()
    except RuntimeError as e: print(e)
print(torch.cuda.is_current_stream_capturing())
""")
    lines = out.stdout.splitlines()
    assert len(lines) == 5 and lines[4] == "False", out.stdout + out.stderr
    assert all("while a CUDA graph is being captured" in line for line in lines[:4]), lines
