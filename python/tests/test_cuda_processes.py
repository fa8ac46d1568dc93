"""Tensors of a GPU that processes share.  On the GPUs there are, or on the pretended one, whose kernels do not run: its values are what
was copied there."""
import pytest
from pretended_gpu import run

HEAD = """
import copy, io, os, pickle, signal, sys, time, traceback
import torch.multiprocessing as mp
from multiprocessing.reduction import ForkingPickler
import torch
# The pretended GPU runs no kernels: single elements and what is not contiguous stay zero there.
KERNELS = torch.cuda.get_device_name() != 'dry run'
signal.alarm(100)  # what waits for a message that does not come
class Own(torch.Tensor): pass
class Reduced(torch.Tensor):
    def __reduce_ex__(self, protocol): return super().__reduce_ex__(protocol)
def address(t): return t.data_ptr() - t.storage_offset() * t.element_size()
def eventually(f, seconds=60):
    end = time.monotonic() + seconds
    while not f() and time.monotonic() < end: time.sleep(0.01)
    assert f()
def memory():
    torch.cuda.ipc_collect()
    return torch.cuda.memory_allocated()
"""

# What the child runs is `child(work, answers)`, what its parent runs `parent(process, work, answers)`.
PAIR = """
def guarded(work, answers):
    try: child(work, answers)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os.kill(os.getppid(), signal.SIGTERM)  # which waits for an answer
        raise
if __name__ == '__main__':
    torch.cuda.init()
    c = mp.get_context('spawn')
    work, answers = c.Queue(), c.Queue()
    process = c.Process(target=guarded, args=(work, answers))
    process.start()
    try: parent(process, work, answers)
    except BaseException:
        process.kill()
        raise
    process.join(60)
    assert process.exitcode in (0, -signal.SIGKILL), process.exitcode
    print('fine')
"""


def pair(tmp_path, program, head=HEAD):
    out = run(tmp_path, head + program + PAIR)
    assert out.stdout.split() == ["fine"] and "Traceback" not in out.stderr, out.stdout + out.stderr


def test_values_in_both_directions(tmp_path):
    pair(tmp_path, """
def child(work, answers):
    x = work.get()
    assert x.device == torch.device('cuda:0') and x.tolist() == [0, 1, 2, 3] and x.is_shared()
    x.copy_(torch.tensor([4., 5, 6, 7]))
    y = torch.tensor([8., 9]).cuda()
    answers.put(y)
    work.get()
    assert y.tolist() == [10, 11]
    answers.put('done')
def parent(process, work, answers):
    x = torch.arange(4.).cuda()
    work.put(x)
    y = answers.get()
    assert x.tolist() == [4, 5, 6, 7] and y.tolist() == [8, 9]
    y.copy_(torch.tensor([10., 11]))
    torch.cuda.synchronize()
    work.put('look')
    assert answers.get() == 'done'
""")


def test_views_are_of_one_storage(tmp_path):
    """Whether they come in one message or in several, and those that come back are the sender's own."""
    pair(tmp_path, """
def child(work, answers):
    x, row, column = work.get()
    later = work.get()
    assert row.tolist() == [4, 5, 6, 7] and column.stride() == (4,) and later.tolist() == [10, 11]
    assert not KERNELS or column.tolist() == [1, 5, 9]
    assert len({address(t) for t in (x, row, column, later)}) == 1
    assert len({t.untyped_storage()._cdata for t in (x, row, column, later)}) == 1
    x.copy_(torch.full((3, 4), 7.))
    assert row.tolist() == [7] * 4 and later.tolist() == [7, 7]
    del x, row, column
    again = work.get()
    assert address(again) == address(later)
    answers.put((again[1], later))
    work.get()
def parent(process, work, answers):
    x = torch.arange(12.).reshape(3, 4).cuda()
    work.put((x, x[1], x[:, 1]))
    work.put(x[2, 2:])
    work.put(x)
    row, end = answers.get()
    assert address(row) == address(end) == address(x) and row.untyped_storage()._cdata == x.untyped_storage()._cdata
    assert row.tolist() == [7] * 4 and row.storage_offset() == 4
    work.put(None)
""")


