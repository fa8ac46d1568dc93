"""Limited-memory BFGS (Nocedal and Wright, Numerical Optimization, chapter 7)."""
import math

from .. import _C
from ..autograd.grad_mode import enable_grad, no_grad
from ._whole_step import whole_step
from .optimizer import Optimizer, check_shape


def _ratio(a, b):
    """a / b, where b may be 0 as in IEEE 754."""
    if b:
        return a / b
    return math.copysign(math.inf, a) * math.copysign(1, b) if abs(a) > 0 else math.nan


def _cubic_minimum(x1, f1, g1, x2, f2, g2, bounds=None):
    """The minimum of the cubic with these values and slopes at two points, within the bounds (the points, by default)."""
    low, high = bounds if bounds is not None else (min(x1, x2), max(x1, x2))
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1 * d1 - g1 * g2
    if square < 0:
        return (low + high) / 2
    d2 = square**0.5
    if x1 <= x2:
        minimum = x2 - (x2 - x1) * _ratio(g2 + d2 - d1, g2 - g1 + 2 * d2)
    else:
        minimum = x1 - (x1 - x2) * _ratio(g1 + d2 - d1, g1 - g2 + 2 * d2)
    return min(max(minimum, low), high)


def _strong_wolfe(evaluate, t, d, f, g, slope, c1=1e-4, c2=0.9, tolerance_change=1e-9, max_evaluations=25):
    """A step along d that satisfies the strong Wolfe conditions (Nocedal and Wright, algorithms 3.5 and 3.6).

    evaluate(t) -> (loss, gradient) at the step t; f, g, slope: those at 0.  Returns loss, gradient, t, evaluations.
    """
    largest = float(d.abs().max())
    g = g.clone()
    f_new, g_new = evaluate(t)
    evaluations, slope_new = 1, float(g_new.dot(d))
    before = (0.0, f, g, slope)
    done = False
    for iteration in range(max_evaluations + 1):
        if iteration == max_evaluations:  # no bracket was found
            bracket = [(0.0, f, g, slope), (t, f_new, g_new, slope_new)]
            break
        now = (t, f_new, g_new.clone(), slope_new)
        if f_new > f + c1 * t * slope or (iteration > 1 and f_new >= before[1]):
            bracket = [before, now]
            break
        if abs(slope_new) <= -c2 * slope:
            bracket, done = [now], True
            break
        if slope_new >= 0:
            bracket = [before, now]
            break
        low, high = t + 0.01 * (t - before[0]), t * 10
        t_next = _cubic_minimum(before[0], before[1], before[3], t, f_new, slope_new, bounds=(low, high))
        before, t = now, t_next
        f_new, g_new = evaluate(t)
        evaluations += 1
        slope_new = float(g_new.dot(d))

    # The bracket shrinks until a point in it satisfies the conditions.
    stuck = False
    best = 0 if len(bracket) == 1 or bracket[0][1] <= bracket[-1][1] else 1
    while not done and iteration < max_evaluations:
        (a, fa, _, ga), (b, fb, _, gb) = bracket
        low, high = min(a, b), max(a, b)
        if (high - low) * largest < tolerance_change:
            break
        t = _cubic_minimum(a, fa, ga, b, fb, gb)
        margin = 0.1 * (high - low)
        if min(high - t, t - low) < margin:  # too near an end: go in, if it was so before or t lies on the end
            if stuck or t >= high or t <= low:
                t = high - margin if abs(t - high) < abs(t - low) else low + margin
                stuck = False
            else:
                stuck = True
        else:
            stuck = False
        f_new, g_new = evaluate(t)
        evaluations += 1
        slope_new = float(g_new.dot(d))
        iteration += 1
        now = (t, f_new, g_new.clone(), slope_new)
        if f_new > f + c1 * t * slope or f_new >= bracket[best][1]:
            bracket[1 - best] = now
            best = 0 if bracket[0][1] <= bracket[1][1] else 1
        else:
            if abs(slope_new) <= -c2 * slope:
                done = True
            elif slope_new * (bracket[1 - best][0] - bracket[best][0]) >= 0:
                bracket[1 - best] = bracket[best]
            bracket[best] = now
    t, f_new, g_new, _ = bracket[best]
    return f_new, g_new, t, evaluations


def _real(tensor):
    """The tensor, or the real and imaginary parts of a complex one: two numbers that are minimised over."""
    return _C.view_as_real(tensor) if tensor.is_complex() else tensor


