#!/usr/bin/env python3
"""Runs PyTorch's own samples of its operators (op_db) through both libraries, by the Python front.

    op_db.py [--dtypes float32,...] [--samples N] [--device cuda] [--shard I/N] [--verbose] [OPERATOR...]

For every operator of the table whose name exists in Argand: forward results (values, shapes, dtypes), gradients, and
whether both refuse a sample.  Prints for each operator how many samples agree, differ, or fail here; last
`N passed, N failed`.  Operators that Argand does not have are counted and listed.  Without PyTorch nothing is done, with exit status 77.  Exit status 0 if the share of
samples that agree is at least --goal.

With --device cuda our side runs on the GPU and PyTorch's, as always, on the CPU; values that are drawn are then not
compared, because the generators are others.
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
# Results that are whatever stood in memory.  Random ones are compared: the streams are the same.
NO_VALUES = {"empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided", "resize_",
             "resize_as_"}
DTYPES = {torch.float32: argand.float32, torch.float64: argand.float64, torch.float16: argand.float16,
          torch.bfloat16: argand.bfloat16, torch.int8: argand.int8, torch.int16: argand.int16, torch.int32: argand.int32,
          torch.int64: argand.int64, torch.uint8: argand.uint8, torch.bool: argand.bool,
          torch.complex64: argand.complex64, torch.complex128: argand.complex128}
FORMATS = {torch.contiguous_format: argand.contiguous_format, torch.preserve_format: argand.preserve_format,
           torch.channels_last: argand.channels_last, torch.channels_last_3d: argand.channels_last_3d}
TOLERANCE = {torch.float16: 4e-3, torch.bfloat16: 3e-2, torch.float32: 2e-5, torch.complex64: 2e-5}


device = argand.device("cpu")  # of our side


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
        ours = ours.to(device).as_strided(tuple(plain.shape), tuple(plain.stride()), 0)
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
        return device
    if isinstance(value, torch.layout):
        return argand.strided
    if isinstance(value, torch.Generator):
        raise Unsupported("a generator")
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(to_argand(v, leaves) for v in value))
    if isinstance(value, (tuple, list)):
        return type(value)(to_argand(v, leaves) for v in value)
    if isinstance(value, torch.nn.Module):
        ours = getattr(argand.nn, type(value).__name__)()
        for name, setting in vars(value).items():
            if not name.startswith("_"):
                setattr(ours, name, setting)
        return ours
    if isinstance(value, dict):
        return {k: device if v == "cpu" else to_argand(v, leaves) for k, v in value.items()}
    return value


def flatten(value):
    if isinstance(value, (torch.Tensor, argand.Tensor)):
        return [value]
    if isinstance(value, (tuple, list)):
        return [x for v in value for x in flatten(v)]
    return [value]


def brief(value):
    """A sample's argument as text of a line: of tensors type and shape, of small ones all."""
    if isinstance(value, torch.Tensor):
        text = f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
        return text + (f" = {value.tolist()}" if value.numel() <= 4 else "")
    if isinstance(value, (tuple, list)):
        return "(" + ", ".join(map(brief, value)) + ")"
    if isinstance(value, dict):
        return ", ".join(f"{k}={brief(v)}" for k, v in value.items())
    return repr(value)


def off(a, b, limit):
    """Where numbers differ."""
    return ~torch.isclose(a, b, rtol=limit, atol=limit, equal_nan=True)


def worst(a, b, limit):
    """A sentence about the elements that differ."""
    differ = off(a, b, limit).reshape(-1)
    at = differ.nonzero()[0].item()
    return (f"values differ by {(a - b).abs().max().item():.3g}, {int(differ.sum())} of {differ.numel()}: first "
            f"{a.reshape(-1)[at].item():.8g} there, {b.reshape(-1)[at].item():.8g} here")


def is_nearer(theirs, ours, exact, limit):
    """Whether, wherever the two differ, ours is right, or off by no more than theirs or than the worst of theirs."""
    if exact is None or exact.shape != theirs.shape:
        return False
    exact = exact.detach().to(theirs.dtype)
    theirs_off, ours_off = (theirs - exact).abs(), (ours - exact).abs()
    finite = theirs_off[theirs_off.isfinite()]
    right = ~off(exact, ours, limit) | (ours_off <= theirs_off) | (ours_off <= (finite.max() if finite.numel() else 0))
    return bool((right | ~off(theirs, ours, limit)).all())


def numbers(tensor):
    """Of either library's tensor: float64 or complex128."""
    if isinstance(tensor, torch.Tensor):
        return tensor.detach().resolve_conj().resolve_neg().to(torch.complex128 if tensor.is_complex() else torch.float64)
    wide = argand.complex128 if tensor.is_complex() else argand.float64
    return torch.from_numpy(tensor.detach().cpu().to(wide).numpy().copy())


