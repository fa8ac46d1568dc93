"""Writes autocast_dtypes.txt: what dtypes PyTorch's ops give under autocast, for tests/conformance/autocast_test.cpp.

    argand_samples_dump | python tests/data/make_autocast_dtypes.py > tests/data/autocast_dtypes.txt      (needs PyTorch)

One line per op that autocast changes on the CPU (bfloat16) or on CUDA (float16); the others are not listed.

    OP DEVICE FLOAT32 LOW MIXED

are the dtypes of the results (joined by commas) of the op's first sample when its floating-point tensors are float32, when
they are of the lower dtype, and when the first is of the lower dtype and the others are float32; "error" where PyTorch
refuses.  CUDA calls are made with tensors that have a device and no elements, so no GPU is needed; "unknown" is what cannot be
called so.
"""
import json
import sys
from pathlib import Path

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

sys.path.insert(0, str(Path(__file__).parents[1] / "parity"))
from parity import Call, candidates  # noqa: E402

# Calls with such tensors are made of other ops here than on a GPU.
OTHERWISE_MADE = {"affine_grid_generator"}
# Made in PyTorch of products of what an op on its lists gives, and so in the lower dtype whatever comes in; here they are
# ops of their own, or made of such.
BY_ACCIDENT = ("linalg_pinv", "linalg_polar")
LOW = {"cpu": torch.bfloat16, "cuda": torch.float16}


class Autocast:
    """torch.autocast, also for CUDA where there is none."""

    def __init__(self, device, enabled):
        self.device, self.enabled = device, enabled

    def __enter__(self):
        torch.set_autocast_enabled(self.device, self.enabled)

    def __exit__(self, *exc):
        torch.set_autocast_enabled(self.device, False)
        torch.clear_autocast_cache()


def first_samples(lines):
    """The first valid float64 record of each op."""
    out = {}
    for line in lines:
        record = json.loads(line)
        if record["dtype"] == "float64" and not record["must_fail"] and "error" not in record:
            out.setdefault(record["op"], record)
    return out


def converted(call, device, first, others):
    """Replaces float64 tensors among the arguments."""
    position = 0

    def convert(v):
        nonlocal position
        if isinstance(v, list) and any(isinstance(t, torch.Tensor) for t in v):
            return [convert(t) for t in v]
        if not isinstance(v, torch.Tensor):
            return v
        if v.dtype == torch.float64:
            v = v.to(first if position == 0 else others)
            position += 1
        return v if device == "cpu" else torch.empty_strided(v.shape, v.stride(), dtype=v.dtype, device="cuda:0")

    call.args = [convert(v) for v in call.args]
    call.kwargs = {k: convert(v) for k, v in call.kwargs.items()}


def outcome(record, device, first, others, enabled):
    call = Call(record)
    with FakeTensorMode(allow_non_fake_inputs=True) if device == "cuda" else Autocast("cpu", False):
        converted(call, device, first, others)
        with Autocast(device, enabled):
            try:
                results = call.run()
            except Exception:  # noqa: BLE001: whatever it refuses with
                return "error"
    return ",".join("none" if r is None else str(r.dtype).removeprefix("torch.") for r in results)


def main():
    if len(sys.argv) > 1:
        sys.exit(__doc__)
    for op, record in first_samples(sys.stdin).items():
        if not candidates(record["schema"].split("(")[0].split(".")[0]):
            continue
        for device, low in LOW.items():
            inputs = ((torch.float32, torch.float32), (low, low), (low, torch.float32))
            plain, cast = ([outcome(record, device, *i, enabled) for i in inputs] for enabled in (False, True))
            if device == "cuda" and (op in OTHERWISE_MADE or all(o == "error" for o in plain + cast)):
                cast = ["unknown"] * 3
            if device == "cpu" and op.startswith(BY_ACCIDENT):
                cast = ["unknown"] * 3
            if plain != cast:
                print(op, device, *cast)


if __name__ == "__main__":
    main()
