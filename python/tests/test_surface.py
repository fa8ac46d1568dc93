"""The tables of names in python/argand/_surface, and what makes modules of them.  tests/parity/surface.py compares them with PyTorch."""
import importlib
import importlib.util
import subprocess
import sys

import argand as torch
import pytest
from argand._surface import homes, naming, refusals, table

TABLES = table.everything()
MODULES = [module for module, section in TABLES.items() if section.absent is None]


def ours(module):
    return importlib.import_module(naming.full(module))


@pytest.mark.parametrize("module", MODULES)
def test_each_name_is_what_its_table_says(module):
    section, found = TABLES[module], ours(module)
    names = dir(found)
    for name, entry in section.names.items():
        holder, _, member = name.rpartition(".")
        if entry.kind == "absent":
            with pytest.raises(AttributeError) as error:
                getattr(found, name)
            says = f": {entry.text}" if "__getattr__" in vars(found) else ""  # a module without it has no other names in its table
            assert str(error.value).endswith(f"has no attribute '{name}'{says}") and name not in names
            continue
        thing = getattr(getattr(found, holder), member) if holder else getattr(found, name)
        if holder == "" and not name.startswith("__"):
            assert name in names
        if entry.kind == "refused" and not isinstance(thing, str):
            assert refusals.is_refused(thing), f"{module}.{name} is there: take it out of the table"
            assert getattr(getattr(found, holder), member) is thing if holder else getattr(found, name) is thing
            with pytest.raises(NotImplementedError) as error:
                thing()
            assert str(error.value) == f"{'.'.join(filter(None, ('torch', module, name)))}: {entry.text}"
        elif entry.kind == "ignored":
            assert thing(1, two=2) is None and entry.text in thing.__doc__
    if section.shown is not None:
        source = importlib.import_module(naming.own(section.shown))
        public = [n for n in dir(source) if not n.startswith("_")][:5]
        assert public and all(getattr(found, n) is getattr(source, n) for n in public) and not set(public) - set(names)
    with pytest.raises(AttributeError, match="no_such_name"):
        found.no_such_name


def test_all_names_of_a_module_that_has_no_file():
    names = {}
    exec("from argand.quantization import *", names)
    assert names["QuantStub"] is torch.ao.quantization.QuantStub and names["quantize"] is torch.ao.quantization.quantize
    importlib.import_module("argand.ao.quantization.quantize")  # a module of the same name does not hide the function
    assert torch.ao.quantization.quantize is names["quantize"]


def test_dir_has_what_can_be_asked_for():
    for module in ("", "cuda", "distributed", "jit", "nn.functional", "utils", "optim", "autograd", "_C", "export"):
        found = ours(module)
        assert [name for name in dir(found) if not hasattr(found, name)] == []


def test_modules_that_are_absent_cannot_be_imported():
    absent = [module for module, section in TABLES.items() if section.absent is not None]
    assert absent
    for module in absent:
        with pytest.raises(ModuleNotFoundError):
            ours(module)
    for name in ("argand.distributed.no_such_module", "argand.no_such_module"):
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module(name)


def test_a_module_that_is_absent_says_why_under_pytorchs_name():
    absent = next(module for module, section in TABLES.items() if section.absent is not None)
    program = f"import argand._torch.installed\ntry: import torch.{absent}\nexcept ModuleNotFoundError as e: print(e.name, e)"
    said = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    assert said.startswith(f"torch.{absent} ") and TABLES[absent].absent in said


@pytest.mark.parametrize("pytorchs, here", [
    ("", "argand"), ("nn.functional", "argand.nn.functional"), ("_dynamo.config", "argand._torch._dynamo.config"), ("_C", "argand._torch._C"),
    ("__config__", "argand.__config__"), ("models", "argand.models")])
def test_names_of_modules(pytorchs, here):
    assert naming.full(pytorchs) == here and naming.short(here) == pytorchs and naming.own(naming.below(here)) == here


def test_modules_that_are_argands_alone():
    assert [naming.short(f"argand.{name}") for name in ("_dispatch", "_torch", "_torch.view", "_torch.functorch")] == [None] * 4
    assert naming.short("argand._C.cuda") == "_C.cuda"  # torch._C has what the extension module has
    for name in ("_utils", "_guards", "_ops", "_prims"):
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module(f"argand.{name}")


@pytest.mark.parametrize("module", homes._HOMES)
def test_things_are_found_where_pytorch_has_them(module):
    names, _ = homes._as_table(homes._HOMES[module])
    own = importlib.import_module(naming.own(module))
    for name, home in names.items():
        assert hasattr(own, name) and hasattr(ours(home), name), name
    where = homes.torch_module(naming.own(module), "no_such_name")
    assert importlib.util.find_spec(naming.full(where.partition(".")[2]) if where.startswith("torch") else where) is not None


def test_values_that_change_are_computed():
    before = torch.get_default_dtype()
    try:
        torch.set_default_dtype(torch.float64)
        assert torch.Storage is torch.DoubleStorage
    finally:
        torch.set_default_dtype(before)
    assert torch.Storage is not torch.DoubleStorage and torch.FloatStorage in torch._storage_classes
    assert {torch.FloatTensor, torch.cuda.FloatTensor} <= torch._tensor_classes and len(torch._tensor_classes) == 20


def test_bases_and_members_of_classes_that_are_refused():
    from argand.distributed.fsdp import FullyShardedDataParallel
    assert issubclass(FullyShardedDataParallel, torch.nn.Module) and issubclass(torch.optim.SparseAdam, torch.optim.Optimizer)
    with pytest.raises(NotImplementedError, match="FullyShardedDataParallel.state_dict_type"):
        FullyShardedDataParallel.state_dict_type(None)
    from argand.distributed.tensor import parallel
    assert issubclass(parallel.RowwiseParallel, parallel.ParallelStyle)
    assert torch.export.Dim.AUTO == "Dim.AUTO"


GOOD = """
# a comment
[torch]
late
  nested
late nn
  grad=.  new=old
[nn.functional] = nn
refused @reason
  f  Class(nn.Module)  Class.member
absent because
  *
"""


def test_how_tables_are_read():
    found = table.parse(GOOD, {"reason": "a sentence"})
    assert found[""].names == {"nested": ("late", "nested", "."), "grad": ("late", "nn", "."), "new": ("late", "nn", "old")}
    section = found["nn.functional"]
    assert section.shown == "nn" and section.absent == "because"
    assert section.names == {"f": ("refused", "a sentence", ""), "Class": ("refused", "a sentence", "nn.Module"),
                             "Class.member": ("refused", "a sentence", "")}


@pytest.mark.parametrize("text, says", [
    ("late\n  x", "table:1: expected late, own"), ("[a]\n  x", "names without what they are"), ("[a]\nrefused\n  x", "with a reason"),
    ("[a]\nsometimes x\n  y", "expected late"), ("[a]\nlate\n  x x", "x stands twice"), ("[a]\n[a]", "each once"), ("[a", "expected"),
    ("[a]\nlate\n  x\nrefused why\n  x", "table:5: x stands twice"), ("[a]\nrefused @b\n  x", "no such reason")])
def test_mistakes_in_tables(text, says):
    with pytest.raises(table.BadTable, match=says):
        table.parse(text, {})


def test_every_reason_is_used():
    text = "".join((table._read(f"{top}.txt") for top in table.tops()))
    assert [name for name in table.parse_reasons(table._read("reasons.txt")) if f"@{name}\n" not in text] == []