def test_what_is_sent_keeps_its_kind(tmp_path):
    pair(tmp_path, """
def child(work, answers):
    leaf, parameter, own, reduced, bits, halves, empty, number, storage, named, grad = work.get()
    assert type(leaf) is torch.Tensor and leaf.requires_grad and leaf.is_leaf and leaf.grad is None
    assert type(parameter) is torch.nn.Parameter and parameter.requires_grad and parameter.tolist() == [1, 2]
    assert type(own) is Own and type(reduced) is Reduced and own.tolist() == reduced.tolist() == [3, 4]
    assert bits.dtype == torch.bool and bits.tolist() == [True, False, True]
    assert halves.dtype == torch.bfloat16 and halves.tolist() == [0.5, 2]
    assert empty.shape == (0, 3) and empty.is_cuda and number.shape == () and (not KERNELS or number.item() == 5)
    assert isinstance(storage, torch.UntypedStorage) and storage.tolist()[:4] == [1, 2, 3, 4]
    assert named.note == 'kept' and grad.tolist() == [6, 7]
    grad.copy_(torch.tensor([8., 9]))
    torch.cuda.synchronize()
    answers.put('done')
def parent(process, work, answers):
    leaf = torch.tensor([1., 2]).cuda().requires_grad_()
    leaf.grad = torch.tensor([6., 7]).cuda()
    named = torch.zeros(1).cuda()
    named.note = 'kept'
    work.put((leaf, torch.nn.Parameter(torch.tensor([1., 2]).cuda()), torch.tensor([3., 4]).cuda().as_subclass(Own),
              torch.tensor([3., 4]).cuda().as_subclass(Reduced), torch.tensor([True, False, True]).cuda(),
              torch.tensor([0.5, 2], dtype=torch.bfloat16).cuda(), torch.empty(0, 3, device='cuda'), torch.tensor(5).cuda(),
              torch.tensor([1, 2, 3, 4], dtype=torch.uint8).cuda().untyped_storage(), named, leaf.grad))
    assert answers.get() == 'done' and leaf.grad.tolist() == [8, 9]
""")


def test_large_storages_are_in_many_pieces(tmp_path):
    """More pieces than a packet has descriptors, on the pretended GPU; the storage begins within one."""
    pair(tmp_path, """
def child(work, answers):
    x = work.get()
    assert x[0].item() == 1 and x[-1].item() == 2 and x[len(x) // 2].item() == 3
    x[-2:].copy_(torch.tensor([4, 5], dtype=torch.uint8))
    torch.cuda.synchronize()
    answers.put('done')
def parent(process, work, answers):
    before = torch.zeros(3 << 20, dtype=torch.uint8, device='cuda')
    x = torch.empty(300 << 20, dtype=torch.uint8, device='cuda')
    for at, value in ((0, 1), (len(x) - 2, 2), (len(x) // 2, 3)):
        x[at:at + 2].copy_(torch.tensor([value, value], dtype=torch.uint8))
    work.put(x)
    assert answers.get() == 'done' and x[-2:].tolist() == [4, 5]
""")


def test_thousands_of_blocks_that_the_sender_drops(tmp_path):
    """None is given to another tensor while the receiver may look at it, and all memory is back at the end."""
    pair(tmp_path, """
N = 3000
def child(work, answers):
    for i in range(N):
        x = work.get()
        assert x.tolist() == [i, i + 1], (i, x.tolist())
        if i % 100 == 0: answers.put(i)
    del x
    torch.cuda.ipc_collect()
    answers.put('done')
    work.get()
def parent(process, work, answers):
    torch.zeros(1).cuda()
    before = memory()
    for i in range(N):
        work.put(torch.tensor([float(i), i + 1]).cuda())
        if i % 100 == 0: assert answers.get() == i  # messages in a queue take memory
    assert answers.get() == 'done'
    eventually(lambda: memory() == before)
    work.put(None)
""")


