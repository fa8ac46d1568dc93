"""What README, SECURITY, CONTRIBUTING, ARCHITECTURE and docs/libtorch.md say, where a program can tell.  That files,
commands, options and variables which pages name are there is seen by `./dev check docs`; C++ in pages is compiled by
the test `package`, docs/bad-inputs.md names its own tests."""
import functools
import json
import os
import re
import subprocess
import sys
import textwrap

import argand as torch
import pytest
from argand import nn
from statements import ROOT, run, says, text_of, words

readme, security = functools.partial(says, "README.md"), functools.partial(says, "SECURITY.md")
contributing, architecture = functools.partial(says, "CONTRIBUTING.md"), functools.partial(says, "ARCHITECTURE.md")
libtorch = functools.partial(says, "docs/libtorch.md")


def test_a_sentence_that_is_gone_fails():
    with pytest.raises(AssertionError, match="does not say any more: lamps are not torches"):
        says("README.md", "lamps are not torches")(lambda: None)()


def blocks(language):
    """(page, text) of the fenced blocks of a language.  Parts of programs, which do not run alone, are blocks of "py"."""
    pages = ["README.md", "SECURITY.md", "CONTRIBUTING.md", "ARCHITECTURE.md", *sorted(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))]
    return [(page, text) for page in pages for text in re.findall(rf"^```{language}\n(.*?)^```", text_of(page), re.S | re.M)]


# ---- README

# What blocks take for granted: the reader's own function, model and data, and what argandrun writes for a world of one.
WORKER = {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}
SURROUNDINGS = "import torch\nconfig, model, dataset = {}, torch.nn.Linear(2, 1), range(4)\n\n\ndef train(rank, config):\n    assert config == {}\n\n\nif __name__ == '__main__':\n"


@pytest.mark.parametrize("page, text", blocks("python"))
def test_blocks_of_python_run(tmp_path, page, text):
    (tmp_path / "block.py").write_text(SURROUNDINGS + textwrap.indent(text, "    "))
    done = subprocess.run([sys.executable, "-m", "argand", tmp_path / "block.py"], capture_output=True, text=True, timeout=120,
                          env=os.environ | WORKER, cwd=tmp_path)
    assert done.returncode == 0, f"{page}: {done.stderr}"


def test_blocks_are_found():
    assert any(page == "README.md" and text.startswith("import argand as torch\n") for page, text in blocks("python"))


@readme("A message names the op and the argument, and says what was expected and what came.")
def test_errors_say_what_came():
    with pytest.raises(RuntimeError, match=r"linear: expected input with 4 features \(weight is \[5, 4\]\), got \[2, 3\]"):
        nn.functional.linear(torch.ones(2, 3), torch.ones(5, 4))


@readme("Results do not depend on the number of threads, of loader workers, or on timing.")
def test_threads_do_not_matter():
    x, before = torch.randn(1 << 18, generator=torch.Generator().manual_seed(1)), torch.get_num_threads()
    sums = []
    for threads in (1, 2, 3):
        torch.set_num_threads(threads)
        sums.append((x.sum().item(), x.exp().mean().item(), (x.view(512, 512) @ x.view(512, 512)).sum().item()))
    torch.set_num_threads(before)
    assert sums[0] == sums[1] == sums[2]


@readme("As in PyTorch, convolutions use TF32 and products do not.", '`set_float32_precision("exact")` turns TF32 off, and `"fast"`')
def test_switch_of_tf32():
    tf32 = lambda: (torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32)  # noqa: E731
    assert tf32() == (False, True)
    torch.set_float32_precision("exact")
    assert tf32() == (False, False)
    torch.set_float32_precision("fast")
    assert tf32() == (True, True)
    torch.set_float32_precision("default")
    assert any("void set_float32_precision(" in path.read_text() for path in (ROOT / "argand").rglob("*.h"))


@readme("`manual_seed`, `rand`, `randn`, `randint`, `randperm` and the `nn` initialisers give the same numbers as PyTorch on the "
        "CPU, bit for bit.")
