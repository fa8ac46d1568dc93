"""`python -m argand`, starting, ending and forking, and the types that tools read."""
import os
import pathlib
import resource
import subprocess
import sys

import argand
import argand._torch._C
import argand._torch._dynamo
import pytest


def run(*arguments, **options):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=120, **options)


def test_import_torch_means_argand(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import torch, sys\n"
                      "import torch.nn.functional as F\n"
                      "from torch import nn\n"
                      "from torch.autograd import Function\n"
                      "import argand, argand.nn.functional\n"
                      "assert torch.Tensor is argand.Tensor and F is argand.nn.functional and nn is argand.nn\n"
                      "print(torch.ones(2), sys.argv[1:])\n")
    out = run("-m", "argand", str(script), "--flag", "3")
    assert out.stdout == "tensor([1., 1.]) ['--flag', '3']\n", out.stderr


def test_a_function_and_its_module_have_one_name(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import torch, types\n"
                      "from torch.nn.parallel.data_parallel import DataParallel\n"
                      "from torch._higher_order_ops.associative_scan import associative_scan\n"
                      "import torch._higher_order_ops as ops, torch.nn.parallel as parallel\n"
                      "assert DataParallel is torch.nn.DataParallel and isinstance(parallel.data_parallel, types.FunctionType)\n"
                      "assert ops.associative_scan is associative_scan\n")
    out = run("-m", "argand", str(script))
    assert out.returncode == 0, out.stderr


def test_modules_and_what_is_missing(tmp_path):
    (tmp_path / "tool.py").write_text("import torch\nprint(torch.zeros(1))\n")
    assert run("-m", "argand", "-m", "tool", cwd=tmp_path).stdout == "tensor([0.])\n"
    (tmp_path / "other.py").write_text("import torch.nowhere\n")
    out = run("-m", "argand", "other.py", cwd=tmp_path)
    assert "No module named 'torch.nowhere'" in out.stderr and out.returncode == 1
    assert run("-m", "argand").returncode == 2


def test_a_package_is_told_that_its_library_is_not_there(tmp_path):
    """As torchaudio, which has a library of ops for PyTorch's C++ types and is imported by transformers wherever it is installed."""
    package = tmp_path / "torchaudio" / "_extension"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text("from . import _extension\n")
    (package / "__init__.py").write_text("from .utils import _load_lib\nfound = _load_lib('_torchaudio')\n")
    (package / "utils.py").write_text("import torch\ndef _load_lib(lib):\n    torch.ops.load_library(lib)\n    return True\n")
    (tmp_path / "script.py").write_text("import torchaudio\nprint(torchaudio._extension.found)\n")
    out = run("-m", "argand", "script.py", cwd=tmp_path)
    assert out.stdout == "False\n", out.stderr


def test_torchvision_finds_its_ops(tmp_path):
    """Its own library does not load; what it would give that library's ops from Python is not given to Argand's, which have it."""
    package = tmp_path / "torchvision"
    package.mkdir()
    (package / "__init__.py").write_text("from . import extension\nfrom . import _autograd_registrations, _meta_registrations, ops\n"
                                         "from .version import cuda\n")
    (package / "extension.py").write_text(
        "import torch\ndef _has_ops(): return False\n"
        "try:\n    torch.ops.load_library(__file__)\n    def _has_ops(): return True\nexcept OSError: pass\n"
        "def _assert_has_ops():\n    if not _has_ops(): raise RuntimeError('no ops')\n")
    registers = "from .extension import _has_ops\nimport torch\nif _has_ops(): torch.library.register_autograd('torchvision::roi_align', None)\n"
    (package / "_autograd_registrations.py").write_text(registers)
    (package / "_meta_registrations.py").write_text(registers)
    (package / "ops.py").write_text("import torch\nfrom .extension import _assert_has_ops\n"
                                    "def nms(*args):\n    _assert_has_ops()\n    return torch.ops.torchvision.nms(*args)\n")
    (package / "version.py").write_text("import torch\nfrom .extension import _has_ops\n"
                                        "cuda = torch.ops.torchvision._cuda_version() if _has_ops() else None\n")
    (tmp_path / "script.py").write_text(
        "import torch, torchvision\n"
        "boxes = torch.tensor([[0.0, 0, 10, 10], [1, 1, 11, 11], [20, 20, 30, 30]])\n"
        "print(torchvision.ops.nms(boxes, torch.tensor([0.7, 0.9, 0.8]), 0.5).tolist(), torchvision.cuda)\n")
    out = run("-m", "argand", "script.py", cwd=tmp_path)
    assert out.stdout == "[1, 2] -1\n", out.stderr


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_processes_that_start_anew(tmp_path, method):
    (tmp_path / "script.py").write_text(
        "import torch, torch.multiprocessing as mp\n"
        "class Numbers(torch.utils.data.Dataset):\n"
        "    def __len__(self): return 4\n"
        "    def __getitem__(self, i): return torch.tensor(i)\n"
        "def work(rank, n, folder): open(f'{folder}/{rank}', 'w').write(f'{torch.ones(n).sum().item()} {torch.__version__[:4]}')\n"
        "if __name__ == '__main__':\n"
        f"    mp.start_processes(work, (2, {str(tmp_path)!r}), nprocs=2, start_method='{method}')\n"
        f"    loader = torch.utils.data.DataLoader(Numbers(), 2, num_workers=1, multiprocessing_context='{method}')\n"
        "    print([b.tolist() for b in loader])\n")
    out = run("-m", "argand", str(tmp_path / "script.py"))
    assert out.stdout == "[[0, 1], [2, 3]]\n", out.stderr
    assert [(tmp_path / str(rank)).read_text() for rank in (0, 1)] == ["2.0 2.15"] * 2


