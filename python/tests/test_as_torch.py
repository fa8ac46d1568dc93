"""`python -m argand`: what is imported as torch says torch, as PyTorch's does."""
import copy
import json
import os
import pickle
import subprocess
import sys
import types

import pytest

import argand

RECORDED = os.path.join(os.path.dirname(__file__), "recorded", "modules.json")

COMPARED = f"""
import importlib, json
from argand._surface.refusals import is_refused
different, same = [], 0
for module, homes in json.load(open({RECORDED!r})).items():
    try:
        found = importlib.import_module(module)
    except ImportError:
        continue
    for home, names in homes.items():
        for name in names.split():
            thing = getattr(found, name, None)
            if thing is None or is_refused(thing):
                continue
            said = getattr(thing, "__module__", None)
            same += said == home
            if said != home:
                different.append((module, name, home, str(said)))
print(json.dumps([same, different]))
"""

# One object here where PyTorch has two, or of another kind, by the module that it says.
SHARED = {"torch.nn.functional": ("rms_norm", "sigmoid", "tanh"), "torch._C._nn": ("scaled_dot_product_attention",),
          "torch.autograd": ("variable",), "torch.cuda": ("CudaError",), "torch.multiprocessing.reductions": ("init_reductions",),
          "torch._environment": ("is_fbcode",), "torch.utils.checkpoint": ("DefaultDeviceType",),
          "torch.autograd.variable": ("Variable",),
          "torch.compiler": ("compile",), "torch.func": ("functional_call",),
          "torch": ("Event", "Node", "Stream", "addmv_", "bilinear", "conv_tbc", "detach_", "fork", "rrelu_", "wait"),
          "torch._jit_internal": ("export", "ignore", "unused"), "torch.jit._script": ("ScriptModule", "interface", "script_method"),
          "torch.jit": ("Future", "script_if_tracing"), "torch.hub": ("tqdm",), "torch.types": ("Storage",), "torch._C": ("StorageBase", "to_dlpack")}
ELSEWHERE = ("torch.mtia", "torch.xpu", "torch.accelerator")  # shown by several modules of devices


