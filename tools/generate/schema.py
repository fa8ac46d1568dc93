"""Parses op signatures in the schema language of PyTorch's native_functions.yaml.

A name with a namespace is that of an op that PyTorch does not have, but a library of its world: `torchvision::nms`.  SymInt is
int: all sizes are numbers here.

Two additions: `Tensor|Scalar x` accepts a tensor or a number (as two C++ overloads), and the run
`ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None` becomes one TensorOptions in C++.
"""
import re
from dataclasses import dataclass, field

NAMESPACES = ("fft", "linalg", "special")
OPTION_NAMES = ["dtype", "layout", "device", "pin_memory"]


@dataclass
class Arg:
    type: str          # "Tensor", "Tensor?", "Tensor[]", "int[2]", "Tensor|Scalar", "TensorOptions", ...
    name: str
    default: str | None = None
    keyword_only: bool = False
    python_default: bool = False   # C++ has no default: some calls would be ambiguous

    @property
    def is_tensor(self):
        return self.type in ("Tensor", "Tensor?", "Tensor|Scalar")

    @property
    def is_tensor_list(self):
        return self.type in ("Tensor[]", "Tensor?[]")

    @property
    def holds_tensors(self):
        return self.is_tensor or self.is_tensor_list


@dataclass
class Schema:
    name: str                      # "sum"; "torchvision_nms" of "torchvision::nms"
    overload: str                  # "dim" or ""
    args: list[Arg] = field(default_factory=list)
    returns: list[str] = field(default_factory=list)
    return_names: list[str] = field(default_factory=list)
    text: str = ""
    library: str = ""              # "torchvision" of "torchvision::nms"

    @property
    def full_name(self):
        """As messages and profiles show it: "sum", "torchvision::nms"."""
        return f"{self.library}::{self.name.removeprefix(self.library + '_')}" if self.library else self.name

    @property
    def in_place_only(self):
        return self.name.endswith("_")

    @property
    def in_namespace(self):
        """(namespace, name there) of a function, not a method, that PyTorch has in a namespace: at::linalg_qr is torch.linalg.qr.
        For an op of another library, that library and its name there."""
        if self.library:
            return self.library, self.name.removeprefix(self.library + "_")
        head, _, rest = self.name.partition("_")
        return (head, rest) if head in NAMESPACES and rest else None

    @property
    def is_factory(self):
        """Makes a tensor of sizes and numbers alone."""
        return (self.returns == ["Tensor"] and any(a.type == "TensorOptions" for a in self.args)
                and not any(a.holds_tensors for a in self.args))

    def arg(self, name):
        return next((a for a in self.args if a.name == name), None)


class SchemaError(Exception):
    pass


def split_top(text):
    """Splits at commas that stand outside brackets and quotes."""
    parts, depth, quote, start = [], 0, None, 0
    for i, c in enumerate(text):
        if quote:
            quote = None if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in "([":
            depth += 1
        elif c in ")]":
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    last = text[start:].strip()
    return parts + [last] if last else parts


def parse_arg(text, keyword_only):
    m = re.fullmatch(r"(\S+)\s+(\w+)(?:\s*=\s*(.+))?", text)
    if not m:
        raise SchemaError(f"cannot read the argument '{text}'")
    type_, name, default = m.groups()
    type_ = type_.replace("SymInt", "int")
    type_ = re.sub(r"\([a-z]!?(?: -> \*)?\)", "", type_)  # alias annotations say nothing that the op's kind does not
    return Arg(type_, name, default, keyword_only)


def fold_options(args):
    names = [a.name for a in args]
    for i in range(len(args)):
        if names[i:i + 4] == OPTION_NAMES:
            return args[:i] + [Arg("TensorOptions", "options", "{}", True)] + args[i + 4:]
    return args


def parse(text):
    m = re.fullmatch(r"(?:(\w+)::)?(\w+)(?:\.(\w+))?\((.*)\)\s*->\s*(.+)", text.strip(), re.S)
    if not m:
        raise SchemaError(f"cannot read the schema '{text}'")
    library, name, overload, args_text, returns_text = m.groups()
    schema = Schema(f"{library}_{name}" if library else name, overload or "", text=text, library=library or "")
    keyword_only = False
    for part in split_top(args_text):
        if part == "*":
            keyword_only = True
        else:
            schema.args.append(parse_arg(part, keyword_only))
    schema.args = fold_options(schema.args)
    if returns_text.strip() == "()":  # works on its arguments and returns nothing
        schema.returns = []
    elif returns_text.startswith("("):
        for part in split_top(returns_text[1:-1]):
            words = part.split()
            schema.returns.append(re.sub(r"\([a-z]!?\)", "", words[0]))
            schema.return_names.append(words[1] if len(words) > 1 else "")
    else:
        schema.returns = [re.sub(r"\([a-z]!?\)", "", returns_text.strip())]
        schema.return_names = [""]
    return schema
