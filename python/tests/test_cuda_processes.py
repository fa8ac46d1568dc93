"""Tensors of a GPU and other processes: what would quietly become a copy is refused.  On the pretended GPU, or the one there is."""
import pytest
from pretended_gpu import run

HEAD = """
import copy, io, pickle
import torch.multiprocessing as mp
from multiprocessing.reduction import ForkingPickler
class Own(torch.Tensor): pass
class Reduced(torch.Tensor):
    def __reduce_ex__(self, protocol): return super().__reduce_ex__(protocol)
x = torch.arange(4.0).cuda()
"""


@pytest.mark.parametrize("sent", [
    "x", "torch.nn.Parameter(x)", "torch.nn.Buffer(x)", "x.as_subclass(Own)", "x.as_subclass(Reduced)", "[1, {'a': (x,)}]",
    "x.untyped_storage()", "x.storage()", "torch.nn.Linear(2, 2).cuda()", "torch.nn.Linear(2, 2).cuda().state_dict()"])
def test_is_not_sent(tmp_path, sent):
    out = run(tmp_path, HEAD + f"""
try: ForkingPickler.dumps({sent})
except RuntimeError as e: print(e)
""")
    assert "on cuda:0 cannot be sent to another process" in out.stdout and ".cpu()" in out.stdout, out.stdout + out.stderr


def test_is_kept(tmp_path):
    """Pickles, copies and files that a program asks for are copies, as they should be."""
    out = run(tmp_path, HEAD + """
f = io.BytesIO(); torch.save({'x': x}, f); f.seek(0)
class Wraps:
    def __reduce__(self): return bytes, (pickle.dumps(x),)
packed = pickle.loads(ForkingPickler.dumps(Wraps()))
for y in (pickle.loads(pickle.dumps(x)), torch.load(f)['x'], pickle.loads(packed)):
    print(y.device, y.tolist())
print(copy.deepcopy(x).device)
print(x.cpu().tolist() == pickle.loads(ForkingPickler.dumps(x.cpu())).tolist())
""")
    assert out.stdout.splitlines() == ["cuda:0 [0.0, 1.0, 2.0, 3.0]"] * 3 + ["cuda:0", "True"], out.stdout + out.stderr


def test_is_shared_tells_the_truth(tmp_path):
    out = run(tmp_path, HEAD + """
print(x.is_shared(), x.share_memory_() is x, x.is_shared(), x.untyped_storage().is_shared())
print(torch.ones(2).is_shared(), torch.ones(2).share_memory_().is_shared())
""")
    assert out.stdout.splitlines() == ["False True False False", "False True"], out.stdout + out.stderr


def test_processes_and_pipes(tmp_path):
    out = run(tmp_path, HEAD + """
def f(t): pass
if __name__ == '__main__':
    c = mp.get_context('spawn')
    try: c.Process(target=f, args=(x,)).start()
    except RuntimeError as e: print(e)
    a, b = c.Pipe()
    try: a.send(x)
    except RuntimeError as e: print(e)
    q = c.SimpleQueue()
    try: q.put(x)
    except RuntimeError as e: print(e)
""")
    assert len(out.stdout.splitlines()) == 3 and out.stdout.count("cannot be sent to another process") == 3, out.stdout + out.stderr