def as_torch(tmp_path, program):
    file = tmp_path / "program.py"
    file.write_text(program)
    done = subprocess.run([sys.executable, "-W", "error::ImportWarning", "-m", "argand", str(file)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_names_are_of_pytorchs_modules(tmp_path):
    same, different = json.loads(as_torch(tmp_path, COMPARED).splitlines()[-1])
    different = [d for d in different if d[1] not in SHARED.get(d[2], ()) and not d[2].startswith(ELSEWHERE)]
    assert different == []
    assert same > 2000


PICKLED = f"""
import copy, importlib, json, pickle
from argand._surface.refusals import is_refused
failed, same = [], 0
for module, homes in json.load(open({RECORDED!r})).items():
    try:
        found = importlib.import_module(module)
    except ImportError:
        continue
    for name in " ".join(homes.values()).split():
        thing = getattr(found, name, None)
        if thing is None or is_refused(thing) or not callable(thing):
            continue
        try:
            good = pickle.loads(pickle.dumps(thing)) is thing and copy.copy(thing) is thing and copy.deepcopy(thing) is thing
            why = "another object"
        except Exception as e:
            good, why = False, repr(e)
        same += good
        if not good:
            failed.append((module, name, why[:200]))
print(json.dumps([same, failed]))
"""


def test_functions_and_classes_are_pickled_and_copied_by_their_names(tmp_path):
    same, failed = json.loads(as_torch(tmp_path, PICKLED).splitlines()[-1])
    assert failed == []
    assert same > 2000


@pytest.mark.parametrize("function", ["can_cast", "get_default_dtype", "cuda.is_available", "autograd.is_multithreading_enabled"])
def test_functions_made_by_nanobind_are_functions_of_their_modules(function):
    module, _, name = f"argand.{function}".rpartition(".")
    found = getattr(sys.modules[module], name)
    assert isinstance(found, types.FunctionType) and pickle.loads(pickle.dumps(found)) is found and copy.deepcopy(found) is found
    assert not [m for m in (argand, argand.cuda, argand.autograd) for n, f in vars(m).items()
                if not n.startswith("_") and type(f).__name__ == "nb_func"]


def test_no_module_says_argand(tmp_path):
    program = """
import sys, torch, torch.fx, torch.utils.data, torch.distributions, torch.optim.lr_scheduler, torch.masked
ours = [m for n, m in sys.modules.items() if n.partition(".")[0] == "torch"]
assert len(ours) > 100 and not [m for m in ours if m.__name__.startswith("argand")]
print(torch.Tensor, torch.Size, torch.float32.__class__, torch.device, torch.nn.Parameter, torch.OutOfMemoryError, torch.Generator)
print(type(torch.ones(1)).__module__, torch.nn.Linear.forward.__module__, type(torch.add).__module__)
"""
    assert as_torch(tmp_path, program).splitlines() == [
        "<class 'torch.Tensor'> <class 'torch.Size'> <class 'torch.dtype'> <class 'torch.device'> <class 'torch.nn.parameter.Parameter'> "
        "<class 'torch.OutOfMemoryError'> <class 'torch._C.Generator'>",
        "torch torch.nn.modules.linear torch._C"]


def test_what_is_argands_own_is_not_torchs(tmp_path):
    program = """
import argand, importlib, pickle, torch
own = "models", "checkpoint", "linear", "add_", "linalg_qr", "ShapeError", "_compiling", "_tensor_methods", "_dispatch"
for name in own:
    assert not hasattr(torch, name) and name not in dir(torch) and hasattr(argand, name) or name == "_compiling", name
for name in ("models", "models.resnet", "checkpoint", "_tensor_methods", "_surface.table"):
    try:
        importlib.import_module("torch." + name)
    except ModuleNotFoundError as error:
        assert str(error) == f"No module named 'torch.{name.partition('.')[0]}'", error
    else:
        assert False, name
assert importlib.import_module("argand.models").resnet18 and importlib.import_module("argand.checkpoint").PerRank
for thing in (argand.linear, argand.checkpoint.PerRank, argand.ShapeError, argand.add_):  # they are found under their names here
    assert pickle.loads(pickle.dumps(thing)) is thing
names = {}
exec("from torch import *", names)
assert "ones" in names and "models" not in names and "linear" not in names
try:
    torch.no_such_name
except AttributeError as error:
    print(error)
torch.manual_seed, before = print, torch.manual_seed  # as a program that puts its own function there: the package calls that
assert argand.manual_seed is print
torch.manual_seed = before
torch.anything = 1
del torch.anything
assert argand.manual_seed is before and not hasattr(argand, "anything")
print(torch)
"""
    missing, module = as_torch(tmp_path, program).splitlines()
    assert missing == "module 'torch' has no attribute 'no_such_name'" and module.startswith("<module 'torch' from ")


def test_handles_and_missing_attributes_have_pytorchs_names(tmp_path):
    program = """
import torch
x = torch.ones(1, requires_grad=True)
for handle in ((x * 2).register_hook(print), x.register_post_accumulate_grad_hook(print), torch.nn.ReLU().register_forward_hook(print)):
    print(repr(handle).partition(" at ")[0], isinstance(handle, torch.utils.hooks.RemovableHandle))
for value in (x, torch.nn.Parameter(x.detach()), x.shape):
    try:
        value.foo
    except AttributeError as error:
        print(error)
"""
    assert as_torch(tmp_path, program).splitlines() == 3 * ["<torch.utils.hooks.RemovableHandle object True"] + [
        f"'{name}' object has no attribute 'foo'" for name in ("Tensor", "Parameter", "Size")]


def test_imported_as_argand_names_are_argands():
    assert argand.Tensor.__module__ == "argand" and argand.nn.Linear.__module__ == "argand.nn.modules.linear"
    assert argand.nn.__name__ == "argand.nn" and argand.nn.functional.relu.__module__.startswith("argand.nn.functional")


THINGS = """[torch.ones(2), torch.nn.Parameter(torch.ones(1)), torch.Size([1]), torch.float16, torch.device("cpu"), torch.strided,
             torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.LazyLinear(2), torch.nn.LazyConv1d(1, 1)), torch.nn.functional.relu,
             torch.nn.functional.cross_entropy, torch.linalg.qr, torch.add, torch.Tensor, torch.Tensor.add, torch.einsum,
             torch.optim.lr_scheduler.StepLR, torch.masked.sum, torch.max(torch.ones(2, 2), 1)]"""


def test_pickles_in_both_directions(tmp_path):
    path = str(tmp_path / "pickle")
    program = f"""
import pickle, torch, torch.masked
things = pickle.loads(pickle.dumps({THINGS}))
with open({path!r}, "rb") as file:
    assert len(pickle.load(file)) == len(things)
torch.save({{"m": torch.ones(2), "size": torch.Size([3]), "dtype": torch.int8}}, {path + ".pt"!r})
torch.save(things[6], {path + ".module"!r})
assert torch.load({path + ".argand"!r})["size"] == torch.Size([3])
"""
    import argand.masked  # noqa: F401
    torch = argand
    with open(path, "wb") as file:
        pickle.dump(eval(THINGS, {"torch": torch}), file)
    torch.save({"size": torch.Size([3])}, path + ".argand")
    as_torch(tmp_path, program)
    assert torch.load(path + ".pt")["size"] == torch.Size([3])
    module = torch.serialization.load_objects(path + ".module")
    assert type(module) is torch.nn.Sequential and isinstance(module[1], torch.nn.LazyLinear)


def test_processes_pass_what_they_have(tmp_path):
    program = """
import torch, torch.multiprocessing as mp
def work(queue, received, module, tensor):
    assert type(module).__module__ == "torch.nn.modules.linear" and type(tensor).__module__ == "torch"
    queue.put((module.weight.detach() * 2, torch.Size([1]), torch.float16))
    received.wait()  # as with PyTorch, who sends a tensor lives until it is received
if __name__ == "__main__":
    for method in ("spawn", "fork"):
        context = mp.get_context(method)
        queue, received = context.Queue(), context.Event()
        process = context.Process(target=work, args=(queue, received, torch.nn.Linear(1, 1), torch.ones(1)))
        process.start()
        print([type(x).__module__ for x in queue.get()])
        received.set()
        process.join()
"""
    assert as_torch(tmp_path, program).splitlines() == ["['torch', 'torch', 'torch']"] * 2


def test_programs_that_a_program_starts(tmp_path):
    """By sys.executable, as launchers of packages do for other ranks: import torch means the same in them."""
    (tmp_path / "child.py").write_text("import sys, torch; print(torch.__file__.split('/')[-2], *sys.argv[1:])")
    out = as_torch(tmp_path, f"""
import os, subprocess, sys, torch
os.chdir({str(tmp_path)!r})
def run(*words, **options):
    print(subprocess.run([*words], stdout=subprocess.PIPE, text=True, **options).stdout, end="")
run(sys.executable, "child.py", "1")
run(sys.executable, "-u", "-B", "child.py", "-m", "2")
run(sys.executable, "-m", "child", "3")
run(sys.executable, "-m", "argand", "child.py", "4")
run("sh", "-c", "echo $0", "5")
run(sys.executable, "-c", "import sys; print(sys.argv)", "6")
run(sys.executable, "child.py", "7", env=dict(os.environ, MORE="1"))
""")
    assert out.splitlines() == ["argand 1", "argand -m 2", "argand 3", "argand 4", "5", "['-c', '6']", "argand 7"]


def test_names_that_packages_import(tmp_path):
    """transformers and Lightning import these, and call them only with GPUs or tensors in parts."""
    as_torch(tmp_path, """
from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageReader, HuggingFaceStorageWriter
from torch.distributed.checkpoint._consolidate_hf_safetensors import consolidate_safetensors_files
from torch.distributed.tensor.placement_types import Shard, _StridedShard
from torch.distributed.utils import _sync_module_states, _to_kwargs
assert repr(_StridedShard(1, split_factor=2)) == "_StridedShard(dim=1, sf=2)" and not isinstance(_StridedShard(1, split_factor=2), Shard)
try: HuggingFaceStorageReader("x")
except NotImplementedError as e: assert "hf_storage" in str(e)
else: assert False
""")