class LBFGS(Optimizer):
    """Limited-memory BFGS over one group of parameters; step() needs a closure, which it calls several times.

    line_search_fn: None, steps of `lr`; or "strong_wolfe".
    """

    def __init__(self, params, lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-7, tolerance_change=1e-9,
                 history_size=100, line_search_fn=None, *, maximize=False):
        if isinstance(lr, _C.Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not 0.0 <= lr:
            raise ValueError(f"Invalid learning rate: {lr}")
        super().__init__(params, dict(
            lr=lr, max_iter=max_iter, max_eval=max_iter * 5 // 4 if max_eval is None else max_eval,
            tolerance_grad=tolerance_grad, tolerance_change=tolerance_change, history_size=history_size,
            line_search_fn=line_search_fn, maximize=maximize))
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    def _check_state(self, key, param, state):
        numbers = sum(_real(p).numel() for p in self._params)
        for name in ("d", "prev_flat_grad", "old_dirs", "old_stps"):
            value = state.get(name)
            for part in value if isinstance(value, list) else () if value is None else (value,):
                check_shape(key, name, part, (numbers,))
        histories = {len(state.get(name) or ()) for name in ("old_dirs", "old_stps", "ro")}
        if len(histories) > 1:
            raise ValueError("load_state_dict: expected old_dirs, old_stps and ro of one length")

    @property
    def _params(self):
        return self.param_groups[0]["params"]

    def _gradient(self):
        parts = [_real(_C.zeros_like(p) if p.grad is None else p.grad).reshape(-1) for p in self._params]
        flat = _C.cat(parts, 0)
        return -flat if self.param_groups[0].get("maximize") else flat

    def _move(self, size, direction):
        start = 0
        for p in self._params:
            numbers = _real(p)
            numbers.add_(direction[start:start + numbers.numel()].view(numbers.shape), alpha=size)
            start += numbers.numel()

    def _evaluate_at(self, closure, start, t, d):
        self._move(t, d)
        loss = float(closure())
        gradient = self._gradient()
        for p, value in zip(self._params, start):
            p.copy_(value)
        return -loss if self.param_groups[0].get("maximize") else loss, gradient

    def step(self, closure):
        """Up to max_iter iterations; returns the loss at the start."""
        with no_grad(), whole_step(self, self._params, copy_states=False):
            return self._step(enable_grad()(closure))

    def _step(self, closure):
        group = self.param_groups[0]
        lr, sign = float(group["lr"]), -1 if group.get("maximize") else 1
        tolerance_change, tolerance_grad = group["tolerance_change"], group["tolerance_grad"]
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)

        first_loss = closure()
        loss = sign * float(first_loss)
        evaluations = 1
        state["func_evals"] += 1
        gradient = self._gradient()
        if float(gradient.abs().max()) <= tolerance_grad:
            return first_loss

        d, t, ro = state.get("d"), state.get("t"), state.get("ro")
        old_dirs, old_stps, diagonal = state.get("old_dirs"), state.get("old_stps"), state.get("H_diag")
        before, loss_before = state.get("prev_flat_grad"), state.get("prev_loss")
        iteration = 0
        while iteration < group["max_iter"]:
            iteration += 1
            state["n_iter"] += 1
            if state["n_iter"] == 1:
                d, old_dirs, old_stps, ro, diagonal = -gradient, [], [], [], 1
            else:
                y, s = gradient - before, d * t
                ys = float(y.dot(s))
                if ys > 1e-10:
                    if len(old_dirs) == group["history_size"]:
                        for history in (old_dirs, old_stps, ro):
                            history.pop(0)
                    old_dirs.append(y)
                    old_stps.append(s)
                    ro.append(1.0 / ys)
                    diagonal = ys / float(y.dot(y))
                # The two loops over the history: d = -H gradient.
                q = -gradient
                al = [0.0] * len(old_dirs)
                for i in range(len(old_dirs) - 1, -1, -1):
                    al[i] = float(old_stps[i].dot(q)) * ro[i]
                    q.add_(old_dirs[i], alpha=-al[i])
                d = q * diagonal
                for i in range(len(old_dirs)):
                    d.add_(old_stps[i], alpha=al[i] - float(old_dirs[i].dot(d)) * ro[i])
            before, loss_before = gradient.clone(), loss

            t = min(1.0, _ratio(1.0, float(gradient.abs().sum()))) * lr if state["n_iter"] == 1 else lr
            slope = float(gradient.dot(d))
            if slope > -tolerance_change:
                break
            calls = 0
            if group["line_search_fn"] is not None:
                if group["line_search_fn"] != "strong_wolfe":
                    raise RuntimeError("only 'strong_wolfe' is supported")
                start = [p.clone() for p in self._params]
                loss, gradient, t, calls = _strong_wolfe(lambda size: self._evaluate_at(closure, start, size, d), t, d, loss,
                                                         gradient, slope)
                self._move(t, d)
            else:
                self._move(t, d)
                if iteration != group["max_iter"]:
                    with enable_grad():
                        loss = sign * float(closure())
                    gradient = self._gradient()
                    calls = 1
            evaluations += calls
            state["func_evals"] += calls
            optimal = float(gradient.abs().max()) <= tolerance_grad
            if (iteration == group["max_iter"] or evaluations >= group["max_eval"] or optimal
                    or float((d * t).abs().max()) <= tolerance_change or abs(loss - loss_before) < tolerance_change):
                break
        state.update(d=d, t=t, old_dirs=old_dirs, old_stps=old_stps, ro=ro, H_diag=diagonal, prev_flat_grad=before,
                     prev_loss=loss_before)
        return first_loss
