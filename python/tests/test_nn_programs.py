"""Whole models: their losses, step by step, are those that PyTorch computed from the same seeds (nn_programs.json)."""
import json

import numpy as np
import pytest

import argand
from nn_programs import PROGRAMS, RECORDED

with open(RECORDED) as file:
    EXPECTED = json.load(file)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    np.testing.assert_allclose(PROGRAMS[name](argand), EXPECTED[name], rtol=2e-4, atol=2e-5)
