#!/usr/bin/env python3
"""Generates the public API from the op definitions: `generate.py --out DIR`.

Reads argand/ops/**/*.cpp of the repository this file is in; writes below DIR
  argand/ops/<family>/args.h        argument structs
  argand/ops/<family>/functions.cpp functions and methods
  argand/ops/<family>/copies.cpp    definitions of permute_copy and the like
  argand/ops/<family>/boxed.cpp     calls by name, and argand/ops/boxed_table.cpp
  argand/ops/functions.h            declarations of functions, but for families that have a functions.h of their own
  argand/ops/namespaces.h           those that PyTorch has in namespaces, argand::fft, argand::linalg, argand::special
  argand/ops/table.cpp              all_ops()
  argand/c/argand_ops.h             functions of C
  names.txt                         of the functions, one a line, for a header each under LibTorch's paths
  argand/core/tensor_methods.inc    declarations of methods
  docs/operators.md                 the reference page
  docs/results.md                   what the benchmarks measured, from bench/results
  docs/python-names.md              names of PyTorch that are not here, from python/argand/_surface
  java/org/argand/Ops.java          operators of the Java package, and TensorOps.java
  python/bindings/<family>.cpp      the Python front's functions and methods
  python/_C.pyi                     their types, for tools
  python/return_types.pyi           the named tuples that they return
A file whose text would not change keeps its time.  Python's standard library only.
"""
import argparse
import itertools
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import boxed  # noqa: E402
import c_header  # noqa: E402
import emit  # noqa: E402
import java  # noqa: E402
import names_page  # noqa: E402
import python_front  # noqa: E402
import results_page  # noqa: E402
from definitions import calls_left_to_cpu, read_ops  # noqa: E402
from schema import SchemaError  # noqa: E402


def write(path, text):
    if path.exists() and path.read_text() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, type=Path)
    out = parser.parse_args().out
    ops_dir = Path(__file__).resolve().parents[2] / "argand" / "ops"
    try:
        ops = read_ops(ops_dir)
        left = calls_left_to_cpu(ops_dir.parents[1])
        apis = {op.name: emit.Api(op) for op in ops}
    except (SchemaError, KeyError) as e:
        print(f"generate: {e.args[0]}", file=sys.stderr)
        return 1
    order = {op.name: i for i, op in enumerate(ops)}
    families = []
    for family, group in itertools.groupby(sorted(ops, key=lambda o: o.family), key=lambda o: o.family):
        members = list(group)
        folder = out / "argand" / "ops" / family
        write(folder / "args.h", emit.args_header(members))
        write(folder / "functions.cpp", emit.definitions(family, members, [apis[o.name] for o in members]))
        write(folder / "copies.cpp", emit.copies(family, [op for op in members if op.copy_of]))
        write(folder / "boxed.cpp", boxed.family(family, members, order))
        families.append(family)
        if family in emit.APART:
            write(folder / "functions.h", emit.family_header(members, [apis[o.name] for o in members]))
    write(out / "argand" / "ops" / "boxed_table.cpp", boxed.table(families))
    in_order = [apis[op.name] for op in ops]
    usual = [op for op in ops if op.family not in emit.APART]
    write(out / "argand" / "ops" / "functions.h", emit.functions_header([apis[op.name] for op in usual]))
    write(out / "argand" / "ops" / "namespaces.h", emit.namespaces_header(usual))
    write(out / "argand" / "core" / "tensor_methods.inc", emit.methods_include(in_order))
    write(out / "argand" / "ops" / "table.cpp", emit.table(ops))
    write(out / "argand" / "c" / "argand_ops.h", c_header.header(ops))
    for name, text in zip(("Ops.java", "TensorOps.java"), java.sources(ops)):
        write(out / "java" / "org" / "argand" / name, text)
    write(out / "names.txt", "".join(f"{name}\n" for name in sorted({schema.name for op in ops for schema in op.schemas if not schema.library})))
    write(out / "docs" / "operators.md", emit.reference(ops, left))
    write(out / "docs" / "results.md", results_page.page(ops_dir.parents[1] / "bench" / "results"))
    write(out / "docs" / "python-names.md", names_page.page(ops_dir.parents[1] / "python" / "argand"))
    for name, text in python_front.bindings(ops).items():
        write(out / "python" / "bindings" / name, text)
    template = ops_dir.parents[1] / "python" / "bindings" / "_C.pyi.in"
    write(out / "python" / "_C.pyi", python_front.stubs(ops, template.read_text()))
    write(out / "python" / "return_types.pyi", python_front.return_types(ops))
    return 0


if __name__ == "__main__":
    sys.exit(main())
