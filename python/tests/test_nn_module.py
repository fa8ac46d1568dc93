"""What Module, containers and layers answer and raise, against what PyTorch answered (nn_snippets.json)."""
import json

import pytest

import argand
from nn_snippets import RECORDED, SNIPPETS, answer

with open(RECORDED) as file:
    EXPECTED = json.load(file)

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_snippet(snippet):
    got = answer(snippet, argand)
    if got.startswith("AttributeError: module 'torch._C' has no attribute"):
        pytest.skip("the op is absent: " + got.rpartition(" ")[2])
    assert got == EXPECTED[snippet]
