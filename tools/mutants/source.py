"""A C++ file as the operators read it: its tokens, its functions, and the parts in which no fault can be planted.

This is no parser.  It relies on the format that clang-format gives all files here: a binary operator has a space on both sides,
a pointer's star and the brackets of a template stand beside the name.
"""
import re
from dataclasses import dataclass
from functools import cached_property

TOKEN = re.compile(r"""
    (?P<number>0[xX][0-9a-fA-F.']+(?:[pP][+-]?\d+)?[fFuUlLzZ]*|\.?\d[\d.']*(?:[eE][+-]?\d+)?[fFuUlLzZ]*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<sign><<=|>>=|->\*|\.\.\.|::|->|\+\+|--|<<|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[^\s\w])""", re.VERBOSE)

KEYWORDS = {"return", "else", "case", "do", "throw", "const", "if", "while", "for", "switch", "goto", "break", "continue", "new", "delete", "and",
            "or", "not"}
CLOSING = {"(": ")", "[": "]", "{": "}"}
# Before a value there stands one of these, or the value is no operand of what stands before.
OPENERS = {"(", "[", "{", ",", ";", "=", "?", ":", "return", "+", "-", "*", "/", "%", "<", ">", "<=", ">=", "==", "!=", "&&", "||", "&", "|", "^",
           "<<", "+=", "-=", "*=", "/=", "!", "~", "}"}
# What the compiler must know, or what is no arithmetic: from the word up to the end of the parentheses, or of the statement.
NOT_IN_PARENTHESES = {"static_assert", "sizeof", "decltype", "noexcept", "alignas", "ARGAND_ASSERT", "__attribute__"}
NOT_IN_STATEMENTS = {"constexpr", "using", "case", "typedef", "enum"}


def without_text(text):
    """The same with spaces in place of comments, strings and lines of the preprocessor, so that positions stay."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match[0])
    pattern = re.compile(r"""
        //[^\n]* | /\*.*?\*/ | R"\((?:.*?)\)" | "(?:\\.|[^"\\\n])*" | (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'
      | ^[ \t]*\#(?:[^\n]*\\\n)*[^\n]*""", re.VERBOSE | re.DOTALL | re.MULTILINE)
    return pattern.sub(blank, text)


@dataclass(frozen=True)
class Token:
    text: str
    kind: str  # number, name or sign
    start: int
    end: int


@dataclass(frozen=True)
class Function:
    name: str  # with the names of the types that it stands in
    first: int  # tokens of its body, without the braces
    last: int


