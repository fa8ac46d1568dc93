"""The operators: each finds the places of a function where it can plant its fault.

A fault is a choice at run time: PLANTED in its replacement becomes a test whether this fault is the one that is switched on.
"""
import re
from dataclasses import dataclass

PLANTED = "@PLANTED@"
PRODUCT, SUM = ("*", "/", "%"), ("*", "/", "%", "+", "-")
COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}


@dataclass(frozen=True)
class Fault:
    file: str
    function: str
    operator: str
    line: int
    start: int  # of the text that is replaced
    end: int
    before: str
    after: str
    replacement: str
    occurrence: int = 0  # among faults of the same function, operator and texts

    @property
    def key(self):
        """What names it while lines come and go above it."""
        return (self.file, self.function, self.operator, f"{self.before} -> {self.after}", str(self.occurrence))


class Place:
    """Tokens first ... last of a source, which stand on one line or several."""

    def __init__(self, source, first, last):
        self.source, self.first, self.last = source, first, last
        self.start, self.end = source.tokens[first].start, source.tokens[last].end
        self.text = " ".join(source.plain[self.start:self.end].split())

    @property
    def is_sound(self):
        """A text that can stand twice: no lambda, nothing that was blanked out, nothing that must be constant, no side effects."""
        s, inside, whole = self.source, range(self.first, self.last + 1), set()
        for i in inside:
            if s.at(i) == "<" and s.partner.get(i, self.last + 1) <= self.last:
                whole.update(range(i, s.partner[i] + 1))
        return ("{" not in self.text and "[&" not in self.text and "++" not in self.text and "--" not in self.text and
                s.text[self.start:self.end] == s.plain[self.start:self.end] and
                not any(i in s.closed or (i in s.in_templates and i not in whole) for i in inside))


def choice(source, first, last, after, before=None):
    """(start, end, before, after, replacement) for tokens first ... last, or None."""
    place = Place(source, first, last)
    if not place.is_sound:
        return None
    before = before or place.text
    lines = source.plain[place.start:place.end].count("\n")
    return place.start, place.end, before, after, f"({PLANTED} ? ({after}) : ({before}))" + "\n" * lines


def limit_choice(source, first, last, less, after):
    """The same for `i < n` of a vectorised loop: i < n - 1 or i < n + 1, in `less`.  The compiler wants a plain comparison there, so the
    limit becomes a variable beside i."""
    made, limit, name = choice(source, first, last, after), text_of(source, first + 2, last), source.at(first)
    if made is None or source.at(first - 1) != ";" or "\n" in source.plain[made[0]:made[1]]:
        return None
    before_condition = source.tokens[first - 1].start
    return before_condition, *made[1:4], f", {name}_end = {PLANTED} ? ({limit}) {less} : ({limit}); {name} < {name}_end"


def is_vectorised(source, loop):
    """`loop`: the token after the parenthesis of a for."""
    return source.at(loop - 3) == "ARGAND_VECTORIZE"


def text_of(source, first, last):
    return Place(source, first, last).text


def binary(source, i, joining_left, joining_right):
    """(first token, last token) of the expression around the binary operator i, or None."""
    if not source.spaced(i) or not source.is_value_end(i - 1):
        return None
    first, after = source.chain_before(i, joining_left), source.chain_after(i, joining_right)
    return (first, after - 1) if first is not None and after is not None else None


# ---- the operators: each yields what choice() gives

def index(source, function):
    """a[i] with i a loop's variable: a[i - 1], but for the first."""
    loops = set(loop_variables(source, function))
    for i in range(function.first, function.last):
        if source.at(i) == "[" and source.at(i + 2) == "]" and source.at(i + 1) in loops and source.touches(i) and i not in source.closed:
            name = source.at(i + 1)
            yield choice(source, i + 1, i + 1, f"{name} > 0 ? {name} - 1 : {name}")


