#!/usr/bin/env python3
"""Runs PyTorch's own samples of its operators (op_db) through both libraries, by the Python front.

    op_db.py [--dtypes float32,...] [--samples N] [--device cuda] [--shard I/N] [--verbose] [OPERATOR...]

For every entry of the table: forward results (values, shapes, dtypes), gradients, and whether both refuse a sample.  How near values
must be is told in nearness.py.  Differences that are meant stand in op_db_known.txt, a line for each kind:

    ENTRY | DTYPES | FROM | DIFFERENCE | REASON

FROM is the number of the first sample that has it, DIFFERENCE a part of what is printed of it, or `values differ by < X`, a bound
by the largest value of the tensor or 1; several dtypes may have bounds of their own, `values differ by < float32:1e-06,float64:1e-14`.
Any other difference is a failure, and so is a line that this run covers and that nothing matches.  What could not be compared (a dtype or layout that Argand does
not have, an entry whose samples cannot be made) is counted and printed with its reason.  Last `N passed, N failed`.  Without PyTorch
nothing is done, with exit status 77.

With --device cuda our side runs on the GPU and PyTorch's, as always, on the CPU; values that are drawn are then not
compared, because the generators are others, and lines that nothing matches are left alone.
"""
import argparse
import collections
import itertools
import os
import signal
import sys
import warnings
from pathlib import Path

import any_processor  # noqa: F401  before torch

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
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from known import Known, describes, kind_of  # noqa: E402
from nearness import WIDER, Exact, far, wide, worst

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
# Units in the last place of a result, and of the inputs: of results, and of gradients, which are the work of several operators.
FORWARD, GRADIENT = (4, 8), (16, 32)

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


def numbers(tensor):
    """The elements of either library's tensor as a PyTorch tensor of float64 or complex128."""
    if isinstance(tensor, torch.Tensor):
        return wide(tensor)
    dtype = argand.complex128 if tensor.is_complex() else argand.float64
    return torch.from_numpy(tensor.detach().cpu().to(dtype).numpy().copy())


class Comparison:
    """The comparison of one sample's results.  `note` is the first difference, or None."""

    def __init__(self, op, sample):
        self.op, self.sample, self.note = op, sample, None
        self.results = Exact(lambda change: self.exact(change)[0])
        self.differentiated = 0

    def exact(self, change):
        """What PyTorch gives in float64, and the tensors that are differentiated."""
        leaves = []

        def widen(value):
            if isinstance(value, torch.Tensor):
                tensor = change(value.detach().to(WIDER.get(value.dtype, value.dtype)))
                if value.requires_grad:
                    tensor = tensor.detach().requires_grad_()
                    leaves.append((tensor, None))
                return tensor
            if isinstance(value, torch.dtype):
                return WIDER.get(value, value)
            if isinstance(value, dict):
                return {k: widen(v) for k, v in value.items()}
            if isinstance(value, (tuple, list)) and not hasattr(value, "_fields"):
                return type(value)(widen(v) for v in value)
            return value

        arguments = [widen(a) for a in (self.sample.input, *self.sample.args)]
        torch.manual_seed(SEED)
        return flatten(compared(self.op, self.sample, self.op.op(*arguments, **widen(self.sample.kwargs)))), leaves

    def exact_gradients(self, change):
        results, leaves = self.exact(change)
        return gradients(results[:self.differentiated], leaves, torch, True, change)

    def add(self, theirs, ours, exact, i, limits, values=True, dtypes=True, what=""):
        if self.note is None:
            note = self.difference(theirs, ours, exact, i, limits, values, dtypes)
            self.note = note and what + note

    def difference(self, theirs, ours, exact, i, limits, values, dtypes):
        if isinstance(theirs, torch.Tensor):
            if not isinstance(ours, argand.Tensor):
                return f"expected a tensor, got {type(ours).__name__}"
            if tuple(theirs.shape) != tuple(ours.shape):
                return f"shape {tuple(theirs.shape)} there, {tuple(ours.shape)} here"
            if dtypes and DTYPES[theirs.dtype] is not ours.dtype:
                return f"dtype {theirs.dtype} there, {ours.dtype} here"
            if not values:
                return None
            a, b = numbers(theirs), numbers(ours)
            differ = far(a, b, exact, i, theirs.dtype, *limits)
            return worst(a, b, differ, theirs.dtype) if bool(differ.any()) else None
        if isinstance(theirs, (bool, int, float, complex)):
            ok = theirs == ours or (theirs != theirs and ours != ours) or (
                isinstance(theirs, float) and abs(theirs - ours) <= 2.0**-50 * abs(theirs))
            return None if ok else f"{theirs} there, {ours} here"
        return None if type(theirs) is type(ours) or theirs == ours else f"{theirs!r} there, {ours!r} here"


