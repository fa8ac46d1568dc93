"""Writes the Java package's operators: org/argand/Ops.java (a static method for each operator and form) and org/argand/TensorOps.java
(a method for each whose first argument is `Tensor self`).

Java has no default arguments.  So there is a method with all parameters, and one for each number of positional parameters from the
required ones on; what is left out has its default.  A method whose Java types another overload has already is left out; Ops.call()
reaches it by name."""
import html
import re

import c_header

NOTE = "// Generated from the op definitions in argand/ops by tools/generate.  Do not edit.\n"
TYPES = {"Tensor": "Tensor", "int": "long", "int?": "Long", "float": "double", "float?": "Double", "bool": "boolean", "bool?": "Boolean",
         "str": "String", "str?": "String", "Scalar": "Number", "Scalar?": "Number", "ScalarType": "DType", "ScalarType?": "DType",
         "MemoryFormat": "MemoryFormat", "MemoryFormat?": "MemoryFormat", "Device": "Device", "Generator?": "Generator", "TensorOptions": "Options"}
LISTS = {"Tensor": "Tensor[]", "int": "long[]", "float": "double[]", "bool": "boolean[]", "Scalar": "Number[]"}
KEYWORDS = set("abstract assert boolean break byte case catch char class const continue default do double else enum extends final finally "
               "float for goto if implements import instanceof int interface long native new package private protected public return short "
               "static strictfp super switch synchronized this throw throws transient try void volatile while true false null".split())


def safe(name):
    return name + "_" if name in KEYWORDS | {"a"} else name


def variants(schema, writes_first):
    """The Java types of the parameters: one list, or one for each choice of Tensor|Scalar."""
    lists = [[]]
    for i, arg in enumerate(schema.args):
        if arg.type == "Tensor|Scalar" and not (i == 0 and writes_first):
            choices = ["Tensor", "Number"]
        elif arg.type in ("Tensor?", "Tensor|Scalar"):
            choices = ["Tensor"]
        elif arg.type in TYPES:
            choices = [TYPES[arg.type]]
        else:
            choices = [LISTS[re.match(r"\w+", arg.type)[0]]]
        lists = [types + [c] for types in lists for c in choices]
    return lists


def result(schema, writes):
    if writes:
        return "void", "callNothing"
    if schema.returns == ["Tensor"]:
        return "Tensor", "callTensor"
    if schema.returns == ["bool"]:
        return "boolean", "callBoolean"
    return "Tensor[]", "callTensors"


def lengths(schema, outs):
    """How many parameters the methods of a schema take: all, and shorter ones."""
    yield len(schema.args)
    if outs:
        return
    positional = [a for a in schema.args if not a.keyword_only]
    required = sum(1 for a in positional if a.default is None)
    if any(a.default is None and a.type != "TensorOptions" for a in schema.args if a.keyword_only):
        return
    yield from range(min(len(positional), len(schema.args) - 1), required - 1, -1)


def documentation(op, schema, full):
    schema_text = html.escape(" ".join(schema.text.split()), quote=False).replace("@", "&#64;").replace("*/", "*&#47;")
    if not full:
        return f"  /** <code>{schema_text}</code> with defaults. */"
    doc = html.escape(op.doc, quote=False).replace("@", "&#64;").replace("*/", "*&#47;").replace("\\", "&#92;")
    return f"  /**\n   * {doc}\n   *\n   * <p><code>{schema_text}</code>\n   */" if doc else f"  /** <code>{schema_text}</code> */"


def sources(ops):
    """(text of Ops.java, text of TensorOps.java)."""
    names, static, methods, seen = [], [], [], set()
    for op, schema, form, full_name, _ in c_header.full_names(ops):
        called, writes_first, outs = form
        if called.startswith("_"):
            continue
        index = len(names)
        names.append(full_name)
        java_name = safe(called.replace("::", "_"))
        kind, call = result(schema, writes_first or outs or not schema.returns)
        for count in lengths(schema, outs):
            for types in variants(schema, writes_first):
                types = types[:count] + ["Tensor"] * len(outs)
                params = [safe(x.name) for x in schema.args[:count]] + outs
                if (java_name, *types) in seen:
                    continue
                seen.add((java_name, *types))
                takes_self = bool(types) and params[0] == "self" and types[0] == "Tensor" and not outs and "." not in java_name
                returns = "Tensor" if writes_first and takes_self else kind
                declared = ", ".join(f"{t} {p}" for t, p in zip(types, params))
                added = "".join(f".add({p})" for p in params)
                doc = documentation(op, schema, count == len(schema.args))
                body = f"Arguments.begin(){added}.{call}(f({index}))"
                if returns == "Tensor" and kind == "void":
                    body = f"    {body};\n    return self;"
                else:
                    body = f"    {'return ' if kind != 'void' else ''}{body};"
                static.append(f"{doc}\n  public static {returns} {java_name}({declared}) {{\n{body}\n  }}\n")
                if takes_self:
                    rest = ", ".join(f"{t} {p}" for t, p in zip(types[1:], params[1:]))
                    given = ", ".join(["(Tensor) this", *params[1:]])
                    back = "return " if returns != "void" else ""
                    methods.append(f"{doc}\n  public {returns} {java_name}({rest}) {{\n    {back}Ops.{java_name}({given});\n  }}\n")
    listed = "\n".join(f'          + "{name}\\n"' for name in names)
    ops_text = (NOTE + "package org.argand;\n\nimport org.argand.internal.Arguments;\nimport org.argand.internal.Library;\n\n"
                "/** Every operator whose name does not begin with an underscore, in each of its forms, under its own name. */\n"
                "public final class Ops {\n  private static final String[] NAMES = (\"\"\n" + listed + ").split(\"\\n\");\n"
                "  private static final long[] FOUND = new long[NAMES.length];\n\n  private Ops() {}\n\n"
                "  // Threads that come at the same time find the same.\n  private static long f(int i) {\n    long found = FOUND[i];\n"
                "    return found != 0 ? found : (FOUND[i] = Library.NATIVE.find(Library.utf8(NAMES[i])));\n  }\n\n"
                "  /**\n   * Calls the operator {@code name}: the first overload that takes these arguments, which are tensors, numbers, Boolean, String,\n"
                "   * DType, Device, MemoryFormat, Options, Generator, arrays of these, or null for a default. Returns all results.\n   */\n"
                "  public static Object[] call(String name, Object... arguments) {\n    Arguments a = Arguments.begin();\n"
                "    for (Object x : arguments) a.addAny(x);\n    return a.call(0, Library.utf8(name));\n  }\n\n"
                + "\n".join(static) + "}\n")
    tensor_text = (NOTE + "package org.argand;\n\n/** The operators of {@link Ops} whose first argument is a tensor, as its methods. */\n"
                   "public abstract class TensorOps {\n  TensorOps() {}\n\n" + "\n".join(methods) + "}\n")
    return ops_text, tensor_text
