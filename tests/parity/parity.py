#!/usr/bin/env python3
"""Replays every sample of every op on PyTorch: parity.py --dump build/release/bin/argand_samples_dump [OP...]

The dump holds arguments, results and gradients (argand_samples_dump says how).  Each call is looked up by its name
in torch.ops.aten, torch, torch.nn.functional and torch.Tensor.  Per op, forward calls and gradients are counted as
  agree    same shapes, dtypes and values; or both refuse
  differ   one of these is different
  lacks    PyTorch takes the call, Argand does not
  extra    Argand takes the call, PyTorch does not (no failure)
  missing  PyTorch has no op of this name
How near values must be is told in nearness.py.  Differences that are meant stand in known.txt with their reason; a line that nothing
matches any more is a failure of a run of all ops.  Without PyTorch nothing is done, with exit status 77.
ARGAND_TORCH_PYTHON may name a Python that has it.
"""
import argparse
import base64
import contextlib
import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

import any_processor  # noqa: F401  before torch

try:
    import torch
except ImportError:
    other = os.environ.pop("ARGAND_TORCH_PYTHON", None)  # popped: tried once
    if other:
        os.execv(other, [other, *sys.argv])
    print("parity: skipped, because this Python cannot import torch (ARGAND_TORCH_PYTHON may name one that can)")
    sys.exit(77)

import warnings

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from known import Known, describes  # noqa: E402
from nearness import WIDER, Exact, far, wide, worst

warnings.filterwarnings("ignore")
torch.set_num_threads(1)

SEED = 20240607
# Units in the last place of a result, and of the inputs: of results, and of gradients, which are the work of several operators.
FORWARD, GRADIENT = (4, 8), (16, 32)


# ---- from the dump to torch


def tensor(j):
    dtype = getattr(torch, j["dtype"])
    data = bytearray(base64.b64decode(j["data"]))
    if not data:
        return torch.empty(j["shape"], dtype=dtype)
    return torch.frombuffer(data, dtype=dtype).reshape(j["shape"]).clone()


def value(j):
    """An argument; a dict for TensorOptions."""
    if j is None:
        return None
    (kind, v), = j.items()
    if kind == "tensor":
        return tensor(v)
    if kind == "tensors":
        return [None if t is None else tensor(t) for t in v]
    if kind == "scalars":
        return [value(number) for number in v]
    if kind == "complex":
        return complex(*v)
    if kind == "float":
        return float(v)
    if kind in ("dtype", "memory_format"):
        return getattr(torch, v)
    if kind == "device":
        return torch.device(v)
    if kind == "options":
        return {k: getattr(torch, x) if k != "device" else x for k, x in v.items()}
    return v  # bool, int, float, str, ints, floats


with contextlib.suppress(ImportError):  # whose ops are there, too
    import torchvision  # noqa: F401


def candidates(name):
    """Callables PyTorch may have under this name, most literal first; torchvision, where it is installed, those of its own."""
    library, _, own = name.rpartition("::")
    if library:
        packet = getattr(getattr(torch.ops, library), own, None)
        return [packet] if packet is not None else []
    found = []
    # The form with _nd takes any number of dimensions.
    for packet in (getattr(torch.ops.aten, name, None), getattr(torch.ops.aten, name + "_nd", None)):
        if packet is not None:
            found.append(packet)
    for place in (torch, torch.nn.functional, torch.special, torch._C._nn, torch.Tensor):
        f = getattr(place, name, None)
        if callable(f):
            found.append(f)
    return found


class Call:
    def __init__(self, record):
        self.record = record
        self.name = record["called"]
        self.args, self.kwargs, self.options = [], {}, {}
        for name, j, how, _ in record["args"]:
            v = value(j)
            if isinstance(v, dict):
                self.options = v
            elif how == "keyword":
                self.kwargs[name] = v
            else:
                self.args.append(v)
        self.kwargs = {k: v for k, v in self.kwargs.items() if v is not None and k != "generator"}
        self.kwargs.update(self.options)

    def widened(self, change):
        """The same call with float64 tensors, to which change() is applied."""
        def widen(v):
            if isinstance(v, torch.Tensor):
                return change(v.to(WIDER.get(v.dtype, v.dtype)))
            if isinstance(v, torch.dtype):
                return WIDER.get(v, v)
            return [widen(x) for x in v] if isinstance(v, list) else v
        self.args, self.kwargs = [widen(v) for v in self.args], {k: widen(v) for k, v in self.kwargs.items()}
        return self

    def tensors(self):
        """All tensors among the arguments, as the dump numbers them: wrapped numbers and missing ones count."""
        out = []
        for (_, _, _, type_), v in zip(self.record["args"], self.values()):
            if type_.startswith("Tensor") and type_ != "TensorOptions":
                out += v if isinstance(v, list) else [v if isinstance(v, torch.Tensor) else None]
        return out

    def values(self):
        positional = iter(self.args)
        for name, j, how, _ in self.record["args"]:
            if j is not None and "options" in j:
                yield None
            elif how == "keyword":
                yield self.kwargs.get(name)
            else:
                yield next(positional)

    def run(self):
        """The results as a list; raises what PyTorch raised if no candidate takes the call."""
        error = None
        for f in candidates(self.name):
            torch.manual_seed(SEED)
            args = list(self.args)
            if self.name.endswith("_") and isinstance(args[0], torch.Tensor):
                args[0] = args[0].clone()
            try:
                result = f(*args, **self.kwargs)
            except Exception as e:  # noqa: BLE001: whatever it refuses with
                error = error or e
                continue
            if isinstance(result, torch.Tensor):
                return [result]
            if isinstance(result, (tuple, list)):
                return [t for part in result for t in (part if isinstance(part, (tuple, list)) else [part])]
            return [torch.tensor(result)]
        raise error