def stride(source, function):
    """i * stride: i, where the product is a number of elements."""
    for i in range(function.first, function.last):
        if source.at(i) != "*":
            continue
        ends = binary(source, i, PRODUCT, ())
        if ends and counts(source, i + 1, ends[1]) and source.at(ends[0] - 1) not in PRODUCT:
            yield choice(source, *ends, text_of(source, ends[0], i - 1))


COUNTS = re.compile(r"stride|step|inner|width|height|columns|rows|channels|size|count|length|lanes|below|^n$|_n$|outer|planes|groups|depth", re.IGNORECASE)


def counts(source, first, last):
    return any(COUNTS.search(source.at(i)) for i in range(first, last + 1) if source.tokens[i].kind == "name")


def loops_of(source, function):
    """(first token after the parenthesis, its end) of each `for (init; condition; step)`."""
    for i in range(function.first, function.last):
        if source.at(i) == "for" and source.at(i + 1) == "(" and i + 1 in source.partner:
            yield i + 2, source.partner[i + 1]


def loop_variables(source, function):
    for first, _ in loops_of(source, function):
        if source.tokens[first].kind == "name" and source.tokens[first + 1].kind == "name" and source.at(first + 2) == "=":
            yield source.at(first + 1)


def bound(source, function):
    """i < n of a loop: i + 1 < n."""
    for first, last in loops_of(source, function):
        for i in range(first, last):
            if source.at(i) == "<" and source.at(i - 2) == ";":
                after = source.chain_after(i, SUM)
                if after and source.at(after) in (";", "&&"):
                    fault = f"{source.at(i - 1)} + 1 < {text_of(source, i + 1, after - 1)}"
                    vectorised = is_vectorised(source, first)
                    yield limit_choice(source, i - 1, after - 1, "- 1", fault) if vectorised else choice(source, i - 1, after - 1, fault)


def start(source, function):
    """i = 0 of a loop: i = 1."""
    for first, last in loops_of(source, function):
        for i in range(first, last):
            if source.at(i) == "=" and source.at(i + 1) == "0" and source.at(i + 2) in (";", ","):
                yield choice(source, i + 1, i + 1, "1")


def term(source, function):
    """a + b: a."""
    for i in range(function.first, function.last):
        if source.at(i) in ("+", "-"):
            ends = binary(source, i, SUM, PRODUCT)
            if ends:
                yield choice(source, *ends, text_of(source, ends[0], i - 1))


def factor(source, function):
    """a * b, a / b of values: a."""
    for i in range(function.first, function.last):
        if source.at(i) in ("*", "/"):
            ends = binary(source, i, PRODUCT, ())
            if ends and not counts(source, i + 1, ends[1]):
                yield choice(source, *ends, text_of(source, ends[0], i - 1))


def sign(source, function):
    """a - b: a + b, and a + b: a - b; -a: a."""
    for i in range(function.first, function.last):
        text = source.at(i)
        ends = binary(source, i, SUM, PRODUCT) if text in ("+", "-") else None
        if ends:
            other = "-" if text == "+" else "+"
            yield choice(source, *ends, f"{text_of(source, ends[0], i - 1)} {other} {text_of(source, i + 1, ends[1])}")
        elif text == "-" and not source.spaced(i) and source.at(i - 1) in ("(", ",", "=", "return", "?", ":", "*", "/", "+"):
            after = source.after_unary(i + 1)
            if after and source.tokens[i + 1].kind != "number":
                yield choice(source, i, after - 1, text_of(source, i + 1, after - 1))


def cast(source, function):
    """static_cast<int64_t>(x): through 16 bits, which hold no number of elements beyond 32767."""
    for i in range(function.first, function.last):
        if source.at(i) == "static_cast" and source.at(i + 2) in ("int64_t", "size_t", "Index", "I") and source.at(i + 3) == ">":
            last = source.partner[i + 4]
            inner = text_of(source, i + 5, last - 1)
            yield choice(source, i, last, f"static_cast<{source.at(i + 2)}>(static_cast<int16_t>({inner}))")