def test_a_sent_block_stays_the_receivers(tmp_path):
    pair(tmp_path, """
def child(work, answers):
    x = work.get()
    answers.put('have')
    work.get()
    assert x.tolist() == [3.0] * 1000
    del x
    torch.cuda.ipc_collect()
    answers.put('dropped')
    work.get()
def parent(process, work, answers):
    torch.zeros(1).cuda()
    before = memory()
    work.put(torch.tensor([3.0] * 1000).cuda())
    assert answers.get() == 'have'
    others = [torch.tensor([5.0] * 1000).cuda() for _ in range(50)]
    del others
    assert memory() > before
    work.put('look')
    assert answers.get() == 'dropped'
    eventually(lambda: memory() == before)
    work.put(None)
""")


def test_a_message_that_was_not_read_keeps_its_memory(tmp_path):
    """Also if its storage came and went by another message meanwhile."""
    pair(tmp_path, """
def child(work, answers):
    x = work.get()
    del x
    torch.cuda.ipc_collect()
    answers.put('dropped')
    assert work.get() == 'go on'
    assert work.get().tolist() == [3.0] * 1000
    torch.cuda.ipc_collect()
    answers.put('dropped')
    work.get()
def parent(process, work, answers):
    torch.zeros(1).cuda()
    before = memory()
    x = torch.tensor([3.0] * 1000).cuda()
    message = ForkingPickler.dumps(x)
    work.put(x)
    assert answers.get() == 'dropped'
    del x
    work.put('go on')
    assert memory() > before
    others = [torch.tensor([5.0] * 1000).cuda() for _ in range(50)]
    work.put(ForkingPickler.loads(message))
    assert answers.get() == 'dropped'
    del others
    eventually(lambda: memory() == before)
    work.put(None)
""")


def test_a_receiver_that_is_killed_holds_nothing(tmp_path):
    pair(tmp_path, """
def child(work, answers):
    x = work.get()
    answers.put('have')
    time.sleep(600)
def parent(process, work, answers):
    torch.zeros(1).cuda()
    before = memory()
    x = torch.ones(1000).cuda()
    work.put(x)
    del x
    assert answers.get() == 'have' and memory() > before
    process.kill()
    eventually(lambda: memory() == before)
""")


def test_the_memory_outlives_its_owner(tmp_path):
    pair(tmp_path, """
def child(work, answers):
    answers.put(torch.tensor([1., 2, 3]).cuda())
    work.get()
    os.kill(os.getpid(), signal.SIGKILL)
def parent(process, work, answers):
    x = answers.get()
    work.put(None)
    process.join()
    assert x.tolist() == [1, 2, 3]
    x.copy_(torch.tensor([4., 5, 6]))
    assert x.tolist() == [4, 5, 6]
""")


def test_what_nobody_received_from_a_process_that_has_ended(tmp_path):
    pair(tmp_path, """
def child(work, answers):
    a, b = work.get()
    answers.put(bytes(ForkingPickler.dumps(torch.ones(2).cuda())))
    answers.close(); answers.join_thread()
    os.kill(os.getpid(), signal.SIGKILL)
def parent(process, work, answers):
    work.put((1, 2))
    message = answers.get()
    process.join()
    try: pickle.loads(message)
    except RuntimeError as e: assert 'has ended' in str(e), e
    else: raise SystemExit('received')
""")


def test_what_was_received_is_sent_on(tmp_path):
    """To a third process, which shares it with the first, after the second dropped it, too."""
    pair(tmp_path, """
def grandchild(work, answers):
    x, same = work.get()
    assert address(x) == address(same) and x.tolist() == [1, 2]
    x.copy_(torch.tensor([3., 4]))
    answers.put(x)
    assert work.get() == 'end'
def child(work, answers):
    c = mp.get_context('spawn')
    further = c.Queue()
    third = c.Process(target=grandchild, args=(further, answers))
    third.start()
    x = work.get()
    further.put((x, x[:1]))
    del x
    work.get()
    further.put('end')
    third.join(60)
    assert third.exitcode == 0
def parent(process, work, answers):
    x = torch.tensor([1., 2]).cuda()
    work.put(x)
    y = answers.get()
    assert address(y) == address(x) and x.tolist() == [3, 4]
    work.put('end')
""")


