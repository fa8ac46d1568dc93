"""torch.func.functional_call with names that a module does not have."""
import argand as torch
import pytest


def test_functional_call_with_names_that_the_module_has_not():
    class Scaled(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.by, self.text = torch.tensor(2.), "text"

        def forward(self, x):
            return x * self.by + getattr(self, "more", 0)
    module, x = Scaled(), torch.ones(2)
    call = torch.func.functional_call
    assert call(module, {"foo": x}, x).tolist() == [2, 2] and not hasattr(module, "foo")
    assert call(module, {"more": x}, x).tolist() == [3, 3] and not hasattr(module, "more")
    assert call(module, {"by": x}, x).tolist() == [1, 1] and module.by.item() == 2
    for name in ("text", "forward"):
        with pytest.raises(TypeError, match=f"attribute `{name}`: .* is not an instance of torch.Tensor"):
            call(module, {name: x}, x)
    with pytest.raises(TypeError, match="3 is not an instance"):
        call(module, {"more": 3}, x)
    with pytest.raises(KeyError, match="tensor name can"):
        call(module, {"": x}, x)
    with pytest.raises(RuntimeError, match="unexpected keys"):
        call(module, {"foo": x}, x, strict=True)
