"""torch.cond and torch.while_loop, which are Python's own `if` and `while` here: nothing is traced."""


def cond(pred, true_fn, false_fn, operands=()):
    """true_fn(*operands) if pred, else false_fn(*operands)."""
    if not isinstance(operands, (tuple, list)):
        raise RuntimeError(f"cond(): expected a tuple or list of operands, got {type(operands).__name__}")
    return (true_fn if pred else false_fn)(*operands)


def while_loop(cond_fn, body_fn, carried_inputs):
    """body_fn of what it gave before, from carried_inputs on, while cond_fn of that holds; a tuple."""
    carried = tuple(carried_inputs)
    while cond_fn(*carried):
        found = body_fn(*carried)
        carried = tuple(found) if isinstance(found, (tuple, list)) else (found,)
    return carried