def test_models_that_processes_train_together(tmp_path):
    """Hogwild: share_memory() and spawn()."""
    out = run(tmp_path, HEAD + """
def train(rank, model, barrier):
    assert all(type(p) is torch.nn.Parameter and p.is_shared() and p.is_cuda for p in model.parameters())
    with torch.no_grad(): list(model.parameters())[rank].copy_(torch.full(list(model.parameters())[rank].shape, rank + 5.))
    torch.cuda.synchronize()
    barrier.wait(60)
    assert model[0].bias.tolist() == [6.0] * 3 and model[0].weight.flatten().tolist() == [5.0] * 6
if __name__ == '__main__':
    model = torch.nn.Sequential(torch.nn.Linear(2, 3)).cuda()
    assert model.share_memory() is model
    mp.spawn(train, args=(model, mp.get_context('spawn').Barrier(2)), nprocs=2)
    assert model[0].bias.tolist() == [6.0] * 3 and model[0].weight.flatten().tolist() == [5.0] * 6
    print('fine')
""")
    assert out.stdout.split() == ["fine"], out.stdout + out.stderr


def test_workers_of_a_loader(tmp_path):
    """Their batches stay on the GPU, and in the memory where the worker made them."""
    out = run(tmp_path, HEAD + """
class Rows(torch.utils.data.Dataset):
    def __len__(self): return 6
    def __getitem__(self, i):
        row = torch.tensor([float(i), i + 1, os.getpid()]).cuda()
        return {'row': row, 'again': row[:2], 'own': torch.nn.Parameter(row), 'on the CPU': torch.ones(1000)}
if __name__ == '__main__':
    loader = torch.utils.data.DataLoader(Rows(), batch_size=None, num_workers=2, multiprocessing_context='spawn')
    for i, batch in enumerate(loader):
        row = batch['row']
        assert row.is_cuda and row.tolist()[:2] == [i, i + 1] and row[2:].cpu().item() != os.getpid()
        assert type(batch['own']) is torch.nn.Parameter and address(row) == address(batch['again']) == address(batch['own'])
        assert batch['on the CPU'].is_cpu and batch['on the CPU'].sum() == 1000
    print('fine')
""")
    assert out.stdout.split() == ["fine"], out.stdout + out.stderr


def test_processes_and_pipes(tmp_path):
    out = run(tmp_path, HEAD + """
def f(t, pipe, queue):
    assert t.tolist() == [1, 2]
    t.copy_(pipe.recv().cpu())
    queue.put(t)
if __name__ == '__main__':
    c = mp.get_context('spawn')
    x, (a, b), q = torch.tensor([1., 2]).cuda(), c.Pipe(), c.SimpleQueue()
    p = c.Process(target=f, args=(x, b, q))
    p.start()
    a.send(torch.tensor([3., 4]).cuda())
    assert q.get().tolist() == [3, 4] and x.tolist() == [3, 4]
    p.join()
    assert p.exitcode == 0
    print('fine')
""")
    assert out.stdout.split() == ["fine"], out.stdout + out.stderr


def test_in_one_process(tmp_path):
    """A queue within a process gives the storage itself; it cannot be resized any more, and its version goes on."""
    out = run(tmp_path, HEAD + """
x = torch.arange(4.).cuda()
y = ForkingPickler.loads(ForkingPickler.dumps(x))
assert y.data_ptr() == x.data_ptr() and y.untyped_storage()._cdata == x.untyped_storage()._cdata
try: x.resize_(1000)
except RuntimeError as e: assert 'not resizable' in str(e)
else: raise SystemExit('resized')
z = (x.clone().requires_grad_() * 1)
try: ForkingPickler.dumps(z)
except RuntimeError as e: assert 'Cowardly refusing' in str(e)
else: raise SystemExit('sent')
before = memory()
del x, y
assert memory() < before
print('fine')
""")
    assert out.stdout.split() == ["fine"], out.stdout + out.stderr


