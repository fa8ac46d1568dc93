"""Calls of torchvision's ops; test_vision_ops.py compares what Argand and torchvision give.

Run with a Python that has PyTorch and torchvision, this file writes what they gave to recorded/vision.json.  Both libraries draw the
same numbers from a seed.
"""
import json
import os

RECORDED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recorded", "vision.json")
NAN = float("nan")
# Inside, over the edges, outside, without an area, turned around, smaller than a pixel.
REGIONS = [[0, 1, 1, 4.5, 3.25], [1, -2, -1.5, 3, 2], [1, 3.3, 2.1, 9, 8], [0, 7, 6, 9, 9], [0, 2, 2, 2, 2], [1, 4, 3, 1.5, 1],
           [1, 2.2, 1.1, 2.6, 1.3], [0, -50, -50, 50, 50]]


def numbers(torch, seed, *sizes):
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def called(op, *args):
    """What a call and its gradients give: a list of lists of numbers."""
    results = op(*args)
    results = results if isinstance(results, tuple) else (results,)
    out = [r.detach().flatten().tolist() for r in results]
    wanted = [a for a in args if getattr(a, "requires_grad", False)]
    if wanted:
        weights = (1 + results[0].new_tensor(range(results[0].numel()))).sin().view(results[0].shape)
        (results[0] * weights).sum().backward()
        out += [a.grad.flatten().tolist() for a in wanted]
    return out


def roi_calls(torch):
    ops, rois = torch.ops.torchvision, torch.tensor(REGIONS, dtype=torch.float64)
    upright = rois[:5]  # torchvision itself fails on regions turned around of which it chooses the number of samples

    def image(channels):
        return numbers(torch, 1, 2, channels, 5, 6).requires_grad_()
    for scale in (1.0, 0.7):
        for aligned in (False, True):
            yield f"roi_align adaptive {scale} {aligned}", called(ops.roi_align, image(2), upright, scale, 2, 3, -1, aligned)
            yield f"roi_align sampled {scale} {aligned}", called(ops.roi_align, image(2), rois, scale, 2, 2, 2, aligned)
        yield f"roi_pool {scale}", called(ops.roi_pool, image(2), rois, scale, 2, 3)
        yield f"ps_roi_align {scale}", called(ops.ps_roi_align, image(4), rois[:4], scale, 2, 2, -1)
        yield f"ps_roi_align sampled {scale}", called(ops.ps_roi_align, image(4), rois, scale, 2, 2, 2)
        yield f"ps_roi_pool {scale}", called(ops.ps_roi_pool, image(4), rois, scale, 2, 2)
    nowhere = torch.tensor([[0, NAN, 0, 4, 4], [0, 0, 0, 4, NAN]], dtype=torch.float64)
    yield "roi_align NaN", called(ops.roi_align, image(2), nowhere, 1.0, 2, 2, -1, False)
    yield "roi_pool NaN and infinities", called(ops.roi_pool, torch.tensor([[[[NAN, 1, -2], [3, NAN, -float("inf")], [NAN, NAN, NAN]]]]),
                                                torch.tensor([[0, 0.0, 0, 2, 2], [0, 2, 1, 2, 2]]), 1.0, 3, 1)
    yield "no regions", called(ops.roi_align, image(2), rois[:0], 1.0, 2, 2, -1, False)


def deform_calls(torch):
    op = torch.ops.torchvision.deform_conv2d

    def call(name, image, weight, groups, offset_groups, stride, padding, dilation, places, masked, whole=False):
        taps = weight[2] * weight[3]
        offset = numbers(torch, 2, image[0], 2 * offset_groups * taps, *places) * 2
        mask = numbers(torch, 3, image[0], offset_groups * taps, *places) if masked else torch.zeros(image[0], 1, dtype=torch.float64)
        tensors = [numbers(torch, 4, *image), numbers(torch, 5, *weight), offset.round() if whole else offset, mask,
                   numbers(torch, 6, weight[0])]
        for t in tensors:
            t.requires_grad_(masked or t is not mask)
        return "deform_conv2d " + name, called(op, *tensors, *stride, *padding, *dilation, groups, offset_groups, masked)
    yield call("plain", (2, 2, 4, 5), (3, 2, 2, 3), 1, 1, (1, 2), (1, 1), (2, 1), (4, 3), False)
    yield call("groups and masks", (1, 4, 4, 4), (4, 2, 2, 2), 2, 2, (1, 1), (0, 0), (1, 1), (3, 3), True)
    # At whole numbers, where slopes jump, and at the edge, a pixel outside.
    yield call("whole offsets", (1, 2, 4, 4), (2, 2, 2, 2), 1, 1, (1, 1), (0, 0), (1, 1), (3, 3), True, whole=True)


def nms_calls(torch):
    op = torch.ops.torchvision.nms
    draw = torch.Generator().manual_seed(7)
    corner, size = torch.rand(60, 2, generator=draw) * 30, torch.rand(60, 2, generator=draw) * 20
    boxes, scores = torch.cat([corner, corner + size], 1), torch.rand(60, generator=draw)
    for threshold in (0.0, 0.2, 0.5, 0.7, 1.0):
        yield f"nms {threshold}", called(op, boxes, scores, threshold)
        yield f"nms of equal scores {threshold}", called(op, boxes.round(), (scores * 4).round(), threshold)
    scores[3] = boxes[5, 1] = boxes[8, 2] = NAN
    boxes[9, 2] = float("inf")
    yield "nms NaN", called(op, boxes, scores, 0.3)
    yield "nms of none", called(op, boxes[:0], scores[:0], 0.3)
    # 0.7 is no float: as float its threshold lies below it, and so does the overlap.
    yield "nms at the threshold", called(op, torch.tensor([[0.0, 0, 10, 10], [0, 0, 7, 10]]), torch.tensor([2.0, 1]), 0.7)


def calls(torch):
    return {name: result for part in (roi_calls, deform_calls, nms_calls) for name, result in part(torch)}


def rounded(value):
    """Enough digits for a comparison within 1e-6."""
    if isinstance(value, list):
        return [rounded(v) for v in value]
    return None if value != value else float(f"{value:.7g}") if isinstance(value, float) and abs(value) != float("inf") else value


if __name__ == "__main__":
    import torch
    import torchvision
    with open(RECORDED, "w") as file:
        file.write("{" + f'"versions": "torch {torch.__version__.split("+")[0]}, torchvision {torchvision.__version__.split("+")[0]}"')
        for name, result in calls(torch).items():
            file.write(",\n" + json.dumps(name) + ": " + json.dumps(rounded(result)))
        file.write("}\n")