def test_what_programs_ask_before_they_use_it():
    torch = argand
    assert not torch.jit.is_scripting() and torch.jit.unused(len) is len and torch.jit.export()(len) is len
    assert torch.distributed.is_available() and not torch.distributed.is_initialized() and torch.overrides.is_tensor_like(torch.ones(1))
    assert torch.jit.script(len) is len and torch.jit.trace(len, []) is len
    with pytest.raises(RuntimeError, match="Freezing expects a ScriptModule"):
        torch.jit.freeze(len)
    assert not torch.compiler.is_compiling() and torch.compiler.disable(len) is len and argand._torch._dynamo.disable()(len) is len
    assert not torch.onnx.is_in_onnx_export() and torch.onnx.symbolic_helper.parse_args("v")(len) is len
    with pytest.raises(NotImplementedError, match="no export to ONNX"):
        torch.onnx.export(torch.nn.Linear(1, 1), torch.ones(1), "model.onnx")
    assert not torch.xpu.is_available() and torch.accelerator.device_count() == torch.cuda.device_count()
    assert torch.accelerator.current_accelerator() == (torch.device("cuda") if torch.cuda.is_available() else None)
    torch.accelerator.synchronize()
    x = torch.ones(1)
    assert x.to_dense() is x
    assert not isinstance(x, (torch.fx.Proxy, torch.fx.GraphModule, torch.jit.ScriptModule)) and not torch.cuda._initialized
    assert torch.ao.quantization.QuantStub()(x) is x and isinstance(x, torch.types.TensorOrTensors.__args__[0])
    with torch.nn.attention.sdpa_kernel([torch.nn.attention.SDPBackend.MATH]):
        pass
    with pytest.raises(AssertionError, match="must be an instance of SDPBackend"):
        with torch.nn.attention.sdpa_kernel(["math"]):
            pass
    with pytest.raises(NotImplementedError, match="backend 'nccl' is not available"):
        torch.distributed.init_process_group("nccl", "tcp://127.0.0.1:1", rank=0, world_size=2)
    with pytest.raises(AttributeError, match="has no attribute 'nowhere'"):
        torch.nowhere


def test_dispatch_keys_of_autocast_turn_it_off():
    keys = argand._torch._C.DispatchKeySet(argand._torch._C.DispatchKey.AutocastCPU) | argand._torch._C.DispatchKeySet(argand._torch._C.DispatchKey.AutocastXPU)
    a = argand.ones(2, 2)
    with argand.autocast("cpu", argand.bfloat16):
        assert (a @ a).dtype is argand.bfloat16
        with argand._torch._C._ExcludeDispatchKeyGuard(keys):
            assert (a @ a).dtype is argand.float32


