"""Adam in tensor ops alone: the count of steps and a learning rate that is a tensor stay on the GPU, so each replay of a CUDA
graph that holds a step is the next step."""
from .. import _C
from ..autograd.grad_mode import enable_grad, no_grad


def asked(optimizer):
    """Whether the optimizer is to step so: PyTorch's option of groups whose parameters are on a GPU."""
    groups = [group for group in optimizer.param_groups if any(p.is_cuda for p in group["params"])]
    if not any(group["capturable"] for group in groups):
        return False
    if not all(group["capturable"] for group in optimizer.param_groups) or len(groups) != len(optimizer.param_groups):
        raise RuntimeError(f"{type(optimizer).__name__}: capturable=True must be the option of all parameter groups, and their "
                           "parameters on a GPU")
    return True


def step(optimizer, closure):
    """One step of all groups."""
    loss = None
    if closure is not None:
        with enable_grad():
            loss = closure()
    with no_grad():
        for group in optimizer.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    adam(p, p.grad, _ready(optimizer, p, group["amsgrad"]), group)
    return loss


def _ready(optimizer, param, amsgrad):
    """The state of a parameter, all of it where the parameter is."""
    state = optimizer.state[param]
    names = ["exp_avg", "exp_avg_sq"] + ["max_exp_avg_sq"] * bool(amsgrad)
    if all(name in state for name in names) and state["step"].device == param.device:
        return state
    if _C.cuda.is_current_stream_capturing():
        raise RuntimeError(f"{type(optimizer).__name__}.step(): a parameter has no state yet, which every replay of the graph would "
                           "make anew; take a step before the capture")
    state["step"] = _C.zeros((), dtype=_C.float32, device=param.device) if "step" not in state else state["step"].to(param.device)
    for name in names:
        if name not in state:
            state[name] = _C.zeros_like(param, memory_format=_C.preserve_format)
    return state


def adam(param, grad, state, group):
    """The rule of Kingma and Ba (2015), AdamW's or AMSGrad's by the options of `group`, in place."""
    beta1, beta2 = (_number(beta) for beta in group["betas"])
    lr, decay = _number(group["lr"]), group["weight_decay"]
    mean, square, count = state["exp_avg"], state["exp_avg_sq"], state["step"]
    count += 1
    if group["maximize"]:
        grad = -grad
    if decay and group["decoupled_weight_decay"]:
        param.mul_(1 - lr * decay)
    elif decay:
        grad = grad + param * decay
    largest = state["max_exp_avg_sq"] if group["amsgrad"] else None
    if param.is_complex():  # its parts are numbers of their own
        param, grad, mean, square = (_C.view_as_real(t) for t in (param, grad, mean, square))
        largest = None if largest is None else _C.view_as_real(largest)
    mean.lerp_(grad, 1 - beta1)
    square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
    if largest is not None:
        square = largest.copy_(_C.maximum(largest, square))
    # 1 - beta^count loses most of its digits in float32 while the count is small.
    exact = count.double()
    step_size, scale = lr / (1 - beta1 ** exact), 1 - beta2 ** exact
    param.sub_(mean / ((square / scale).sqrt() + group["eps"]) * step_size)


def _number(value):
    """A tensor of a GPU as it is, whatever it holds at replay; anything else as the number that it is now."""
    return value if isinstance(value, _C.Tensor) and value.is_cuda else float(value)