def compared(op, sample, results, library=torch):
    if op.name in UP_TO_PHASES:
        results = sample.output_process_fn_grad(results)
    return in_order(results, library) if op.name in ANY_ORDER else results


def in_order(results, library):
    """Sorts eigenvalues by their real parts, then their imaginary parts, and eigenvectors in the same order."""
    values, vectors = results if isinstance(results, tuple) else (results, None)
    order = library.argsort(values.imag, dim=-1, stable=True)
    order = order.gather(-1, library.argsort(values.real.gather(-1, order), dim=-1, stable=True))
    if vectors is None:
        return values.gather(-1, order)
    return values.gather(-1, order), vectors.gather(-1, order.unsqueeze(-2).expand(vectors.shape))


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


# Eigenvalues of a general matrix stand in any order.
ANY_ORDER = {"linalg.eig", "linalg.eigvals"}


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


def gradients(outputs, leaves, library, theirs, change=lambda t: t):
    """The gradients of the sum of all differentiable outputs times fixed weights, to which change() is applied."""
    total = None
    for o in outputs:
        if not isinstance(o, library.Tensor) or not o.requires_grad:
            continue
        real = library.view_as_real(o.resolve_conj() if theirs else o) if o.is_complex() else o
        weights = library.linspace(0.5, 1.5, max(real.numel(), 1), dtype=library.float64)[:real.numel()].to(real.device)
        part = (real.double().reshape(-1) * change(weights)).sum()
        total = part if total is None else total + part
    if total is None:
        return None
    inputs = [leaf[0 if theirs else 1] for leaf in leaves]
    if theirs:
        return torch.autograd.grad(total, inputs, allow_unused=True)
    return argand.autograd.grad(total, inputs, allow_unused=True)


def picked(op, sample, results, library, tensor):
    """The results to compare.  If a sort promises no order of equal elements, the elements at the positions replace the positions."""
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
    comparison.differentiated = len(outputs)
    exact = Exact(comparison.exact_gradients)
    for i, (e, g) in enumerate(zip(expected or (), got or ())):
        e_none = e is None or not bool(e.abs().sum())
        if g is None and e_none or e is None and g is not None and not bool(g.abs().sum()):
            continue
        if e is None or g is None:
            comparison.note = f"gradient {'missing' if g is None else 'there is'} here"
            return
        comparison.add(e, g, exact, i, GRADIENT, what="gradient: ")


def run_sample(op, function, sample):
    """What happened: ("agree", ""), ("differ", note) or ("unsupported", reason)."""
    leaves = []
    try:
        arguments = [to_argand(a, leaves) for a in (sample.input, *sample.args)]
        keywords = to_argand(sample.kwargs, leaves)
    except Unsupported as reason:
        return "unsupported", f"needs {reason}"
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
        here = compared(op, sample, function(*arguments, **keywords), argand)
        if device.type == "cuda":
            argand.cuda.synchronize()
            values = values and argand.equal(state, argand.cuda.get_rng_state())
    except Exception as error:
        refused_here = error
    outputs = flatten(there)
    lacking = [o.dtype for o in outputs if isinstance(o, torch.Tensor) and o.dtype not in DTYPES]
    if lacking:
        return "unsupported", f"needs {lacking[0]}"
    comparison = Comparison(op, sample)
    if refused_there and refused_here:
        pass
    elif refused_there or refused_here:
        kind = "here" if refused_here else "there"
        text = str(refused_here or refused_there)
        comparison.note = f"refused {kind}: {text.splitlines()[0][:140] if text else type(refused_here or refused_there).__name__}"
    else:
        compare(comparison, op, sample, leaves, outputs, flatten(here), arguments, values)
    return ("differ", comparison.note) if comparison.note else ("agree", "")


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
        comparison.add(a, b, comparison.results, i, FORWARD, values, dtypes)
    if comparison.note is None and leaves and values:
        last = 1 if op.name in WITH_STATISTICS else len(outputs)
        compare_gradients(comparison, outputs[:last], ours[:last], leaves)


class TooSlow(BaseException):
    pass


def alarm(*_):
    raise TooSlow("took more than a minute of processor time")


def samples_of(op, dtype, most):
    """Numbered."""
    needs_grad = dtype in (torch.float32, torch.float64, torch.complex64, torch.complex128) and op.supports_autograd
    return itertools.islice(enumerate(op.sample_inputs("cpu", dtype, requires_grad=needs_grad)), most)


