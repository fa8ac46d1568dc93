#!/usr/bin/env python3
"""Writes python/argand/_aten_schemas.txt: the schemas of PyTorch's ops that there are here, by their names and overloads.

Run it with a Python that has PyTorch, when ops were added: `$ARGAND_TORCH_PYTHON tools/aten_schemas.py`.
"""
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools" / "generate"))
from definitions import read_ops  # noqa: E402

# Methods that are made by hand, and ops that only python/argand/library.py or _dispatch.py name.
MORE = ("_fill_mem_eff_dropout_mask_ _local_scalar_dense _pin_memory _reshape_alias _unsafe_view convolution convolution_backward detach_ "
        "dim is_complex is_floating_point is_pinned is_set_to is_signed item lift lift_fresh lift_fresh_copy numel pin_memory "
        "record_stream requires_grad_ resize_ resize_as_ set_ size storage_offset stride to_dense").split()


def main():
    import torch
    names = {schema.name for op in read_ops(ROOT / "argand" / "ops") for schema in op.schemas}
    names |= {name + "_" for name in names} | set(MORE)
    lines = []
    for schema in torch._C._jit_get_all_schemas():
        namespace, _, name = schema.name.partition("::")
        if namespace != "aten" or name not in names:
            continue
        full = schema.name + ("." + schema.overload_name if schema.overload_name else "")
        try:
            composite = torch._C._dispatch_has_kernel_for_dispatch_key(full, "CompositeImplicitAutograd")
        except RuntimeError:  # of TorchScript alone
            continue
        lines.append(("~" if composite else "") + str(schema).removeprefix("aten::"))
    (ROOT / "python" / "argand" / "_aten_schemas.txt").write_text("\n".join(sorted(set(lines))) + "\n")
    print(f"{len(lines)} schemas, PyTorch {torch.__version__}")


if __name__ == "__main__":
    main()