def test_forked_children_hold_up_nothing(tmp_path):
    """A child that a receiver forks has copies of its descriptors."""
    pair(tmp_path, """
def child(work, answers):
    x = work.get()
    forked = os.fork()
    if forked == 0:
        time.sleep(100)
        os._exit(0)
    answers.put(forked)
    time.sleep(600)
def parent(process, work, answers):
    torch.zeros(1).cuda()
    before = memory()
    x = torch.ones(1000).cuda()
    work.put(x)
    del x
    forked = answers.get()
    process.kill()
    eventually(lambda: memory() == before, 30)
    os.kill(forked, signal.SIGKILL)
""")


def test_where_memory_cannot_be_shared(tmp_path, monkeypatch):
    monkeypatch.setenv("ARGAND_CUDA_SHARING", "0")
    out = run(tmp_path, HEAD + """
x = torch.arange(4.0).cuda()
print(x.is_shared(), x.share_memory_() is x, x.tolist())
for sent in (x, torch.nn.Parameter(x), [1, {'a': (x,)}], x.untyped_storage(), torch.nn.Linear(2, 2).cuda()):
    try: ForkingPickler.dumps(sent)
    except RuntimeError as e: print(e)
""")
    lines = out.stdout.splitlines()
    assert lines[0] == "False True [0.0, 1.0, 2.0, 3.0]" and len(lines) == 6, out.stdout + out.stderr
    assert all("on cuda:0 cannot be sent to another process" in line and ".cpu()" in line for line in lines[1:]), out.stdout


def test_is_kept(tmp_path):
    """Pickles, copies and files that a program asks for are copies, as they should be."""
    out = run(tmp_path, HEAD + """
x = torch.arange(4.0).cuda()
f = io.BytesIO(); torch.save({'x': x}, f); f.seek(0)
class Wraps:
    def __reduce__(self): return bytes, (pickle.dumps(x),)
packed = pickle.loads(ForkingPickler.dumps(Wraps()))
for y in (pickle.loads(pickle.dumps(x)), torch.load(f)['x'], pickle.loads(packed)):
    print(y.device, y.tolist())
    assert y.data_ptr() != x.data_ptr()
print(copy.deepcopy(x).device)
print(x.cpu().tolist() == pickle.loads(ForkingPickler.dumps(x.cpu())).tolist())
""")
    assert out.stdout.splitlines() == ["cuda:0 [0.0, 1.0, 2.0, 3.0]"] * 3 + ["cuda:0", "True"], out.stdout + out.stderr


def test_is_shared(tmp_path):
    out = run(tmp_path, HEAD + """
x = torch.arange(4.0).cuda()
print(x.is_shared(), x.share_memory_() is x, x.is_shared(), x.untyped_storage().is_shared())
print(torch.ones(2).is_shared(), torch.ones(2).share_memory_().is_shared())
""")
    assert out.stdout.splitlines() == ["True True True True", "False True"], out.stdout + out.stderr


def test_events(tmp_path):
    pair(tmp_path, """
def child(work, answers):
    handle, x, same = work.get()
    event = torch.cuda.Event.from_ipc_handle(torch.device('cuda:0'), handle)
    event.wait()
    same.wait()
    y = x.clone()
    torch.cuda.synchronize()
    assert event.query()
    answers.put('done')
def parent(process, work, answers):
    event = torch.cuda.Event(interprocess=True)
    x = torch.ones(1000).cuda()
    event.record()
    work.put((event.ipc_handle(), x, event))
    assert answers.get() == 'done'
    try: ForkingPickler.dumps(torch.cuda.Event())
    except RuntimeError: pass
    else: raise SystemExit('sent')
    try: torch.cuda.Event(enable_timing=True, interprocess=True)
    except ValueError: pass
    else: raise SystemExit('made')
    try: torch.cuda.Event().ipc_handle()
    except ValueError: pass
    else: raise SystemExit('given')
""")


# ---- what only kernels show