class Comparison:
    """Of results of one sample.  `note` is the first difference, or None; `nearer` whether one was rounding alone."""

    def __init__(self, exact):
        self.exact, self.note, self.nearer = exact, None, False

    def add(self, theirs, ours, exact, values=True, dtypes=True, least=0, what=""):
        if self.note is None:
            note = self.difference(theirs, ours, exact, values, dtypes, least)
            self.note = note and what + note

    def difference(self, theirs, ours, exact, values, dtypes, least):
        if isinstance(theirs, torch.Tensor):
            if not isinstance(ours, argand.Tensor):
                return f"expected a tensor, got {type(ours).__name__}"
            if tuple(theirs.shape) != tuple(ours.shape):
                return f"shape {tuple(theirs.shape)} there, {tuple(ours.shape)} here"
            if dtypes and DTYPES[theirs.dtype] is not ours.dtype:
                return f"dtype {theirs.dtype} there, {ours.dtype} here"
            if not values:
                return None
            a, b, limit = numbers(theirs), numbers(ours), max(least, TOLERANCE.get(theirs.dtype, 1e-7))
            if not off(a, b, limit).any():
                return None
            # PyTorch rounds intermediate results of half precision, and sums float32 in another order: what it gives for
            # float64 inputs decides.
            if theirs.dtype in TOLERANCE and is_nearer(a, b, exact(), limit):
                self.nearer = True
                return None
            return worst(a, b, limit)
        if isinstance(theirs, (bool, int, float, complex)):
            ok = theirs == ours or (theirs != theirs and ours != ours) or (
                isinstance(theirs, float) and abs(theirs - ours) <= 1e-5 * max(1, abs(theirs)))
            return None if ok else f"{theirs} there, {ours} here"
        return None


WIDER = {torch.float16: torch.float64, torch.bfloat16: torch.float64, torch.float32: torch.float64,
         torch.complex64: torch.complex128}


class Exact:
    """What PyTorch gives for a sample in float64, computed when asked for."""

    def __init__(self, op, sample):
        self.op, self.sample, self.leaves, self.results, self.grads = op, sample, [], None, None

    def widen(self, value):
        if isinstance(value, torch.Tensor):
            wide = value.detach().to(WIDER.get(value.dtype, value.dtype))
            if value.requires_grad:
                wide.requires_grad_()
                self.leaves.append((wide, None))
            return wide
        if isinstance(value, torch.dtype):
            return WIDER.get(value, value)
        if isinstance(value, dict):
            return {k: self.widen(v) for k, v in value.items()}
        if isinstance(value, (tuple, list)) and not hasattr(value, "_fields"):
            return type(value)(self.widen(v) for v in value)
        return value

    def result(self, i):
        if self.results is None:
            sample, self.results = self.sample, []
            try:
                arguments = [self.widen(a) for a in (sample.input, *sample.args)]
                torch.manual_seed(SEED)
                self.results = flatten(compared(self.op, sample, self.op.op(*arguments, **self.widen(sample.kwargs))))
            except Exception:  # not for float64: nothing to decide by
                pass
        return self.results[i] if i < len(self.results) else None

    def gradient(self, i, differentiated):
        if self.grads is None:
            self.result(0)
            try:
                self.grads = gradients(self.results[:differentiated], self.leaves, torch, True) or ()
            except Exception:
                self.grads = ()
        return self.grads[i] if i < len(self.grads) else None


def compared(op, sample, results):
    return sample.output_process_fn_grad(results) if op.name in UP_TO_PHASES else results


def resolve(name):
    found = argand
    for part in name.split("."):
        found = getattr(found, part, None)
        if found is None:
            return None
    return found