def test_random_numbers():
    """Against numbers that PyTorch 2.15 printed."""
    def seeded(make):
        torch.manual_seed(0)
        return make()
    assert seeded(lambda: torch.rand(3)).tolist() == [0.49625658988952637, 0.7682217955589294, 0.08847743272781372]
    assert seeded(lambda: torch.randn(3)).tolist() == [1.5409960746765137, -0.293428897857666, -2.1787893772125244]
    assert seeded(lambda: torch.randint(100, (4,))).tolist() == [44, 39, 33, 60]
    assert seeded(lambda: torch.randperm(6)).tolist() == [2, 5, 3, 0, 1, 4]
    assert seeded(lambda: nn.Linear(2, 1)).weight.tolist() == [[-0.005293981172144413, 0.37932288646698]]


@readme("PyTorch's files are read and written")
def test_files_of_pytorch(tmp_path):
    torch.save({"w": torch.arange(3)}, tmp_path / "w.pt")
    assert torch.load(tmp_path / "w.pt")["w"].tolist() == [0, 1, 2]


@readme("The demo prints `test accuracy 0.NNNN` after each of 3 epochs. It writes to `out/demo`: `report.html` (training curves, "
        "confusion matrix, pictures of the worst mistakes), `metrics.csv`, `model.safetensors` and a checkpoint.",
        "Ctrl-C finishes the current step and saves a checkpoint. `--resume` continues from it, and the result has the same bits")
def test_the_demo_is_tested():
    tests = "".join(path.read_text() for path in (ROOT / "tests" / "cli").glob("*_test.py"))
    assert all(name in tests for name in ("report.html", "metrics.csv", "model.safetensors", "test accuracy", "--resume"))
    assert "--epochs 3 --out out/demo" in text_of("dev")


# ---- SECURITY

@security("`TORCH_FORCE_WEIGHTS_ONLY_LOAD=1` in the environment forbids it; `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD`, which PyTorch has "
          "for the opposite, does nothing here.", "Both are off unless the program writes them")
def test_switches_of_load(tmp_path, monkeypatch):
    torch.save(nn.Linear(2, 1), tmp_path / "m.pt")
    with pytest.raises(Exception, match="Linear"):
        torch.load(tmp_path / "m.pt")
    monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "1")
    with pytest.raises(Exception):
        torch.load(tmp_path / "m.pt", weights_only=False)
    monkeypatch.delenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD")
    assert isinstance(torch.load(tmp_path / "m.pt", weights_only=False), nn.Linear)


@security("`DeviceError`, in Python a `RuntimeError`, where a tensor was on a device that is not there")
def test_a_device_that_is_not_there():
    assert issubclass(torch.DeviceError, RuntimeError)


@security("Images have limits of their own: 2^28 pixels, 16,384 a side, 64 MiB of data other than pixels.")
def test_limits_of_images():
    limits = text_of("argand/vision/image.h")
    assert "max_side = 16384;" in limits and "max_pixels = int64_t{1} << 28;" in limits
    assert "max_ancillary_bytes = int64_t{64} << 20;" in limits


@security("| format | reader | where its rules are tested |")
def test_files_of_the_table_of_formats():
    rows = re.findall(r"^\| (.*) \| `(argand/\S+)` \| (.*) \|$", text_of("SECURITY.md"), re.M)
    assert len(rows) == 8
    for _, reader, tests in rows:
        folder = (ROOT / reader).parent
        for name in re.findall(r"`([\w/.]+)`", tests):
            assert (ROOT / name if "/" in name else folder / name).exists() or name == "memory_limit_test.cpp", name
    assert (ROOT / "argand/io/memory_limit_test.cpp").exists()


@security("A file that is too short is an error at the call.", "If somebody cuts the file while a tensor shows it, or if it cannot be "
          "read, every later use is an error that names the file. An op that reads the file at that time ends with this error, too.")
@pytest.mark.parametrize("shared", [False, True])
def test_a_mapped_file_that_is_cut(tmp_path, shared):
    path = tmp_path / "f"
    path.write_bytes(bytes(1 << 16))
    with pytest.raises(RuntimeError, match="expected 262144 bytes in .*, which has 65536"):
        torch.from_file(str(path), size=1 << 16)
    x = torch.from_file(str(path), shared, 1 << 14)
    os.truncate(path, 0)
    with pytest.raises(OSError, match="f was cut while it was mapped: expected 65536 bytes, got 0"):
        x.sum().item()


