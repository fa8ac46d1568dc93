"""torchvision's ops, torch.ops.torchvision.nms and the like: what torchvision gives (recorded/vision.json), and what torchvision asks."""
import json
import math

import argand as torch
import pytest

import vision_cases

with open(vision_cases.RECORDED) as file:
    EXPECTED = json.load(file)
del EXPECTED["versions"]
OPS = torch.ops.torchvision


@pytest.fixture(scope="module")
def results():
    return vision_cases.calls(torch)


def test_all_calls_are_recorded(results):
    assert list(results) == list(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_values_and_gradients(results, name):
    got, expected = results[name], EXPECTED[name]
    assert [len(g) for g in got] == [len(e) for e in expected]
    for g, e in zip(got, expected):
        scale = max([1.0, *(abs(v) for v in e if v is not None)])
        for i, (x, y) in enumerate(zip(g, e)):
            if y is None:
                assert math.isnan(x), (i, x)
            elif isinstance(y, int):
                assert x == y, i
            else:
                assert abs(x - y) <= 1e-6 * scale, (i, x, y)


def test_names():
    assert str(OPS.nms) == "torchvision.nms" and OPS.nms.default.name() == "torchvision::nms"
    assert OPS.nms is OPS.nms
    with pytest.raises(AttributeError, match="'torchvision' object has no attribute 'qnms'"):
        OPS.qnms
    with pytest.raises(AttributeError):
        torch.ops.linalg.qr  # a namespace of PyTorch's is no library


def test_arguments():
    boxes = torch.tensor([[0.0, 0, 10, 10], [1, 1, 11, 11], [20, 20, 30, 30]])
    assert OPS.nms(dets=boxes, scores=torch.tensor([0.9, 0.8, 0.7]), iou_threshold=0.5).tolist() == [0, 2]
    with pytest.raises(RuntimeError, match="torchvision::nms: boxes should have 4 elements in dimension 1, got 3"):
        OPS.nms(boxes[:, :3], boxes[:, 0], 0.5)
    with pytest.raises(IndexError, match="index 2 is out of bounds for dimension 0 with size 2"):
        OPS.roi_align(torch.ones(2, 1, 4, 4), torch.tensor([[2.0, 0, 0, 1, 1]]), 1.0, 2, 2, -1, False)
    image, regions = torch.ones(1, 1, 4, 4, requires_grad=True), torch.tensor([[0.0, 0, 0, 2, 2]], requires_grad=True)
    OPS.roi_align(image, regions, 1.0, 2, 2, -1, False).sum().backward()
    assert regions.grad is None and image.grad is not None


def test_same_bits_with_any_number_of_threads():
    draw = torch.Generator().manual_seed(0)
    image = torch.randn(2, 16, 40, 50, generator=draw).requires_grad_()
    corner = torch.rand(60, 2, generator=draw) * 30
    regions = torch.cat([torch.randint(0, 2, (60, 1), generator=draw).float(), corner, corner + 12], 1)
    offset = (torch.randn(2, 18, 38, 48, generator=draw) * 3).requires_grad_()
    weight = torch.randn(8, 16, 3, 3, generator=draw)

    def run():
        image.grad = offset.grad = None
        a = OPS.roi_align(image, regions, 0.8, 7, 7, -1, True)
        b, _ = OPS.roi_pool(image, regions, 0.8, 7, 7)
        c = OPS.deform_conv2d(image, weight, offset, torch.zeros(2, 1), torch.zeros(8), 1, 1, 0, 0, 1, 1, 1, 1, False)
        (a.square().sum() + b.square().sum() + c.square().sum()).backward()
        return [a, b, c, image.grad, offset.grad]
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        one = run()
        torch.set_num_threads(4)
        assert all(torch.equal(x, y) for x, y in zip(one, run()))
    finally:
        torch.set_num_threads(before)


def test_autocast_on_the_cpu():
    """torchvision computes nms and roi_align in float32, and leaves the others alone."""
    image, regions = torch.rand(1, 4, 6, 6), torch.tensor([[0.0, 1, 1, 4, 4]])
    with torch.autocast("cpu", torch.bfloat16):
        out = OPS.roi_align(image.bfloat16(), regions, 1.0, 2, 2, -1, False)
        assert out.dtype == torch.bfloat16
        assert torch.equal(out, OPS.roi_align(image.bfloat16().float(), regions, 1.0, 2, 2, -1, False).bfloat16())
        assert OPS.nms(torch.rand(3, 4).bfloat16(), torch.rand(3), 0.5).dtype == torch.int64
        plain = OPS.deform_conv2d(image, torch.rand(4, 4, 3, 3), torch.zeros(1, 18, 4, 4), torch.zeros(1, 1), torch.zeros(4),
                                  1, 1, 0, 0, 1, 1, 1, 1, False)
        assert plain.dtype == torch.float32


def test_python_cannot_replace_them():
    for replace in (lambda: torch.library.register_autograd("torchvision::nms", lambda ctx, g: None),
                    lambda: torch.library.impl("torchvision::nms", "cpu", lambda *a: None),
                    lambda: torch.library.Library("torchvision", "IMPL").impl("nms", lambda *a: None, "CPU")):
        with pytest.raises(NotImplementedError, match="torchvision::nms is an op of the library itself"):
            replace()
    with pytest.raises(RuntimeError, match="defined already"):
        torch.library.define("torchvision::nms", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    torch.library.register_fake("torchvision::nms", lambda *a: None)  # for traces alone