def accumulation(source, function):
    """sum += x of a statement: sum = x; a sum of double goes through float."""
    doubles = {source.at(i + 1) for i in range(function.first, function.last) if source.at(i) == "double" and source.tokens[i + 1].kind == "name"}
    for i in range(function.first, function.last):
        if source.at(i) not in ("+=", "-=") or source.at(i - 1) in (")",):
            continue
        first, after = source.unary_before(i - 1), source.chain_after(i, SUM)
        if first is None or after is None or source.at(after) != ";" or source.at(first - 1) not in (";", "{", "}", ")", ",", "else"):
            continue
        target, value = text_of(source, first, i - 1), text_of(source, i + 1, after - 1)
        yield choice(source, first, after - 1, f"{target} = {value}")
        if target in doubles:
            yield choice(source, first, after - 1, f"{target} = static_cast<float>({target} {source.at(i)[0]} {value})")


def comparison(source, function):
    """< for <=, > for >=, and the other way round."""
    vectorised = {i for first, last in loops_of(source, function) if is_vectorised(source, first) for i in range(first, last)}
    for i in range(function.first, function.last):
        other = COMPARISONS.get(source.at(i))
        ends = binary(source, i, SUM, SUM) if other and i not in source.partner else None
        if not ends:
            continue
        fault = f"{text_of(source, ends[0], i - 1)} {other} {text_of(source, i + 1, ends[1])}"
        if i not in vectorised:
            yield choice(source, *ends, fault)
        elif ends[0] == i - 1:
            yield limit_choice(source, *ends, "+ 1", fault)


def constant(source, function):
    """A floating-point number: the same times 1 + 1e-5."""
    for i in range(function.first, function.last):
        t = source.tokens[i]
        if t.kind != "number" or i in source.closed or not re.search(r"[.pP]|^\d+e", t.text) or "'" in t.text:
            continue
        digits = t.text.rstrip("fFlL") if not t.text.lower().startswith("0x") or "p" in t.text.lower() else t.text
        value = float.fromhex(digits) if digits.lower().startswith("0x") else float(digits)
        if value != 0:
            yield choice(source, i, i, (value * (1 + 1e-5)).hex() + t.text[len(digits):])


def chunk(source, function):
    """The part of a parallel_for that one thread takes: every part but the first begins one late, or ends one early."""
    for i in range(function.first, function.last):
        if [source.at(i + k) for k in range(8)] != ["(", "int64_t", "begin", ",", "int64_t", "end", ")", "{"] or source.at(i - 1) != "]":
            continue
        at = source.tokens[i + 7].end
        yield at, at, "[begin, end)", "[begin + 1, end) where begin > 0", f" if ({PLANTED} && begin > 0) ++begin;"
        yield at, at, "[begin, end)", "[begin, end - 1) where begin > 0", f" if ({PLANTED} && begin > 0) --end;"


def barrier(source, function):
    """A barrier of a kernel's text for GPUs: none.  Only where there is a GPU (see plant.py)."""
    for i in range(function.first, function.last):
        if source.at(i) == "__syncthreads" and source.at(i + 1) == "(" and source.at(i + 3) == ";":
            start, end = source.tokens[i].start, source.tokens[i + 2].end
            yield start, end, "__syncthreads()", "nothing", f"if (!{PLANTED}) __syncthreads()"


ON_CPU = (index, stride, bound, start, term, factor, sign, cast, accumulation, comparison, constant, chunk)
ON_GPU = (barrier,)


def faults_of(file, source, operators=ON_CPU):
    """All faults that the operators can plant in a file, in the order of its text."""
    found, seen = [], {}
    for function in source.functions:
        for operator in operators:
            for made in operator(source, function):
                if made is None:
                    continue
                start, end, before, after, replacement = made
                key = (function.name, operator.__name__, before, after)
                seen[key] = seen.get(key, -1) + 1
                found.append(Fault(file, function.name, operator.__name__, source.line_of(start), start, end, before, after, replacement, seen[key]))
    return sorted(found, key=lambda f: (f.start, f.operator))
