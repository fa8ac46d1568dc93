#!/usr/bin/env python3
"""Runs PyTorch's own samples of its operators (op_db) through both libraries, by the Python front.

    op_db.py [--dtypes float32,...] [--samples N] [--verbose] [OPERATOR...]

For every operator of the table whose name exists in Argand: forward results (values, shapes, dtypes), gradients, and
whether both refuse a sample.  Prints for each operator how many samples agree, differ, or fail here; last
`N passed, N failed`.  Operators that Argand does not have are counted and listed.  Without PyTorch nothing is done, with exit status 77.  Exit status 0 if the share of
samples that agree is at least --goal.
"""
import argparse
import collections
import os
import signal
import sys
import warnings

try:
    import torch
    from torch.testing._internal.common_methods_invocations import op_db
except ImportError as error:
    other = os.environ.pop("ARGAND_TORCH_PYTHON", None)  # popped: tried once
    if other:
        os.execv(other, [other, *sys.argv])
    print(f"op_db: skipped, because this Python has no PyTorch with its test tables ({error}; ARGAND_TORCH_PYTHON may name "
          "one that has, with expecttest installed)")
    sys.exit(77)
import argand

warnings.filterwarnings("ignore")
# Samples whose values are random, undefined, or those of memory.
NO_VALUES = {"empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided", "rand_like",
             "randn_like", "randint_like", "bernoulli", "normal", "multinomial", "uniform", "exponential", "cauchy",
             "geometric", "log_normal", "randn", "randint", "nn.functional.dropout", "nn.functional.dropout2d",
             "nn.functional.dropout3d", "nn.functional.alpha_dropout", "nn.functional.feature_alpha_dropout",
             "nn.functional.rrelu", "resize_", "resize_as_"}
DTYPES = {torch.float32: argand.float32, torch.float64: argand.float64, torch.float16: argand.float16,
          torch.bfloat16: argand.bfloat16, torch.int8: argand.int8, torch.int16: argand.int16, torch.int32: argand.int32,
          torch.int64: argand.int64, torch.uint8: argand.uint8, torch.bool: argand.bool,
          torch.complex64: argand.complex64, torch.complex128: argand.complex128}
FORMATS = {torch.contiguous_format: argand.contiguous_format, torch.preserve_format: argand.preserve_format,
           torch.channels_last: argand.channels_last, torch.channels_last_3d: argand.channels_last_3d}
TOLERANCE = {torch.float16: 4e-3, torch.bfloat16: 3e-2, torch.float32: 2e-5, torch.complex64: 2e-5}


class Unsupported(Exception):
    """The sample needs what Argand does not have: a dtype, a layout."""


def to_argand(value, leaves):
    if isinstance(value, torch.Tensor):
        if value.layout is not torch.strided or value.dtype not in DTYPES:
            raise Unsupported(f"{value.layout}, {value.dtype}")
        plain = value.detach().resolve_conj().resolve_neg()
        # The same strides, over memory of its own.
        size = sum((n - 1) * s for n, s in zip(plain.shape, plain.stride())) + 1 if plain.numel() else 0
        flat = plain.as_strided((size,), (1,)).clone()
        bits = {torch.bfloat16: torch.int16}.get(flat.dtype)
        ours = argand.from_numpy((flat.view(bits) if bits else flat).numpy()).clone()
        if bits:
            ours = ours.view(argand.bfloat16)
        ours = ours.as_strided(tuple(plain.shape), tuple(plain.stride()), 0)
        if value.requires_grad:
            ours = ours.detach().requires_grad_()
            leaves.append((value, ours))
        return ours
    if isinstance(value, torch.Size):
        return argand.Size(value)
    if isinstance(value, torch.dtype):
        if value not in DTYPES:
            raise Unsupported(str(value))
        return DTYPES[value]
    if isinstance(value, torch.memory_format):
        return FORMATS[value]
    if isinstance(value, torch.device):
        return argand.device(str(value))
    if isinstance(value, torch.layout):
        return argand.strided
    if isinstance(value, torch.Generator):
        raise Unsupported("a generator")
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(to_argand(v, leaves) for v in value))
    if isinstance(value, (tuple, list)):
        return type(value)(to_argand(v, leaves) for v in value)
    if isinstance(value, dict):
        return {k: to_argand(v, leaves) for k, v in value.items()}
    return value


def flatten(value):
    if isinstance(value, (torch.Tensor, argand.Tensor)):
        return [value]
    if isinstance(value, (tuple, list)):
        return [x for v in value for x in flatten(v)]
    return [value]


