"""einsum: subscripts in lists, and what its errors say."""
import pytest

import argand as torch

X, Y = torch.arange(6.0).reshape(2, 3), torch.arange(12.0).reshape(3, 4)


@pytest.mark.parametrize("equation, arguments", [
    ("ij,jk->ik", (X, [0, 1], Y, [1, 2], [0, 2])), ("ij,jk", (X, [0, 1], Y, [1, 2])), ("ij->ji", (X, (26, 51), (51, 26))),
    ("Ba", (X, [1, 26])), ("aB", (X, [26, 1])), ("...j,jk->...k", (X, [..., 1], Y, [1, 2], [..., 2])), ("ij->", (X, [0, 1], []))])
def test_subscripts_in_lists_are_letters(equation, arguments):
    operands = [x for x in arguments if isinstance(x, torch.Tensor)]
    assert torch.equal(torch.einsum(*arguments), torch.einsum(equation, *operands))


@pytest.mark.parametrize("subscripts", [[-1, 0], [52, 0], [2**70, 0]])
def test_subscripts_out_of_range(subscripts):
    with pytest.raises(ValueError, match=r"not within the valid range \[0, 52\)"):
        torch.einsum(X, subscripts)


def test_an_operand_without_its_subscripts():
    with pytest.raises(TypeError, match="a list of subscripts behind each operand, got Tensor"):
        torch.einsum(X, [0, 1], Y, Y)
    with pytest.raises(TypeError):
        torch.einsum(X, ["a", "b"])


@pytest.mark.parametrize("equation, operands, text", [
    (". ..", [X], "found '.' for operand 0 that is not part of any ellipsis"),
    ("ij,... ...", [X, X], "found '.' for operand 1 for which an ellipsis was already found"),
    ("i 1", [X], "invalid subscript given at index 2"), ("ij->i1", [X], "invalid subscript given at index 5"),
    ("ij,", [X], "fewer operands were provided than specified in the equation"),
    ("ij", [X, X], "more operands were provided than specified in the equation"),
    ("ijk", [X], r"subscripts in the equation \(3\) does not match the number of dimensions \(2\) for operand 0"),
    ("ijk...", [X], r"subscripts in the equation \(3\) is more than the number of dimensions \(2\) for operand 0"),
    ("ij->... .", [X], r"found '.' for output but an ellipsis \(...\) was already found"),
    ("ij->..", [X], r"found '.' for output that is not part of any ellipsis \(...\)"),
    ("ij->ii", [X], "output subscript i appears more than once in the output"),
    ("ij->k", [X], "output subscript k does not appear in the equation for any input operand"),
    ("ii", [X], "subscript i is repeated for operand 0 but the sizes don't match, 3 != 2"),
    ("i...,...", [X, Y], "dimension 1 covered by ellipsis in operand 1 has size 4 which does not broadcast"),
    ("ij,ij", [X, Y], "subscript i has size 3 for operand 1 which does not broadcast with previously seen size 2"),
    ("", [], "must specify the equation string and at least one operand")])
def test_errors_name_the_place(equation, operands, text):
    with pytest.raises(RuntimeError, match=r"einsum\(\): .*" + text):
        torch.einsum(equation, operands)