# ---- CONTRIBUTING

@contributing("`./dev check` checks, in this order: size, scripts, layers, the layers of the Python package, kernels, docs, the site of "
              "all pages, stale comments and declarations, Python's stable interface, options, format, generated files, headers (each must "
              "compile alone), the cost of including them, clang-tidy.")
def test_checks():
    named = re.search(r"^CHECKS = \{(.*?)\}", text_of("tools/check/check.py"), re.S | re.M)[1]
    assert re.findall(r'"([\w-]+)":', named) == ["size", "scripts", "layers", "python-layers", "kernels", "docs", "pages", "stale", "stable-abi", "options", "format",
                                             "generated", "headers", "cost", "tidy"]


@contributing("builds one of the CMake presets (`release dev asan tsan cpu-only cuda`)")
def test_presets():
    presets = json.loads(text_of("CMakePresets.json"))
    assert [p["name"] for p in presets["buildPresets"]] == "release dev asan tsan cpu-only cuda".split()


@contributing("There now are `argand::expm1(x)`, `x.expm1()`, `x.expm1_()`, `expm1_out(out, x)`, all four in Python")
def test_forms_of_an_op():
    x, out = torch.tensor([0.5]), torch.empty(1)
    expected = torch.expm1(x)
    torch.expm1(x, out=out)
    assert torch.equal(x.expm1(), expected) and torch.equal(out, expected) and torch.equal(x.clone().expm1_(), expected)
    assert torch.equal(torch.special.expm1(x), expected)


@contributing("`linalg_qr` is `torch.linalg.qr` in C++ and Python, and no method.",
              "An op of another library has that library's name in its schema, `torchvision::nms(...)`: it is "
              "`torch.ops.torchvision.nms` in Python")
def test_names_of_ops():
    assert torch.linalg.qr and not hasattr(torch.Tensor, "linalg_qr") and torch.ops.torchvision.nms


@contributing("`./dev parity` runs these comparisons")
def test_comparisons():
    page = text_of("CONTRIBUTING.md")
    named = set(re.findall(r"tests/\w+/\w+\.py", page[page.index("`./dev parity` runs"):page.index("Two more are not part of it")]))
    dev = text_of("dev")
    called = set(re.findall(r"tests/(?:parity|libtorch)/\w+\.py", dev[dev.index("\nparity() {"):dev.index("\nbench() {")]))
    assert called == named


# ---- ARCHITECTURE

@architecture("Each folder is one layer and one CMake target.")
def test_the_picture():
    picture = re.search(r"^```\n(L9 .*?)^```", text_of("ARCHITECTURE.md"), re.S | re.M)[1]
    folders = {path.name for path in (ROOT / "argand").iterdir() if path.is_dir()}
    assert folders - set(re.findall(r"\w+", picture)) == set()


@architecture("Views share the storage and its version counter.",
              "An array or a DLPack capsule owns the memory it shows, and keeps the storage from being resized.")
def test_views_and_arrays():
    x = torch.zeros(4)
    x[:2].add_(1)
    assert x._version == x[2:]._version == 1
    held = x.numpy()
    with pytest.raises(RuntimeError):
        x.resize_(100)
    assert held.tolist() == [1, 1, 0, 0]


@architecture("in-place write is an error that names the op that wrote.")
def test_the_op_that_wrote_is_named():
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    z = y.sin()
    y.mul_(2)
    with pytest.raises(RuntimeError, match="'mul'"):
        z.sum().backward()


# ---- docs/libtorch.md

@libtorch("| all | 972 | 12 | 11 | |")
def test_the_table_of_the_suite_adds_up():
    rows = re.findall(r"^\| ([\w, -]+?) \| (\d+) \| (\d+) \| (\d+) \|", text_of("docs/libtorch.md"), re.M)
    assert [sum(int(row[i]) for row in rows[:-1]) for i in (1, 2, 3)] == [int(n) for n in rows[-1][1:]]


@libtorch("The headers need C++20. With C++17 (`g++ -std=c++17` without CMake) the compiler stops at one error message that says so.")
def test_language_level():
    assert "C++20" in text_of("argand/base/language.h")