class Report:
    def __init__(self, known, verbose):
        self.known, self.verbose = known, verbose
        self.total, self.left_out, self.ran, self.lines = collections.Counter(), collections.Counter(), set(), {}

    def add(self, entry, dtype, number, outcome, note, sample=None):
        if outcome == "unsupported":
            self.left_out[note] += 1
        if outcome == "differ" and self.known.explains(lambda line: matches(line, entry, dtype, note)):
            outcome = "known"
        self.total[outcome] += 1
        if outcome != "differ":
            return
        kind = kind_of(note)
        first, dtypes, n, example = self.lines.get((entry, kind), (number, set(), 0, note))
        self.lines[entry, kind] = (min(first, number), dtypes | {dtype}, n + 1, example)
        if self.verbose and sample is not None:
            print(f"    {entry} {dtype} {number}: {note}\n      {brief((sample.input, *sample.args))} {brief(sample.kwargs)}"[:600], flush=True)

    def finish(self, entries, dtypes, samples, whole):
        """Prints what differs as lines that the file could have, and why; the number of failures."""
        for (entry, kind), (first, of, n, note) in self.lines.items():
            print(f"{entry} | {','.join(sorted(of))} | {first} | {kind} | ? ({n} samples: {note})")
        for reason, n in sorted(self.left_out.items(), key=lambda i: -i[1]):
            print(f"{n} samples left out: {reason}")

        def covered(line):
            of = set(line.fields[1].split(","))
            return whole and line.where in entries and int(line.fields[2]) < samples and ("*" in of or of <= dtypes)
        stale = self.known.stale(covered)
        print("".join(f"{line}\n" for line in stale), end="")
        t = self.total
        print(f"{t['known']} samples differ as {self.known.path.name} says; {t['unsupported']} left out")
        print(f"{t['agree']} passed, {t['differ'] + len(stale)} failed")
        return t["differ"] + len(stale)


def for_dtype(difference, dtype):
    """A line's DIFFERENCE with the bound that is for this dtype."""
    text, less, bounds = difference.partition("values differ by < ")
    return text + less + dict(bound.split(":") for bound in bounds.split(","))[dtype] if ":" in bounds else difference


def matches(line, entry, dtype, note):
    return line.where == entry and (line.fields[1] == "*" or dtype in line.fields[1].split(",")) and describes(
        for_dtype(line.difference, dtype), note)


def run_entry(op, entry, dtypes, most, report):
    function = function_of(op)
    if function is None:
        return report.add(entry, "*", 0, "differ", "Argand has no such function")
    if (op.name, op.variant_test_name) in OWN_STORAGE:
        return report.add(entry, "*", 0, "unsupported", "samples look at storages larger than the tensor, which the copies made here do not keep")
    if (op.name, op.variant_test_name) in OWN_FUNCTION:
        return report.add(entry, "*", 0, "unsupported", "the entry is a function of the table's own around the operator, with other results")
    for dtype in dtypes:
        name = str(dtype).removeprefix("torch.")
        if dtype not in op.dtypes:
            continue
        number = 0
        try:
            samples = samples_of(op, dtype, most)
            while True:
                signal.setitimer(signal.ITIMER_PROF, 60)  # for each sample; those of grid_sampler_3d take that long together
                try:
                    number, sample = next(samples)
                except StopIteration:
                    break
                except Exception as error:
                    why = f"the samples of {entry} cannot be made: {type(error).__name__} {str(error).strip()[:100]}"
                    report.add(entry, name, number, "unsupported", why)
                    break
                report.add(entry, name, number, *run_sample(op, function, sample), sample)
        except TooSlow as error:
            report.add(entry, name, number, "differ", str(error))
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)


def main():
    global device
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dtypes", default=",".join(str(d).removeprefix("torch.") for d in DTYPES))
    parser.add_argument("--samples", type=int, default=60, help="at most, of an operator and dtype")
    parser.add_argument("--device", type=argand.device, default="cpu")
    parser.add_argument("--shard", default="0/1", help="I/N: every N-th entry of the table, from the I-th on")
    parser.add_argument("--verbose", action="store_true", help="print the arguments of samples that differ")
    parser.add_argument("operators", nargs="*")
    args = parser.parse_args()
    device = args.device
    shard, shards = map(int, args.shard.split("/"))
    dtypes = [getattr(torch, d) for d in args.dtypes.split(",")]
    signal.signal(signal.SIGPROF, alarm)
    report, entries = Report(Known(Path(__file__).parent / "op_db_known.txt", fields=5), args.verbose), set()
    for op in op_db[shard::shards]:
        if args.operators and op.name not in args.operators:
            continue
        entry = op.name + (f" ({op.variant_test_name})" if op.variant_test_name else "")
        entries.add(entry)
        run_entry(op, entry, dtypes, args.samples, report)
    names = {str(d).removeprefix("torch.") for d in dtypes}
    return 1 if report.finish(entries, names, args.samples, device.type == "cpu") else 0


if __name__ == "__main__":
    sys.exit(main())