def same(theirs, ours, values, tolerance):
    """None if they agree, else a sentence."""
    if isinstance(theirs, torch.Tensor):
        if not isinstance(ours, argand.Tensor):
            return f"expected a tensor, got {type(ours).__name__}"
        if tuple(theirs.shape) != tuple(ours.shape):
            return f"shape {tuple(theirs.shape)} there, {tuple(ours.shape)} here"
        if theirs.dtype in DTYPES and DTYPES[theirs.dtype] is not ours.dtype:
            return f"dtype {theirs.dtype} there, {ours.dtype} here"
        if not values:
            return None
        a = theirs.detach().resolve_conj().resolve_neg()
        wide = torch.complex128 if a.is_complex() else torch.float64
        b = torch.tensor(ours.detach().to(argand.complex128 if a.is_complex() else argand.float64).numpy().copy(), dtype=wide)
        limit = max(tolerance, TOLERANCE.get(theirs.dtype, 1e-7))
        if not torch.allclose(a.to(wide), b, rtol=limit, atol=limit, equal_nan=True):
            return f"values differ by {(a.to(wide) - b).abs().max().item():.3g}"
        return None
    if isinstance(theirs, (bool, int, float, complex)):
        ok = theirs == ours or (theirs != theirs and ours != ours) or (
            isinstance(theirs, float) and abs(theirs - ours) <= 1e-5 * max(1, abs(theirs)))
        return None if ok else f"{theirs} there, {ours} here"
    return None


def resolve(name):
    found = argand
    for part in name.split("."):
        found = getattr(found, part, None)
        if found is None:
            return None
    return found


# The table calls some functions with their arguments in another order.
REORDERED = {
    "where": lambda x, condition, other: argand.where(condition, x, other),
    "einsum": lambda tensors, equation: argand.einsum(equation, tensors),
    "polygamma": lambda x, n, **k: argand.polygamma(n, x, **k),
    "special.polygamma": lambda x, n, **k: argand.special.polygamma(n, x, **k),
}
# Which of several equal elements is meant is not said: the first result alone is compared.
ANY_POSITION = {"kthvalue", "topk", "mode"}
# Samples that look at storages larger than the tensor, which the copies made here do not keep.
OWN_STORAGE = {("as_strided", "partial_views")}


def function_of(op):
    """Argand's function for an operator of the table: of the package, or a method."""
    name = op.name
    if name in REORDERED:
        return REORDERED[name] if resolve(name) else None
    if op.variant_test_name == "in_place" or name.endswith("_") and not name.startswith("__"):
        in_place = name.rstrip("_") + "_"
        return (lambda x, *a, **k: getattr(x.clone(), in_place)(*a, **k)) if hasattr(argand.Tensor, in_place) else None
    if isinstance(getattr(argand.Tensor, name, None), type(argand.Tensor.T)):
        return lambda x: getattr(x, name)
    found = resolve(name)
    if found is None or isinstance(found, argand.dtype):
        method = getattr(argand.Tensor, name, None)
        if method is not None:
            return lambda x, *a, **k: getattr(x, name)(*a, **k)
        if hasattr(argand.Tensor, name + "_"):
            return lambda x, *a, **k: getattr(x.clone(), name + "_")(*a, **k)
        return None
    return found if callable(found) else None


def gradients(outputs, leaves, library, theirs):
    """Of the sum of all differentiable outputs times fixed weights."""
    total = None
    for o in outputs:
        if not isinstance(o, library.Tensor) or not o.requires_grad:
            continue
        real = library.view_as_real(o.resolve_conj() if theirs else o) if o.is_complex() else o
        weights = library.linspace(0.5, 1.5, max(real.numel(), 1), dtype=library.float64)[:real.numel()]
        part = (real.double().reshape(-1) * weights).sum()
        total = part if total is None else total + part
    if total is None:
        return None
    inputs = [leaf[0 if theirs else 1] for leaf in leaves]
    if theirs:
        return torch.autograd.grad(total, inputs, allow_unused=True)
    return argand.autograd.grad(total, inputs, allow_unused=True)