def test_programs_find_the_version_of_the_pytorch_that_is_followed(tmp_path):
    (tmp_path / "script.py").write_text("import torch\n"
                                        "v = torch.__version__\n"
                                        "print(v.split('+')[0], v >= '2.6', v >= (2, 6), v < '2.100', v == v, v != '2.0', v > '3.0.0rc1')\n"
                                        "print(torch.version.__version__ == v, isinstance(v, str), v > 'nightly')\n"
                                        "from importlib import metadata, util\n"
                                        "print(metadata.version('torch') == v, util.find_spec('torch') is not None)\n")
    out = run("-m", "argand", str(tmp_path / "script.py"))
    assert out.stdout == f"{argand.torch_version.FOLLOWED} True True True True True False\nTrue True False\nTrue True\n", out.stderr
    assert run("-c", "import argand; print(argand.__version__)").stdout == f"{argand.__version__}\n"
    V = argand.torch_version.TorchVersion
    assert V("2.1.0") == "2.1" and V("2.1.0+cpu") != "2.1.0" and V("2.1.0") <= (2, 1) and len({V("1"), "1"}) == 1


def test_a_plain_process_knows_no_torch():
    out = run("-c", "import argand, sys; print('torch' in sys.modules)")
    assert out.stdout == "False\n", out.stderr


@pytest.mark.parametrize("code", [
    "import argand as t; x = t.ones(3, requires_grad=True); y = (x * 2).sum(); globals_kept = [x, y]",
    "import argand as t, atexit; x = t.ones(3); atexit.register(lambda: print(x.sum().item()))",
    "import argand as t\nclass F(t.autograd.Function):\n    forward = staticmethod(lambda c, x: x * 2)\n"
    "    backward = staticmethod(lambda c, g: g)\nx = F.apply(t.ones(1, requires_grad=True))",
    "import argand as t, threading; threading.Thread(target=lambda: t.ones(100000).exp().sum().item(), daemon=True).start()",
    "import argand as t, sys; x = t.ones(1000000).exp(); sys.modules.clear()",
])
def test_clean_exit(code):
    out = run("-c", code)
    assert out.returncode == 0 and "Error" not in out.stderr, out.stderr


def test_forked_children_compute():
    code = ("import os, argand as t\n"
            "x = t.ones(2000000); print((x * 2).sum().item(), flush=True)\n"
            "pid = os.fork()\n"
            "if pid == 0:\n"
            "    ok = (x * 3).sum().item() == 6000000\n"
            "    os._exit(0 if ok else 1)\n"
            "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n")
    assert run("-c", code).stdout == "4000000.0\n0\n"


def test_import_is_quick():
    def processor_time(code):
        def used():
            usage = resource.getrusage(resource.RUSAGE_CHILDREN)
            return usage.ru_utime + usage.ru_stime
        before = used()
        run("-c", code, check=True)
        return used() - before
    # Seconds, which a busy machine does not make longer by much; a fifth of that on an idle one.
    assert min(processor_time("import argand") for _ in range(3)) < 1


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_train_what_they_share(tmp_path, method):
    (tmp_path / "script.py").write_text(
        "import torch, torch.multiprocessing as mp\n"
        "def work(rank, model, view, queue):\n"
        "    assert model.weight.is_shared() and view.is_shared() and model.weight.requires_grad and model.weight.name == 'w'\n"
        "    with torch.no_grad():\n"
        "        model.weight[rank] += 1 + rank\n"
        "    view[rank] = 2\n"
        "    queue.get()[rank] = 3\n"
        "if __name__ == '__main__':\n"
        "    model = torch.nn.Linear(3, 2, bias=False)\n"
        "    torch.nn.init.zeros_(model.weight)\n"
        "    model.weight.name = 'w'\n"
        "    t = torch.zeros(4)\n"
        "    assert not t.is_shared()\n"
        "    assert model.share_memory() is model and t.share_memory_().is_shared()\n"
        f"    queue = mp.get_context('{method}').SimpleQueue()\n"
        "    queue.put(t)\n"
        "    queue.put(t)\n"
        f"    mp.start_processes(work, (model, t[2:], queue), nprocs=2, start_method='{method}')\n"
        "    print(model.weight.tolist(), t.tolist())\n")
    out = run("-m", "argand", str(tmp_path / "script.py"))
    assert out.stdout == "[[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]] [3.0, 3.0, 2.0, 2.0]\n", out.stderr