@pytest.fixture
def real(request):
    """Skips, and says why, where kernels do not run."""
    import argand
    gpus = request.param
    if not argand.cuda.is_available() or argand.cuda.get_device_name() == "dry run":
        pytest.skip("no GPU: the pretended one runs no kernels")
    if argand.cuda.device_count() < gpus:
        pytest.skip(f"{argand.cuda.device_count()} GPU, and it takes {gpus}")


@pytest.mark.parametrize("real", [1], indirect=True)
def test_kernels_of_both_processes(real, tmp_path):
    """What waits in a window, and what is held back to be replayed, is there when the other process looks; gradients add up."""
    pair(tmp_path, """
def child(work, answers):
    x, model = work.get()
    for i in range(100):
        x += 1
        x *= 1
        torch.cuda.synchronize()
        answers.put(i)
        assert work.get() == i
        assert x.eq(2 * (i + 1)).all(), (i, x[:3])
    model(torch.ones(4, 8, device='cuda')).sum().backward()
    answers.put([p.grad for p in model.parameters()])
    work.get()
def parent(process, work, answers):
    x, model = torch.zeros(1 << 20, device='cuda') + 0, torch.nn.Linear(8, 2).cuda()
    work.put((x, model))
    for i in range(100):
        assert answers.get() == i
        assert x.eq(2 * i + 1).all(), (i, x[:3])
        x += 1
        torch.cuda.synchronize()
        work.put(i)
    weight, bias = answers.get()
    assert weight.eq(4).all() and bias.eq(4).all()
    del weight, bias
    work.put(None)
""")


@pytest.mark.parametrize("real", [1], indirect=True)
def test_pending_work_is_done_before_a_tensor_is_sent(real, tmp_path):
    pair(tmp_path, """
def child(work, answers):
    for i in range(20):
        x = work.get()
        assert x.eq(64).all(), (i, x.flatten()[:3])
    del x
    torch.cuda.ipc_collect()
    answers.put('done')
    work.get()
def parent(process, work, answers):
    torch.zeros(1).cuda()
    for i in range(20):
        a = torch.ones(2048, 2048, device='cuda')
        for _ in range(6): a = a @ torch.eye(2048, device='cuda') * 2
        work.put(a)
    del a
    assert answers.get() == 'done'
    torch.cuda.synchronize()
    work.put(None)
""")


@pytest.mark.parametrize("real", [1], indirect=True)
def test_an_event_orders_work(real, tmp_path):
    pair(tmp_path, """
def child(work, answers):
    handle, x = work.get()
    event = torch.cuda.Event.from_ipc_handle(0, handle)
    answers.put('have')
    assert work.get() == 'go'
    event.wait()
    y = x.clone()
    assert y.eq(32).all(), y.flatten()[:3]
    answers.put('done')
def parent(process, work, answers):
    event = torch.cuda.Event(interprocess=True)
    x = torch.ones(4096, 4096, device='cuda')
    eye = torch.eye(4096, device='cuda')
    work.put((event.ipc_handle(), x))
    assert answers.get() == 'have'
    for _ in range(5): x.copy_(x @ eye * 2)
    event.record()
    work.put('go')
    assert answers.get() == 'done'
""")


@pytest.mark.parametrize("real", [2], indirect=True)
def test_the_second_gpu(real, tmp_path):
    pair(tmp_path, """
def child(work, answers):
    x, y = work.get()
    assert x.device.index == 0 and y.device.index == 1 and torch.cuda.current_device() == 0
    assert x.eq(1).all() and y.eq(2).all()
    y += 1
    x += y.to('cuda:0')
    torch.cuda.synchronize(0); torch.cuda.synchronize(1)
    answers.put(y[:10])
    work.get()
def parent(process, work, answers):
    x, y = torch.ones(1000, device='cuda:0'), torch.full((1000,), 2., device='cuda:1')
    work.put((x, y))
    z = answers.get()
    assert z.device.index == 1 and address(z) == address(y) and y.eq(3).all() and x.eq(4).all()
    work.put(None)
""")
