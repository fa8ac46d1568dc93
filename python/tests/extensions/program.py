"""Builds module.cpp and ops.cpp and prints what they do.  PyTorch prints the same: recorded/extensions.txt holds that."""
import os
import sys

import torch
from torch.utils.cpp_extension import load

HERE = os.path.dirname(os.path.abspath(__file__))
DOUBLE = torch.float64


def shown(kind, f, *args):
    """The result, or whether it raises an error of the kind, with the first line of a message of ours."""
    try:
        return f(*args)
    except Exception as error:  # noqa: BLE001: any error is what is printed
        first = str(error).partition("\n")[0]
        return kind.__name__ if isinstance(error, kind) else type(error), first if len(first) < 40 else ""


FAILURES = [RuntimeError, IndexError, ValueError, TypeError, NotImplementedError, IndexError, KeyError, RuntimeError]


def of_module():
    m = load("argand_module", [os.path.join(HERE, "module.cpp")])
    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    y = m.add_relu(x, b=torch.tensor(0.5))
    y.sum().backward()
    print(y.tolist(), y.requires_grad, x.grad.tolist(), m.add_relu.__doc__.splitlines()[0])
    print(m.same(x) is x, type(m.same(torch.ones(1))) is torch.Tensor, m.undefined())
    view = m.same(x.detach())
    view[0] = 5
    print(x.tolist(), m.same(torch.nn.Parameter(torch.ones(1))).__class__.__name__)
    print(m.kinds(torch.float16, torch.device("cuda:1"), [1, 2], None, "text"), m.kinds(torch.int64, torch.device("cpu"), torch.Size([3]), x, ""))
    print([t.tolist() for t in m.doubled([x, x])], m.doubled((x,))[0].requires_grad)
    print(m.elements(x), m.elements(None), m.elements())
    for how, kind in enumerate(FAILURES):
        print(shown(kind, m.fail, how))
    print(shown(TypeError, m.add_relu, x, 1)[0], shown(TypeError, m.same, None)[0], shown(TypeError, m.kinds, "float32", "cpu", (), None, "")[0])
    print(m.apply(lambda t: t * 2, torch.ones(2)), shown(KeyError, m.apply, lambda t: {}["no"], x), shown(RuntimeError, m.apply, lambda t: 3, x)[0])
    for dtype in (torch.float32, DOUBLE):
        out = m.leaky(torch.tensor([[-2.0, 3.0], [0.0, -0.5]], dtype=dtype).t(), 0.25)
        print(out.tolist(), out.dtype)
    print(shown(RuntimeError, m.leaky, torch.ones(2), 0.1), shown(NotImplementedError, m.leaky, torch.ones(2, 2, dtype=torch.int32), 0.1)[0])
    z = torch.tensor([1.0, -2.0], dtype=DOUBLE, requires_grad=True)
    print(torch.autograd.gradcheck(m.cube, z), torch.autograd.gradgradcheck(m.cube, z), m.cube(z).tolist())
    counter = m.Counter()
    counter.add(torch.ones(2, 3))
    print(counter.count)

    class Cell(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *arguments):
            out = m.forward(*arguments)
            ctx.save_for_backward(*out[1:], arguments[1])
            return out[0], out[1]

        @staticmethod
        def backward(ctx, grad_h, grad_cell):
            d_input, d_weights, d_bias, d_h, d_cell = m.backward(grad_h.contiguous(), grad_cell.contiguous(), *ctx.saved_tensors)
            return d_input, d_weights, d_bias, d_h, d_cell
    torch.manual_seed(0)
    arguments = [torch.randn(*size, dtype=DOUBLE, requires_grad=True) for size in ((4, 5), (9, 8), (1, 9), (4, 3), (4, 3))]
    h, cell = Cell.apply(*arguments)
    (h.sum() * 2 + cell.sum()).backward()
    print([[round(v, 9) for v in t.flatten().tolist()] for t in (h, cell, *(a.grad for a in arguments))])
    print(torch.autograd.gradcheck(Cell.apply, arguments))


def of_library():
    load("argand_ops", [os.path.join(HERE, "ops.cpp")], is_python_module=False)
    ops = torch.ops.argand_ext
    x = torch.tensor([1.0, -3.0], requires_grad=True)
    y = ops.square(x)
    y.sum().backward()
    print(y.tolist(), x.grad.tolist(), torch.autograd.gradcheck(ops.square, x.detach().double().requires_grad_()))
    print(torch.autograd.gradgradcheck(ops.square, x.detach().double().requires_grad_()))
    meta = ops.square(torch.empty(2, 3, device="meta"))
    print(meta.device, tuple(meta.shape), ops.square.default._schema)
    print(ops.scale(x).tolist(), ops.scale(x, 3).tolist(), ops.scale(x, factor=0.5, negate=True).tolist(), ops.scale(x, 3).requires_grad)
    print(ops.scale(x, torch.tensor([2.0, 0.0])).tolist(), ops.scale.by(x, by=x).tolist(), ops.scale.default(x, 1).tolist())
    print(sorted(ops.scale.overloads()), ops.scale.by._schema)
    a = torch.zeros(2)
    print(ops.shift_(a, 3) is a, a.tolist())
    print([t.tolist() for t in ops.pieces(torch.arange(4.0), [1, 3])], [t.tolist() for t in ops.pieces(
        torch.arange(2.0), (1, 1), bias=torch.ones(1), mode="minus")])
    total, count = ops.counted([torch.ones(2), torch.ones(2)])
    print(total.tolist(), count, ops.cast(x, torch.float64).dtype, ops.cast(x, dtype=torch.int32, device=torch.device("cpu")).dtype)
    for call in (lambda: ops.square(), lambda: ops.square(1), lambda: ops.square(x, x), lambda: ops.square(x, q=1),
                 lambda: ops.scale(x, "a"), lambda: ops.pieces(x, [1.5])):
        print(shown(RuntimeError, call)[0])
    print(shown(ValueError, ops.triple, torch.ones(1, 1)), shown(NotImplementedError, ops.square, torch.ones(1, dtype=torch.int64))[0])
    print(hasattr(ops, "no_such_op"), hasattr(ops.scale, "no_such_overload"), "square" in dir(ops))

    @torch.library.register_fake("argand_ext::triple")
    def _(x):
        return torch.empty_like(x)

    def keep(ctx, inputs, output):
        ctx.scale = inputs[0].numel()
    torch.library.register_autograd("argand_ext::triple", lambda ctx, grad: grad * 3 * ctx.scale, setup_context=keep)
    z = torch.ones(2, requires_grad=True)
    ops.triple(z).sum().backward()
    print(z.grad.tolist(), ops.triple(torch.ones(4, device="meta")).shape)
    from torch._subclasses.fake_tensor import FakeTensorMode
    with FakeTensorMode():
        print(tuple(ops.triple(torch.ones(5)).shape), tuple(ops.square(torch.ones(6)).shape))


if __name__ == "__main__":
    of_module()
    of_library()
    sys.stdout.flush()