# The table calls some functions with their arguments in another order, or with the product of two.
REORDERED = {
    "where": lambda x, condition, other: argand.where(condition, x, other),
    "einsum": lambda tensors, equation: argand.einsum(equation, tensors),
    "nn.functional.embedding": lambda weight, indices, **k: argand.nn.functional.embedding(indices, weight, **k),
    "nn.functional.embedding_bag": lambda weight, indices, *a, **k: argand.nn.functional.embedding_bag(indices, weight, *a, **k),
    "normal (number_mean)": lambda std, mean, *a, **k: argand.normal(mean, std, *a, **k),
    "polygamma": lambda x, n, **k: argand.polygamma(n, x, **k),
    "special.polygamma": lambda x, n, **k: argand.special.polygamma(n, x, **k),
    "linalg.pinv (singular)": lambda a, b, **k: argand.linalg.pinv(a @ b.mT, **k),
    "svd_lowrank": lambda a, b, **k: argand.svd_lowrank(a @ b.mT, **k),
    "pca_lowrank": lambda a, b, **k: argand.pca_lowrank(a @ b.mT, **k),
}
# The table's own functions seed with this number.
SEED = 42
# Which of several equal elements is meant is not said: the first result alone is compared.
ANY_POSITION = {"kthvalue", "topk", "mode"}
# The statistics that they give beside the result: PyTorch has them in the input's dtype on the CPU and in float32 on a
# GPU (here: float32 for half precision on both), and its gradient leaves out what comes through them.
WITH_STATISTICS = {"native_layer_norm", "native_group_norm", "native_batch_norm"}
# Samples that look at storages larger than the tensor, which the copies made here do not keep.
OWN_STORAGE = {("as_strided", "partial_views")}
# Entries that are a function of the table's own around the operator, with other results.
OWN_FUNCTION = {("linalg.lstsq", "grad_oriented")}
# Vectors are given up to a sign or phase: compared, with its gradient, is what the table itself differentiates of the
# results (absolute values, products in which phases cancel).
UP_TO_PHASES = {"svd", "linalg.svd", "linalg.eigh", "linalg.eig", "svd_lowrank", "pca_lowrank"}


def function_of(op):
    """Argand's function for an operator of the table: of the package, or a method."""
    name = op.name
    reordered = REORDERED.get(f"{name} ({op.variant_test_name})") or REORDERED.get(name)
    if reordered and op.variant_test_name != "in_place":
        return reordered if resolve(name) else None
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
        weights = library.linspace(0.5, 1.5, max(real.numel(), 1), dtype=library.float64)[:real.numel()].to(real.device)
        part = (real.double().reshape(-1) * weights).sum()
        total = part if total is None else total + part
    if total is None:
        return None
    inputs = [leaf[0 if theirs else 1] for leaf in leaves]
    if theirs:
        return torch.autograd.grad(total, inputs, allow_unused=True)
    return argand.autograd.grad(total, inputs, allow_unused=True)


def picked(op, sample, results, library, tensor):
    """Of sorting that does not promise an order of equal elements: the elements at the positions, in their place."""
    if op.name not in ("sort", "argsort") or sample.kwargs.get("stable"):
        return results
    dim = sample.kwargs.get("dim", sample.args[0] if sample.args else -1)
    return [tensor.gather(dim, r) if isinstance(r, library.Tensor) and r.dtype is library.int64 and r is results[-1] else r
            for r in results]


def compare_gradients(comparison, outputs, ours, leaves):
    try:
        expected = gradients(outputs, leaves, torch, True)
    except Exception:  # PyTorch has none
        return
    try:
        got = gradients(ours, leaves, argand, False) if expected is not None else None
    except Exception as error:
        comparison.note = f"gradient fails here: {str(error).splitlines()[0][:140]}"
        return
    if expected is not None and got is None:
        comparison.note = "no gradient here"
        return
    for i, (e, g) in enumerate(zip(expected or (), got or ())):
        e_none = e is None or not bool(e.abs().sum())
        if g is None and e_none or e is None and g is not None and not bool(g.abs().sum()):
            continue
        if e is None or g is None:
            comparison.note = f"gradient {'missing' if g is None else 'there is'} here"
            return
        comparison.add(e, g, lambda i=i: comparison.exact.gradient(i, len(outputs)), least=2e-4, what="gradient: ")


def run_sample(op, function, sample, counts, notes, verbose):
    leaves = []
    try:
        arguments = [to_argand(a, leaves) for a in (sample.input, *sample.args)]
        keywords = to_argand(sample.kwargs, leaves)
    except Unsupported as reason:
        counts["unsupported"] += 1
        notes[f"needs {reason}"] += 1
        return
    there = here = refused_there = refused_here = None
    torch.manual_seed(SEED)
    argand.manual_seed(SEED)
    try:
        there = compared(op, sample, op.op(sample.input, *sample.args, **sample.kwargs))
    except Exception as error:
        refused_there = error
    values = op.name not in NO_VALUES
    try:
        state = argand.cuda.get_rng_state() if device.type == "cuda" else None
        here = compared(op, sample, function(*arguments, **keywords))
        if device.type == "cuda":
            argand.cuda.synchronize()
            values = values and argand.equal(state, argand.cuda.get_rng_state())
    except Exception as error:
        refused_here = error
    outputs = flatten(there)
    lacking = [o.dtype for o in outputs if isinstance(o, torch.Tensor) and o.dtype not in DTYPES]
    if lacking:
        counts["unsupported"] += 1
        notes[f"needs {lacking[0]}"] += 1
        return
    comparison = Comparison(Exact(op, sample))
    if refused_there and refused_here:
        pass
    elif refused_there or refused_here:
        kind = "here" if refused_here else "there"
        comparison.note = f"refused {kind}: {str(refused_here or refused_there).splitlines()[0][:140]}"
    else:
        compare(comparison, op, sample, leaves, outputs, flatten(here), arguments, values)
    note = comparison.note
    counts["differ" if note else "agree"] += 1
    counts["nearer"] += comparison.nearer and not note
    if note:
        notes[note.split(",")[0] if "values differ" in note else note] += 1
        if verbose:
            print(f"    {op.name}: {note}\n      {brief((sample.input, *sample.args))} {brief(sample.kwargs)}"[:600])


