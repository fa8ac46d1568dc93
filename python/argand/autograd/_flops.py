"""Floating-point operations of ops, by the shapes of their arguments: what profiles estimate, and what torch.utils.flop_counter counts.

The two differ in PyTorch, and so they do here: profiles count pointwise products and sums, and convolutions by the op that a program
calls; the counter counts the op within a convolution, attention, and the gradients of both.
"""
from math import prod

# The names by which programs call a convolution; the op within has another name.
CONVOLUTIONS = tuple(f"aten::conv{transposed}{n}d" for transposed in ("", "_transpose") for n in (1, 2, 3))


def _product_of_two(shapes, values):
    return 2 * prod(shapes[0]) * shapes[1][-1]


def _product_and_sum(shapes, values):
    return 2 * prod(shapes[1]) * shapes[2][-1]


def _linear(shapes, values):
    return 2 * prod(shapes[0]) * prod(shapes[1][:-1])


def _pointwise(shapes, values):
    return prod(shapes[0])


def _called_convolution(shapes, values):
    """conv1d and the like, whose options a program may give as one number."""
    kernel, spatial = shapes[1][2:], shapes[0][2:]

    def each(value):
        value = value if isinstance(value, list) else [value]
        return value * len(spatial) if len(value) == 1 else value
    stride, dilation = each(values[3]), each(values[5])
    if values[4] in ("same", "valid"):
        padding = [d * (k - 1) / 2 if values[4] == "same" else 0 for d, k in zip(dilation, kernel)]
    else:
        padding = each(values[4])
    out = [int(i + 2 * p - d * (k - 1) - 1) // s + 1 for i, p, d, k, s in zip(spatial, padding, dilation, kernel, stride)]
    return 2 * shapes[0][0] * prod(shapes[1]) * prod(out)


def _convolution(shapes, values):
    (n, _, *spatial), weight = shapes[:2]
    stride, padding, dilation = values[3:6]
    out = [(i + 2 * p - d * (k - 1) - 1) // s + 1 for i, p, d, k, s in zip(spatial, padding, dilation, weight[2:], stride)]
    return 2 * n * prod(weight) * prod(out)


def _input_gradient(shapes, values):
    grad, weight = shapes[:2]
    return 2 * grad[0] * prod(grad[2:]) * prod(weight)


def _weight_gradient(shapes, values):
    # PyTorch's number, which takes no account of groups.
    grad, image = shapes[:2]
    return 2 * prod(grad) * image[1] * prod(values[2][2:])


def _attention(shapes, values):
    (*heads, length, width), key, value = shapes[:3]
    return 2 * prod(heads) * length * key[-2] * (width + value[-1])


def _attention_backward(shapes, values):
    _, (*heads, length, width), key, value = shapes[:4]
    return 2 * prod(heads) * length * key[-2] * (3 * width + 2 * value[-1])  # the scores are made once more


_PRODUCTS = {"aten::mm": _product_of_two, "aten::bmm": _product_of_two, "aten::addmm": _product_and_sum, "aten::baddbmm": _product_and_sum,
             "aten::linear": _linear, "aten::_linear_weight_grad": _product_of_two}
_PROFILED = {**_PRODUCTS, **dict.fromkeys(("aten::mul", "aten::add", "aten::mul_", "aten::add_"), _pointwise),
             **dict.fromkeys(("aten::conv1d", "aten::conv2d", "aten::conv3d"), _called_convolution)}
_COUNTED = {**_PRODUCTS, "aten::_convolution_nd": _convolution, "aten::_conv_input_grad": _input_gradient,
            "aten::_conv_weight_grad": _weight_gradient,
            "aten::_scaled_dot_product_fused_attention": _attention,
            "aten::_scaled_dot_product_fused_attention_backward": _attention_backward}


def _of(formulas, name, shapes, values):
    try:
        return formulas[name](shapes, values) if name in formulas else 0
    except (IndexError, TypeError):  # not a form that is counted
        return 0


def profiled(name, shapes, values):
    """The estimate of a profile for a call of an op: the shapes of its arguments, and the values of those that are no tensors."""
    return _of(_PROFILED, name, shapes, values)


def counted(event):
    """The number of the counter for an event of a profile."""
    return _of(_COUNTED, event.name, event.input_shapes, event.concrete_inputs)