# ---- comparing


def difference(got, want, exact, i, limits):
    """None if the values agree, else a sentence."""
    if got.numel() == 0:
        return None
    a, b = wide(want), wide(got)
    differ = far(a, b, exact, i, got.dtype, *limits)
    return worst(a, b, differ, got.dtype) if bool(differ.any()) else None


def compare(ours, theirs, exact):
    """None if they agree, else why not."""
    theirs = [t for t in theirs]
    if len(ours) != len(theirs):
        return f"{len(ours)} results instead of {len(theirs)}"
    for i, (j, t) in enumerate(zip(ours, theirs)):
        if j is None or t is None:
            if not (j is None and (t is None or t.numel() == 0)):
                return f"result {i} is undefined in one"
            continue
        got = tensor(j)
        t = t.detach().resolve_conj()
        if got.dtype != t.dtype:
            return f"result {i}: dtype {got.dtype} instead of {t.dtype}".replace("torch.", "")
        if list(got.shape) != list(t.shape):
            return f"result {i}: shape {list(got.shape)} instead of {list(t.shape)}"
        note = difference(got, t, exact, i, FORWARD)
        if note:
            return f"result {i}: {note}"
    return None


def forward(call):
    """(outcome, why)"""
    record = call.record
    try:
        theirs = call.run()
    except Exception as e:  # noqa: BLE001
        text = str(e).split("\n")[0][:90]
        return ("agree", "") if "error" in record else ("extra", text)
    if "error" in record:
        return ("lacks", record["error"][:110])
    if record.get("unset"):
        theirs = [torch.zeros_like(t) for t in theirs]
        for r, t in zip(record["results"], theirs):
            r["data"] = base64.b64encode(bytes(t.numel() * t.element_size())).decode()
    why = compare(record["results"], theirs, Exact(lambda change: Call(record).widened(change).run()))
    return ("differ", why) if why else ("agree", "")


def cotangents_of(record, results):
    """What the gradients are for, one for each result that has a gradient here."""
    return [None if c is None else tensor(c) for c in record["cotangents"] or [None] * len(results)]


def exact_gradients(record, change):
    call = Call(record).widened(change)
    tensors = call.tensors()
    wanted = [tensors[i].detach().requires_grad_(True) for i in record["differentiate"]]
    by_id = {id(tensors[i]): w for i, w in zip(record["differentiate"], wanted)}

    def leaf(v):
        return [leaf(x) for x in v] if isinstance(v, list) else by_id.get(id(v), v)
    call.args, call.kwargs = [leaf(v) for v in call.args], {k: leaf(v) for k, v in call.kwargs.items()}
    results = call.run()
    roots = [(r, change(c.to(r.dtype))) for r, c in zip(results, cotangents_of(record, results)) if c is not None]
    grads = torch.autograd.grad([r for r, _ in roots], wanted, [c for _, c in roots], allow_unused=True)
    return [torch.zeros_like(w) if g is None else g for g, w in zip(grads, wanted)]


def gradient(call):
    """(outcome, why), or None where there is none to compare."""
    record = call.record
    if not record.get("differentiate"):
        return None
    tensors = call.tensors()
    wanted = []
    for i in record["differentiate"]:
        tensors[i].requires_grad_(True)
        wanted.append(tensors[i])
    try:
        results = call.run()
    except Exception:  # noqa: BLE001: counted by forward()
        return None
    cotangents = cotangents_of(record, results)
    roots = [(r, c) for r, c in zip(results, cotangents) if c is not None]
    theirs_differentiable = [r is not None and r.requires_grad for r in results]
    ours_differentiable = [c is not None for c in cotangents]
    if theirs_differentiable != ours_differentiable:
        return ("differ", f"results that require grad: {ours_differentiable} instead of {theirs_differentiable}")
    if not roots:
        return None
    try:
        theirs = torch.autograd.grad([r for r, _ in roots], wanted, [c for _, c in roots], allow_unused=True)
    except Exception as e:  # noqa: BLE001
        return ("extra", str(e).split("\n")[0][:90])
    exact = Exact(lambda change: exact_gradients(record, change))
    for i, (j, t) in enumerate(zip(record["gradients"], theirs)):
        ours = torch.zeros_like(wanted[i]) if j is None else tensor(j)
        t = torch.zeros_like(wanted[i]) if t is None else t.detach().resolve_conj()
        if ours.dtype != t.dtype or ours.shape != t.shape:
            return ("differ", f"gradient {i}: {ours.dtype} {list(ours.shape)} instead of {t.dtype} {list(t.shape)}")
        note = difference(ours, t, exact, i, GRADIENT)
        if note:
            return ("differ", f"gradient {i}: {note}")
    return ("agree", "")


