"""FileCheck: a text has these parts, in this order."""
import re


class FileCheck:
    """Rules, added in their order, that run() tries on a text: RuntimeError says which one fails."""

    def __init__(self):
        self._rules = []  # (kind, pattern, count)

    def _rule(self, kind, text, count=1, exactly=False, regex=False):
        self._rules.append((kind, re.compile(text if regex else re.escape(text)), text, count, exactly))
        return self

    def check(self, test_string):
        """Checks that the text comes after what the rule before found."""
        return self._rule("CHECK", test_string)

    def check_regex(self, test_string):
        """What matches it comes after what the rule before found."""
        return self._rule("CHECK-REGEX", test_string, regex=True)

    def check_next(self, test_string):
        """Checks that the text comes on the next line."""
        return self._rule("CHECK-NEXT", test_string)

    def check_same(self, test_string):
        """Checks that the text comes later on the same line."""
        return self._rule("CHECK-SAME", test_string)

    def check_count(self, test_string, count, exactly=False):
        """It comes so often, one after the other; with `exactly` it does not come again."""
        return self._rule("CHECK-COUNT", test_string, count, exactly)

    def check_dag(self, test_string):
        """It comes, before or after what the other rules of this kind beside it find."""
        return self._rule("CHECK-DAG", test_string)

    def check_not(self, test_string):
        """Checks that the text does not come before what the next rule finds."""
        return self._rule("CHECK-NOT", test_string)

    def check_source_highlighted(self, test_string):
        """Checks that the text comes, with ~ below each of its letters."""
        return self._rule("CHECK-SOURCE-HIGHLIGHTED", test_string)

    def run(self, test_file):
        """Tries the rules on a text."""
        end, absent, dag_start = 0, [], None
        for kind, pattern, text, count, exactly in self._rules:
            if kind == "CHECK-NOT":
                absent.append((pattern, text))
                continue
            dag_start = (end if dag_start is None else dag_start) if kind == "CHECK-DAG" else None
            for _ in range(count):
                begin = end if dag_start is None else dag_start
                found = self._find(kind, pattern, text, test_file, begin)
                self._check_absent(absent, test_file, begin, found.start())
                absent = []
                end = max(end, found.end())
            if exactly:
                absent.append((pattern, text))
        self._check_absent(absent, test_file, end, len(test_file))

    @staticmethod
    def _find(kind, pattern, text, source, begin):
        start, stop = begin, len(source)
        line_end = source.find("\n", begin)
        if kind == "CHECK-NEXT":
            start = line_end + 1 if line_end >= 0 else len(source)
            line_end = source.find("\n", start)
        if kind in ("CHECK-NEXT", "CHECK-SAME") and line_end >= 0:
            stop = line_end
        for found in pattern.finditer(source, start, stop):
            if kind != "CHECK-SOURCE-HIGHLIGHTED" or FileCheck._highlighted(source, found):
                return found
        raise RuntimeError(f'Expected to find "{text}" but did not find it\nSearched string:\n{source[begin:]}\nFrom {kind}: {text}')

    @staticmethod
    def _highlighted(source, found):
        column = found.start() - (source.rfind("\n", 0, found.start()) + 1)
        below = source.find("\n", found.end()) + 1
        marks = source[below:].split("\n", 1)[0] if below else ""
        return marks[column:column + len(found.group())] == "~" * len(found.group())

    @staticmethod
    def _check_absent(absent, source, begin, end):
        for pattern, text in absent:
            if pattern.search(source, begin, end):
                raise RuntimeError(f'Expected to not find "{text}" but found it\n{source[begin:end]}\nFrom CHECK-NOT: {text}')