def run_sample(op, function, sample, counts, notes, verbose):
    leaves = []
    try:
        arguments = [to_argand(a, leaves) for a in (sample.input, *sample.args)]
        keywords = to_argand(sample.kwargs, leaves)
    except Unsupported as reason:
        counts["unsupported"] += 1
        return notes.setdefault(f"needs {reason}", 0)
    there = here = refused_there = refused_here = None
    torch.manual_seed(0)
    argand.manual_seed(0)
    try:
        there = op.op(sample.input, *sample.args, **sample.kwargs)
    except Exception as error:
        refused_there = error
    try:
        here = function(*arguments, **keywords)
    except Exception as error:
        refused_here = error
    if refused_there or refused_here:
        if refused_there and refused_here:
            counts["agree"] += 1
            return None
        kind = "here" if refused_here else "there"
        counts["differ"] += 1
        note = f"refused {kind}: {str(refused_here or refused_there).splitlines()[0][:140]}"
        notes[note] = notes.get(note, 0) + 1
        if verbose:
            print(f"    {op.name}: {note}\n      {sample}")
        return None
    values = op.name not in NO_VALUES
    outputs, ours = flatten(there), flatten(here)
    if op.name in ANY_POSITION:
        outputs, ours = outputs[:1], ours[:1]
    note = None if len(outputs) == len(ours) else f"{len(outputs)} results there, {len(ours)} here"
    for a, b in zip(outputs, ours):
        note = note or same(a, b, values, 0)
    if note is None and leaves and values:
        try:
            expected = gradients(outputs, leaves, torch, True)
            got = gradients(ours, leaves, argand, False) if expected is not None else None
            for e, g in zip(expected or (), got or ()):
                e_none = e is None or not bool(e.abs().sum())
                if g is None and e_none or e is None and g is not None and not bool(g.abs().sum()):
                    continue
                if e is None or g is None:
                    note = note or f"gradient {'missing' if g is None else 'there is'} here"
                    continue
                note = note or same(e, g, True, 2e-4)
                if note and not note.startswith("gradient"):
                    note = "gradient: " + note
            if expected is not None and got is None:
                note = note or "no gradient here"
        except Exception as error:
            note = f"gradient fails here: {str(error).splitlines()[0][:140]}"
    counts["differ" if note else "agree"] += 1
    if note:
        notes[note] = notes.get(note, 0) + 1
        if verbose:
            print(f"    {op.name}: {note}\n      {sample}")
    return None


class TooSlow(Exception):
    pass


def alarm(*_):
    raise TooSlow("took more than a minute")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dtypes", default="float32,int64,bool,complex64,bfloat16,float64")
    parser.add_argument("--samples", type=int, default=60, help="at most, of an operator and dtype")
    parser.add_argument("--goal", type=float, default=97)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("operators", nargs="*")
    args = parser.parse_args()
    dtypes = [getattr(torch, d) for d in args.dtypes.split(",")]
    signal.signal(signal.SIGALRM, alarm)
    missing, total = [], collections.Counter()
    for op in op_db:
        if args.operators and op.name not in args.operators:
            continue
        function = function_of(op)
        name = op.name + (f" ({op.variant_test_name})" if op.variant_test_name else "")
        if (op.name, op.variant_test_name) in OWN_STORAGE:
            continue
        if function is None:
            missing.append(name)
            continue
        counts, notes = collections.Counter(), {}
        for dtype in dtypes:
            if dtype not in op.dtypes:
                continue
            needs_grad = dtype in (torch.float32, torch.float64, torch.complex64) and op.supports_autograd
            try:
                signal.alarm(60)
                for i, sample in enumerate(op.sample_inputs("cpu", dtype, requires_grad=needs_grad)):
                    if i >= args.samples:
                        break
                    run_sample(op, function, sample, counts, notes, args.verbose)
            except TooSlow as error:
                notes[str(error)] = 1
                counts["differ"] += 1
            except Exception as error:
                note = f"the samples themselves fail: {type(error).__name__} {str(error)[:100]}"
                notes[note] = notes.get(note, 0) + 1
            finally:
                signal.alarm(0)
        total.update(counts)
        if counts["differ"] or counts["unsupported"]:
            print(f"{name}: {counts['agree']} agree, {counts['differ']} differ, {counts['unsupported']} unsupported")
            for note, n in sorted(notes.items(), key=lambda i: -i[1])[:4]:
                print(f"    {n} x {note}")
    compared = total["agree"] + total["differ"]
    print(f"\nnot in Argand: {len(missing)} entries: {', '.join(missing)}")
    share = 100 * total["agree"] / max(compared, 1)
    print(f"{share:.2f} % of {compared} samples agree; {total['unsupported']} need a dtype or layout that Argand does not have")
    print(f"{total['agree']} passed, {total['differ']} failed")
    return 0 if share >= args.goal else 1


if __name__ == "__main__":
    sys.exit(main())
