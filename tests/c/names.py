#!/usr/bin/env python3
"""What libargand_c exports and has: `names.py LIBRARY HEADER`.

Every function of argand_ops.h finds its overload, and passes as many arguments as it has parameters, and as many results as it has.
The library exports no other names than argand_*, and it has no variables of libargand's headers: their inline variables would be
copies that nobody else sees."""
import ctypes
import re
import subprocess
import sys

CALL = re.compile(r'argand_(?:run_tensor_|function_call_cached)\(&f, "([^"]+)", (?:a|NULL), (\d+), (?:(\w+)\)|(\w+), (\d+)\))')


def symbols(library, *options):
    out = subprocess.run(["nm", "-C", "--defined-only", *options, library], capture_output=True, text=True, check=True).stdout
    return [line.split(maxsplit=2)[-2:] for line in out.splitlines()]


def wrong_symbols(library):
    for kind, name in symbols(library, "-D"):
        if not name.startswith("argand_") and kind != "A":
            yield f"{library} exports {name}"
    for kind, name in symbols(library):
        if kind in "bBdDuVvC" and re.match(r"argand::(?!c::)", name):
            yield f"{library} has {name} of its own"


def main(library, header):
    c = ctypes.CDLL(library)
    c.argand_error_get_message.restype = ctypes.c_char_p
    c.argand_function_find.restype = c.argand_function_sizes.restype = ctypes.c_void_p
    wrong, seen = list(wrong_symbols(library)), set()
    with open(header, encoding="utf-8") as file:
        text = file.read()
    for name, given, one, _, several in CALL.findall(text):
        function, parameters, results = ctypes.c_void_p(), ctypes.c_size_t(), ctypes.c_size_t()
        error = c.argand_function_find(name.encode(), ctypes.byref(function))
        if error:
            wrong.append(f"{name}: {c.argand_error_get_message(ctypes.c_void_p(error)).decode()}")
            continue
        c.argand_function_sizes(function, ctypes.byref(parameters), ctypes.byref(results))
        expected = 1 if one else int(several)
        if parameters.value != int(given) or expected not in (results.value, 0):
            wrong.append(f"{name}: passes {given} arguments for {parameters.value} parameters, {expected} results for {results.value}")
        if function.value in seen:
            wrong.append(f"{name}: another function of the header calls the same overload")
        seen.add(function.value)
    functions = text.count("argand_error* argand_op_")
    if len(seen) < functions or functions < 1000:
        wrong.append(f"read {len(seen)} of {functions} functions")
    print("\n".join(wrong) or f"c names: {len(seen)} functions")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