def compare(comparison, op, sample, leaves, outputs, ours, arguments, values):
    if op.name in ANY_POSITION:
        outputs, ours = outputs[:1], ours[:1]
    if len(outputs) != len(ours):
        comparison.note = f"{len(outputs)} results there, {len(ours)} here"
        return
    there = picked(op, sample, outputs, torch, sample.input)
    here = picked(op, sample, ours, argand, arguments[0])
    for i, (a, b) in enumerate(zip(there, here)):
        dtypes = i == 0 or op.name not in WITH_STATISTICS
        comparison.add(a, b, lambda i=i: comparison.exact.result(i), values, dtypes, 0 if dtypes else TOLERANCE.get(a.dtype, 0))
    if comparison.note is None and leaves and values:
        last = 1 if op.name in WITH_STATISTICS else len(outputs)
        compare_gradients(comparison, outputs[:last], ours[:last], leaves)


class TooSlow(BaseException):
    pass


def alarm(*_):
    raise TooSlow("took more than a minute of processor time")


def main():
    global device
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dtypes", default=",".join(str(d).removeprefix("torch.") for d in DTYPES))
    parser.add_argument("--samples", type=int, default=60, help="at most, of an operator and dtype")
    parser.add_argument("--goal", type=float, default=97, help="the share of samples that agree, in percent")
    parser.add_argument("--device", type=argand.device, default="cpu")
    parser.add_argument("--shard", default="0/1", help="I/N: every N-th entry of the table, from the I-th on")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("operators", nargs="*")
    args = parser.parse_args()
    device = args.device
    shard, shards = map(int, args.shard.split("/"))
    dtypes = [getattr(torch, d) for d in args.dtypes.split(",")]
    signal.signal(signal.SIGPROF, alarm)
    missing, total = [], collections.Counter()
    for op in op_db[shard::shards]:
        if args.operators and op.name not in args.operators:
            continue
        function = function_of(op)
        name = op.name + (f" ({op.variant_test_name})" if op.variant_test_name else "")
        if (op.name, op.variant_test_name) in OWN_STORAGE | OWN_FUNCTION:
            continue
        if function is None:
            missing.append(name)
            continue
        counts, notes = collections.Counter(), collections.Counter()
        for dtype in dtypes:
            if dtype not in op.dtypes:
                continue
            needs_grad = dtype in (torch.float32, torch.float64, torch.complex64, torch.complex128) and op.supports_autograd
            try:
                signal.setitimer(signal.ITIMER_PROF, 60)
                for i, sample in enumerate(op.sample_inputs("cpu", dtype, requires_grad=needs_grad)):
                    if i >= args.samples:
                        break
                    run_sample(op, function, sample, counts, notes, args.verbose)
            except TooSlow as error:
                notes[str(error)] = 1
                counts["differ"] += 1
            except Exception as error:
                note = f"the samples themselves fail: {type(error).__name__} {str(error)[:100]}"
                notes[note] += 1
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
        total.update(counts)
        if counts["differ"] or counts["unsupported"]:
            print(f"{name}: {counts['agree']} agree, {counts['differ']} differ, {counts['unsupported']} unsupported", flush=True)
            for note, n in sorted(notes.items(), key=lambda i: -i[1])[:4]:
                print(f"    {n} x {note}")
    compared = total["agree"] + total["differ"]
    print(f"\nnot in Argand: {len(missing)} entries: {', '.join(missing)}")
    share = 100 * total["agree"] / max(compared, 1)
    print(f"{share:.2f} % of {compared} samples agree; {total['unsupported']} need a dtype or layout that Argand does not have")
    print(f"{total['nearer']} of those that agree differ by rounding: PyTorch's float64 result is as near to ours")
    print(f"{total['agree']} passed, {total['differ']} failed")
    return 0 if share >= args.goal else 1


if __name__ == "__main__":
    sys.exit(main())
