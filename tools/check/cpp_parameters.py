"""Parameters of C++ functions that programs call: one without a name is accepted and ignored, so a comment says why that is harmless.

    // harmless: copies on the CPU wait anyway
    inline Tensor cast(const Tensor& t, bool = false) { return t.to(kByte); }

Compilers speak of named parameters that a body does not use.  Asked about are values that a caller chooses, so not types that tell
overloads apart, in definitions that override nothing and return.
"""
import re

from uses import LEAST_REASON

FOLDERS = ("compat/", *(f"argand/{name}/" for name in ("autograd", "core", "data", "io", "jit", "library", "models", "nn", "optim", "parallel",
                                                       "serialize", "vision")))
VALUE = re.compile(r"(?:const )?(?:(?:std|at|c10|torch|argand)::)?(?:bool|u?int\d*(?:_t)?|size_t|float|double|char|string|string_view|optional<.*>|vector<.*>"
                   r"|initializer_list<.*>|milliseconds|IntArrayRef|ArrayRef<.*>|Device|ScalarType|Tensor|Store|intrusive_ptr<.*>)[ &*]*")
HEAD = re.compile(r"(?<=[\w>&*;}{:\s~])([\w~]+)\(")
TAIL = re.compile(r"(?:\s|const\b|noexcept\b|&&?|->\s*[\w:<>&*, ]+)*(?::\s[^;{}]*)?\{")
WORDS = {"if", "for", "while", "switch", "return", "catch", "sizeof", "decltype", "constexpr", "requires", "operator", "noexcept"}
REFUSES = re.compile(r"^\{\s*(?:throw\b|ARGAND_THROW|TORCH_CHECK\w*\(false|not_\w+\()")
# What a base class has, it must take.
VIRTUAL = re.compile(r"\bvirtual [^;{}()]*?(\w+)\(|\b(\w+)\([^;{}]*\) (?:const )?(?:noexcept )?override")
HARMLESS = re.compile(r"//.*\bharmless: (.+)")


def blank(found):
    return re.sub(r"[^\n]", " ", found.group())


def code_of(text):
    """The text with spaces for comments and for what strings say; /*name*/ is as good as no name."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", blank, text, flags=re.S)
    return re.sub(r'"(?:[^"\\\n]|\\.)*"', lambda m: '"' + " " * (len(m.group()) - 2) + '"', text)


def end_of(code, at, opening, closing):
    """Behind what the bracket before `at` opens."""
    depth = 1
    while depth and at < len(code):
        depth += (code[at] == opening) - (code[at] == closing)
        at += 1
    return at


def split(parameters):
    out, depth = [""], 0
    for c in parameters:
        depth += (c in "(<[{") - (c in ")>]}")
        out = [*out, ""] if c == "," and depth == 0 else [*out[:-1], out[-1] + c]
    return out


def reasons_of(lines, line):
    """The reasons on the line, above it, and above a run of one-line definitions or of a template's first line."""
    while line > 0 and (lines[line - 1].rstrip().endswith("}") and "{" in lines[line - 1] or lines[line - 1].lstrip().startswith("template <")):
        line -= 1
    return [m.group(1) for near in lines[max(line - 1, 0):line + 1] if (m := HARMLESS.search(near))]


def findings(tree):
    found = []
    everything = "".join(code_of(tree.text(path)) for path in tree.all_files(".h", under=("argand/", "compat/")))
    virtual = {a or b for a, b in VIRTUAL.findall(everything)}
    for path in tree.files(".h", ".cpp", under=FOLDERS):
        if path.endswith(("_test.cpp", "_test.h")) or "/cuda/" in path:
            continue
        text = tree.text(path)
        code, lines = code_of(text), text.splitlines()
        for head in HEAD.finditer(code):
            end = end_of(code, head.end(), "(", ")")
            tail = TAIL.match(code, end)
            if head.group(1) in WORDS | virtual or not tail or REFUSES.match(code[tail.end() - 1:]):
                continue
            line = code.count("\n", 0, head.start())
            for parameter in split(code[head.end():end - 1]):
                kind = " ".join(parameter.partition("=")[0].replace("[[maybe_unused]]", "").split())
                unnamed = VALUE.fullmatch(kind) or "[[maybe_unused]]" in parameter
                reasons = reasons_of(lines, line) + [m.group(1) for m in HARMLESS.finditer(lines[line])]
                if unnamed and not any(len(reason) >= LEAST_REASON for reason in reasons):
                    found.append(f"{path}:{line + 1}: {head.group(1)}(): a parameter, {kind}, has no name: honour it, refuse it, warn_ignored(), or "
                                 "say `// harmless: why` above")
    return found
