#!/usr/bin/env python3
"""TorchScript archives that PyTorch writes, run from Java: `torchscript_java.py build/release/java/argand.jar`.

Networks, scripted, traced and saved for mobile devices, give PyTorch's outputs; values of each kind that PyTorch's Java
API has come back.  Prints a line for each, and last `N passed, N failed`.  Without PyTorch nothing is done, with exit
status 77.
"""
import os
import subprocess
import sys
import tempfile
import warnings
from typing import Dict, List, NamedTuple, Optional, Tuple

import any_processor  # noqa: F401  before torch

try:
    import torch
    from torch import nn
except ImportError as error:
    print(f"torchscript_java: skipped, because this Python has no torch ({error})")
    sys.exit(77)

warnings.filterwarnings("ignore")


class Pair(NamedTuple):
    x: torch.Tensor
    n: int


class Values(nn.Module):
    def forward(self, x):
        return x

    @torch.jit.export
    def flag(self, x: bool) -> bool:
        return x

    @torch.jit.export
    def number(self, x: int) -> int:
        return x

    @torch.jit.export
    def real(self, x: float) -> float:
        return x

    @torch.jit.export
    def thrice(self, x: str) -> str:
        return x + x + x

    @torch.jit.export
    def by_text(self, x: Dict[str, int]) -> Dict[str, int]:
        return x

    @torch.jit.export
    def by_int(self, x: Dict[int, int]) -> Dict[int, int]:
        return x

    @torch.jit.export
    def sum(self, x: List[int]) -> Tuple[List[int], int]:
        return x, sum(x)

    @torch.jit.export
    def all(self, x: List[bool]) -> bool:
        out = True
        for flag in x:
            out = out and flag
        return out

    @torch.jit.export
    def doubled(self, x: List[float]) -> List[float]:
        return [2 * v for v in x]

    @torch.jit.export
    def unless_zero(self, x: int) -> Optional[int]:
        return None if x == 0 else x

    @torch.jit.export
    def is_none(self, x: Optional[int]) -> bool:
        return x is None

    @torch.jit.export
    def named(self, x: torch.Tensor) -> Pair:
        return Pair(x + 1, 4)

    @torch.jit.export
    def tensors(self, x: List[torch.Tensor]) -> List[torch.Tensor]:
        return [v * 2 for v in x]


def networks():
    small = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(),
                          nn.Linear(32, 5))
    yield "small", small, torch.randn(2, 3, 16, 16)
    try:
        import torchvision
    except ImportError:
        print("torchscript_java: no torchvision, so its networks are left out")
        return
    yield "resnet18", torchvision.models.resnet18(), torch.rand(1, 3, 64, 64)


def write(folder):
    lines = []
    for name, net, x in networks():
        net.eval()
        scripted = torch.jit.script(net)
        scripted.save(f"{folder}/{name}.pt")
        torch.jit.trace(net, x).save(f"{folder}/{name}_traced.pt")
        scripted._save_for_lite_interpreter(f"{folder}/{name}.ptl")
        for file in (f"{name}.pt", f"{name}_traced.pt", f"{name}.ptl"):
            x.numpy().astype("<f4").tofile(f"{folder}/{file}.x")
            net(x).detach().numpy().astype("<f4").tofile(f"{folder}/{file}.y")
            lines.append(" ".join([file, *map(str, x.shape)]))
    with open(f"{folder}/networks", "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
    torch.jit.script(Values()).save(f"{folder}/values.pt", _extra_files={"spec.json": '{"a": 1}'})


def main(jar):
    torch.manual_seed(0)
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "TorchscriptJava.java")
    with tempfile.TemporaryDirectory() as folder:
        write(folder)
        run = subprocess.run(["java", "-cp", jar, program, folder], stdout=subprocess.PIPE, text=True)
    print(run.stdout, end="")
    lines = run.stdout.splitlines()
    failed = sum(not line.startswith("ok ") for line in lines) + (run.returncode != 0)
    print(f"{len(lines) - failed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