# ---- the table


def is_known(known, op, text):
    """Whether known.txt has it: op (or *) | a part of the description (or *) | reason."""
    return known.explains(lambda line: line.where in (op, "*") and (line.difference == "*" or describes(line.difference, text)))


def judge(line):
    """[(part, outcome, why)] for one record; an empty list where PyTorch has no op of this name."""
    call = Call(json.loads(line))
    if not candidates(call.name):
        return []
    parts = (("forward", forward(call)), ("gradient", gradient(Call(json.loads(line)))))
    return [(part, *result) for part, result in parts if result is not None]


class Judge:
    """judge() in a process of its own: some invalid calls kill PyTorch."""

    def __init__(self):
        self.pid = None

    def start(self):
        to_read, self.to = os.pipe()
        self.of, from_write = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            with os.fdopen(to_read) as lines, os.fdopen(from_write, "w") as answers:
                os.close(self.to)
                os.close(self.of)
                for line in lines:
                    print(json.dumps(judge(line)), file=answers, flush=True)
            os._exit(0)
        os.close(to_read)
        os.close(from_write)
        self.lines, self.answers = os.fdopen(self.to, "w"), os.fdopen(self.of)

    def __call__(self, line):
        if self.pid is None:
            self.start()
        self.lines.write(line)
        self.lines.flush()
        answer = self.answers.readline()
        if answer:
            return json.loads(answer)
        _, status = os.waitpid(self.pid, 0)
        self.pid = None
        return [("forward", "extra", f"PyTorch died of signal {os.WTERMSIG(status)}")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dump", required=True, help="the argand_samples_dump program")
    parser.add_argument("--all", action="store_true", help="list ops that agree in everything, too")
    parser.add_argument("ops", nargs="*")
    options = parser.parse_args()
    known = Known(Path(__file__).parent / "known.txt")
    counts, details, grouped = defaultdict(Counter), {}, defaultdict(set)
    process = subprocess.Popen([options.dump, *options.ops], stdout=subprocess.PIPE, text=True)
    total = Counter()
    judged = Judge()
    for line in process.stdout:
        record = json.loads(line)
        op = record["op"]
        results = judged(line)
        if not results:
            counts[op]["missing"] += 1
            total["missing"] += 1
        for part, outcome, why in results:
            text = f"{part}: {why}"
            description = f"{outcome} {text} {record['dtype']}; sample {record['sample']} {text}"
            if outcome in ("differ", "lacks") and is_known(known, op, description):
                outcome = "known"
            counts[op][f"{part} {outcome}"] += 1
            total[outcome] += 1
            if outcome in ("differ", "lacks", "extra"):
                key = (op, outcome, part)
                grouped[key].add(record["dtype"] or "-")
                details.setdefault(key, f"sample {record['sample']} {record['dtype']}: {why}")
    if process.wait() != 0:
        print(f"parity: {options.dump} failed with status {process.returncode}")
        return 1

    columns = ["forward agree", "forward differ", "forward lacks", "forward extra", "gradient agree", "gradient differ", "missing", "known"]
    print(f"{'op':34}" + "".join(f"{c.replace('forward ', 'f.').replace('gradient ', 'g.'):>10}" for c in columns))
    for op, c in counts.items():
        c["known"] = c["forward known"] + c["gradient known"]
        if options.all or any(c[k] for k in columns if not k.endswith("agree")):
            print(f"{op:34}" + "".join(f"{c[k] or '':>10}" for k in columns))
    for kind in ("extra", "lacks", "differ"):
        lines = [(k, v) for k, v in details.items() if k[1] == kind]
        if lines:
            print(f"\n{kind}:")
        for (op, outcome, part), why in lines:
            print(f"  {op} ({part}; {', '.join(sorted(grouped[op, outcome, part]))}): {why}")
    print()
    stale = [] if options.ops else known.stale()
    print("".join(f"{line}\n" for line in stale), end="")
    failed = total["differ"] + total["lacks"] + len(stale)
    print(f"{total['known']} differ as known.txt says; {total['extra']} are taken here alone; PyTorch has no op of the name of {total['missing']}")
    print(f"{total['agree']} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