class Source:
    def __init__(self, text):
        self.text, self.plain = text, without_text(text)
        self.tokens = [Token(m[0], m.lastgroup, m.start(), m.end()) for m in TOKEN.finditer(self.plain)]
        self.partner = self._brackets()

    def line_of(self, position):
        return self.text.count("\n", 0, position) + 1

    def at(self, i):
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def spaced(self, i):
        """Whether a blank or the end of a line stands on both sides: a binary operator."""
        t = self.tokens[i]
        return self.plain[t.start - 1:t.start].isspace() and self.plain[t.end:t.end + 1].isspace()

    def touches(self, i):
        """Whether token i follows the one before without a blank."""
        return i > 0 and self.tokens[i - 1].end == self.tokens[i].start

    def _brackets(self):
        """{position of a bracket: position of its partner}, among the tokens; angle brackets of templates, too."""
        partner, stack = {}, []
        for i, t in enumerate(self.tokens):
            if t.text in CLOSING:
                stack.append(i)
            elif t.text == "<" and self.tokens[i - 1].kind == "name" and (self.touches(i) or self.at(i - 1) == "template"):
                stack.append(i)
            elif t.text == ">" and stack and self.at(stack[-1]) == "<" and not (self.spaced(i) and self.at(i - 1) not in ">,"):
                partner[i] = stack[-1]
                partner[stack.pop()] = i
            elif t.text in CLOSING.values():
                while stack and self.at(stack[-1]) == "<":  # was a comparison after all
                    stack.pop()
                if stack:
                    partner[i] = stack[-1]
                    partner[stack.pop()] = i
        return partner

    # ---- functions

    @cached_property
    def functions(self):
        found, scopes, i, head = [], [], 0, 0
        while i < len(self.tokens):
            text = self.at(i)
            if text == "{" and i in self.partner:
                name, is_function = self._head(head, i)
                if is_function:
                    if not {"constexpr", "consteval"} & {t.text for t in self.tokens[head:i]}:
                        found.append(Function("::".join([*filter(None, scopes), name]), i + 1, self.partner[i]))
                    i = self.partner[i]
                elif name is None:
                    i = self.partner[i]  # values
                else:
                    scopes.append(name)
                head = i + 1
            elif text == "}":
                scopes = scopes[:-1]
                head = i + 1
            elif text == ";" or (text == ":" and self.at(i - 1) in ("public", "private", "protected")):
                head = i + 1
            i += 1
        return found

    def _head(self, first, brace):
        """(name, whether this brace opens a function's body); a name of None where it opens values."""
        i, words = first, []
        while i < brace:
            if self.at(i) in ("(", "[", "<") and i in self.partner and self.partner[i] < brace:
                if self.at(i) == "(":
                    words.append("()" if words and words[-1] not in ("alignas", "requires", "__attribute__") else "")
                i = self.partner[i] + 1
                continue
            words.append(self.at(i))
            i += 1
        if "namespace" in words:
            return "", False
        if {"struct", "class", "union"} & set(words) and "()" not in words:
            place = min(words.index(w) for w in ("struct", "class", "union") if w in words)
            names = [w for w in words[place + 1:] if w and w not in ("final", "alignas")]
            return (names[0] if names else ""), False
        if "()" not in words or "enum" in words or "=" in words[:words.index("()")]:
            return None, False
        return words[words.index("()") - 1], True

    # ---- where no fault can be

    @cached_property
    def in_templates(self):
        """The tokens of template arguments: an expression may hold all of them, brackets included, or none."""
        return {k for i, t in enumerate(self.tokens) if t.text == "<" and i in self.partner for k in range(i, self.partner[i] + 1)}

    @cached_property
    def closed(self):
        """The tokens that are out of bounds: what the compiler must know, sizes of arrays."""
        out = set()
        for i, t in enumerate(self.tokens):
            if t.text in NOT_IN_PARENTHESES and self.at(i + 1) == "(":
                out.update(range(i, self.partner.get(i + 1, i) + 1))
            elif t.text == "constexpr" and self.at(i - 1) == "if":
                out.update(range(i, self.partner.get(i + 1, i) + 1))
            elif t.text in NOT_IN_STATEMENTS:
                out.update(range(i, self._end_of_statement(i)))
            elif t.text == "[" and self.tokens[i - 1].kind == "name" and self._declares(i - 1):
                out.update(range(i, self.partner.get(i, i) + 1))
        return out

    def _end_of_statement(self, i):
        stop = (";", ":") if self.at(i) == "case" else (";",)
        while i < len(self.tokens) and self.at(i) not in stop:
            body = self.at(i) == "{" and self.at(i - 1) in (")", "const")  # of a function
            i = self.partner.get(i, i) + 1 if self.at(i) in CLOSING else i + 1
            if body:
                break
        return i

    def _declares(self, name):
        """Whether a variable of this name, an array, is declared here: a type stands before it, or another of its kind."""
        before = self.tokens[name - 1]
        return (before.kind == "name" and before.text not in KEYWORDS) or (before.text == ">" and name - 1 in self.partner) or (
            before.text == "," and self._begins_with_arrays(name))

    def _begins_with_arrays(self, name):
        i = name
        while i > 0 and self.at(i) not in (";", "{", "}", "("):
            i = self.partner[i] - 1 if self.at(i) in ")]" and i in self.partner else i - 1
        return self.tokens[i + 1].kind == "name" and self.tokens[i + 2].kind == "name" and self.at(i + 3) == "["

    # ---- operands

    def is_value_end(self, i):
        t = self.tokens[i]
        return t.kind == "number" or (t.kind == "name" and t.text not in KEYWORDS) or t.text in (")", "]") or (t.text == "}" and i in self.partner)

    def after_unary(self, i):
        """The token after the operand that begins at i; None where that is no plain value."""
        while self.at(i) in ("-", "+", "!", "~", "*", "&", "++", "--"):
            i += 1
        t = self.tokens[i]
        if t.kind == "number":
            return i + 1
        if t.text == "(":
            i = self.partner[i] + 1
        elif t.text == "::" or (t.kind == "name" and t.text not in KEYWORDS):
            i += 1
        else:
            return None
        while True:
            text = self.at(i)
            if text in ("(", "[") and i in self.partner:
                i = self.partner[i] + 1
            elif text == "<" and i in self.partner:
                i = self.partner[i] + 1
            elif text == "{" and self.touches(i) and i in self.partner:
                i = self.partner[i] + 1
            elif text in (".", "->", "::"):
                i += 2
            elif text in ("++", "--"):
                i += 1
            else:
                return i

    def unary_before(self, i):
        """The first token of the operand whose last token is i; None where that is no plain value."""
        if not self.is_value_end(i):
            return None
        while True:
            t = self.tokens[i]
            if t.text in (")", "]", "}", ">"):
                if i not in self.partner:
                    return None
                i = self.partner[i]
                before = self.tokens[i - 1]
                if self.touches(i) and (before.text in (")", "]", ">") or (before.kind == "name" and before.text not in KEYWORDS)):
                    i -= 1
                    continue
                if t.text != ")":
                    return None
            if self.at(i - 1) in (".", "->", "::"):
                if self.is_value_end(i - 2) or self.at(i - 2) == ">":
                    i -= 2
                    continue
                i -= 1
            break
        while self.at(i - 1) in ("-", "+", "!", "~", "*", "&", "++", "--") and not self.spaced(i - 1):
            i -= 1
        return i

    def chain_before(self, operator, joining):
        """The first token of `a * b * c` before an operator, where `joining` are the operators that bind as much or more."""
        i = self.unary_before(operator - 1)
        while i is not None and self.at(i - 1) in joining and self.spaced(i - 1):
            i = self.unary_before(i - 2)
        return i if i is not None and self.at(i - 1) in OPENERS else None

    def chain_after(self, operator, joining):
        """The token after `b * c` behind an operator."""
        i = self.after_unary(operator + 1)
        while i is not None and self.at(i) in joining and self.spaced(i):
            i = self.after_unary(i + 1)
        return i
