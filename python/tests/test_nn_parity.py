"""Every module of nn_cases.py against PyTorch, where it is installed: weights to the bit, text, results, gradients."""
import numpy as np
import pytest

import argand
from nn_cases import CASES, make

real = pytest.importorskip("torch", "2.15", reason="there is no PyTorch 2.15 or newer to compare with")

pytestmark = pytest.mark.filterwarnings("ignore")


def tensors(value):
    """The tensors of a result, in order."""
    if hasattr(value, "requires_grad"):
        return [value]
    return [t for v in value if v is not None for t in tensors(v)] if isinstance(value, (tuple, list)) else []


def array(tensor):
    return tensor.detach().numpy()


def run(case, torch):
    module, inputs = make(case, torch)
    torch.manual_seed(1)
    outputs = tensors(module(*inputs))
    total = sum((t * torch.arange(1.0, t.numel() + 1).reshape(t.shape) / t.numel()).sum() for t in outputs
                if t.requires_grad)
    if hasattr(total, "backward"):
        total.backward()
    return module, inputs, outputs


@pytest.mark.parametrize("case", CASES, ids=[c[0] for c in CASES])
def test_module(case):
    try:
        ours, our_inputs, our_outputs = run(case, argand)
    except AttributeError as error:
        if "argand._C" in str(error):
            pytest.skip(f"the op is absent: {error}")
        raise
    theirs, their_inputs, their_outputs = run(case, real)
    assert repr(ours) == repr(theirs)
    assert ours.training == theirs.training
    our_state, their_state = ours.state_dict(), theirs.state_dict()
    assert list(our_state) == list(their_state)
    assert dict(our_state._metadata) == dict(their_state._metadata)
    fresh, fresh_theirs = make(case, argand)[0].state_dict(), make(case, real)[0].state_dict()
    for name in our_state:
        np.testing.assert_array_equal(array(fresh[name]), array(fresh_theirs[name]), err_msg=f"{name} after "
                                                                                             "construction")
        np.testing.assert_allclose(array(our_state[name]), array(their_state[name]), rtol=1e-5, atol=1e-6, err_msg=name)
    assert len(our_outputs) == len(their_outputs)
    for our, their in zip(our_outputs, their_outputs):
        assert str(our.dtype) == str(their.dtype)
        np.testing.assert_allclose(array(our), array(their), rtol=2e-5, atol=2e-6)
    for i, (our, their) in enumerate(zip(our_inputs, their_inputs)):
        if their.grad is not None:
            np.testing.assert_allclose(array(our.grad), array(their.grad), rtol=1e-4, atol=1e-5, err_msg="gradient "
                                                                                                         "of input "
                                                                                                         f"{i}")
    for (name, our), (_, their) in zip(ours.named_parameters(), theirs.named_parameters()):
        assert (our.grad is None) == (their.grad is None), name
        if their.grad is not None:
            np.testing.assert_allclose(array(our.grad), array(their.grad), rtol=1e-4, atol=1e-5, err_msg="gradient "
                                                                                                         f"of {name}")
