"""Texts that are no UTF-8, and paths with a zero byte: each is an error or goes through whole, and ends no process."""
import io

import pytest

import argand as torch
from argand.utils._python_dispatch import TorchDispatchMode

TEXT = "x\udcff"


class Unreadable(Exception):
    def __str__(self):
        raise RuntimeError("no text")


def raised(error):
    def hook(*_, **__):
        raise error
    return hook


def of_a_backward(error):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        backward = staticmethod(raised(error))
    F.apply(torch.ones(2, requires_grad=True)).sum().backward()


def of_a_tensor_hook(error):
    x = torch.ones(2, requires_grad=True)
    x.register_hook(raised(error))
    (x * 2).sum().backward()


def of_a_node_hook(error):
    y = torch.ones(2, requires_grad=True) * 2
    y.grad_fn.register_prehook(raised(error))
    y.sum().backward()


def of_a_hook_after_accumulation(error):
    x = torch.ones(2, requires_grad=True)
    x.register_post_accumulate_grad_hook(raised(error))
    (x * 2).sum().backward()


def of_saved_tensors(error):
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, raised(error)):
        y = x * x
    y.sum().backward()


def of_a_mode(error):
    class Mode(TorchDispatchMode):
        __torch_dispatch__ = raised(error)
    with Mode():
        torch.ones(2) + 1


def of_a_file(error):
    class File(io.RawIOBase):
        write = raised(error)
    torch.save({"a": torch.ones(2)}, File())


def of_map_location(error):
    file = io.BytesIO()
    torch.save(torch.ones(2), file)
    file.seek(0)
    torch.load(file, map_location=raised(error))


@pytest.mark.parametrize("error", [ValueError(TEXT), Unreadable("a")], ids=["surrogate", "no text"])
@pytest.mark.parametrize("run", [of_a_backward, of_a_tensor_hook, of_a_node_hook, of_a_hook_after_accumulation, of_saved_tensors, of_a_mode,
                                 of_a_file, of_map_location])
def test_exceptions_of_any_text_pass_through_the_library(run, error):
    with pytest.raises(type(error)) as caught:
        run(error)
    assert caught.value is error


def test_messages_show_texts_that_are_no_utf8():
    class Other:
        __module__ = TEXT
    with pytest.raises(TypeError, match=r"x\\udcff"):
        torch.add(Other(), 1)


def test_a_path_with_a_zero_byte_is_refused(tmp_path):
    torch.save(torch.ones(1), tmp_path / "a.pt")
    for call in (lambda path: torch.load(path), lambda path: torch.save(torch.ones(1), path)):
        with pytest.raises(ValueError, match="embedded null byte"):
            call(str(tmp_path / "a.pt") + "\0junk")
    for made in (lambda path: torch.distributed.FileStore(path, 1), lambda path: torch.checkpoint.CheckpointFolder(path)):
        with pytest.raises(ValueError, match="embedded null byte"):
            made(str(tmp_path / "store") + "\0junk")
    assert [p.name for p in tmp_path.iterdir()] == ["a.pt"]


def test_load_knows_its_keywords(tmp_path):
    torch.save(torch.ones(1), tmp_path / "a.pt")
    with pytest.raises(TypeError, match="unexpected keyword argument 'map_locaton'"):
        torch.load(tmp_path / "a.pt", map_locaton="cpu")
    with pytest.raises(TypeError, match="unexpected keyword argument 'foo'"):
        torch.jit.trace(torch.nn.Linear(1, 1), torch.ones(1), foo=3)
