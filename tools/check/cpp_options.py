"""Options of C++: each field that ARGAND_ARG declares is read by code that knows its struct, other than to print or to save it."""
import re

from uses import LEAST_REASON

FIELD = re.compile(r"^ *(?:ARGAND|TORCH)_ARG\(((?:[^(){};]|\([^()]*\))+), (\w+)\)(?:.*?// harmless: (.+))?", re.M)
STRUCT = re.compile(r"^ *(?:struct|class) (?:ARGAND_SHARED )?(\w+)(?: final)?(?: *:[^;{]*)? *\{", re.M)
PRINTED = re.compile(r"^[^\n;]*(?:\bpretty_print|\bserialize|\boperator<<)\([^;{]*\{.*?^\}", re.M | re.S)
READ = re.compile(r"\b(\w+)\(\)|\b(\w+)_\b")


def reads_of(text):
    """The fields that a text reads, printing and saving left out."""
    return {a or b for a, b in READ.findall(PRINTED.sub("", text))}


def findings(tree):
    texts = {path: tree.text(path) for path in tree.all_files(".h", ".cpp", under=("argand/",)) if not path.endswith("_test.cpp")}
    reads = {path: reads_of(text) for path, text in texts.items() if "ptions" in text}
    found = []
    for path in tree.files(".h", under=("argand/",)):
        text = texts.get(path, "")
        structs = [(m.start(), m.group(1)) for m in STRUCT.finditer(text)] if "_ARG(" in text else []
        for field in FIELD.finditer(text):
            struct = next((name for at, name in reversed(structs) if at < field.start()), None)
            name, reason = field.group(2), field.group(3) or ""
            if struct is None or len(reason) >= LEAST_REASON:
                continue
            # Who knows it: by its own name, by that of what it is for, as a template over options, or as the source beside a header
            # of that name.
            stem = re.sub(r"(Loss)?(Nd|Func|Impl)?(Base)?Options(Base)?$", "", struct)
            subject = path.rpartition("/")[2].removesuffix(".h")
            knows = re.compile(rf"\b{struct}\b|\b{stem}|template <[^>]*\b(?:class|typename) \w*Options\b")
            if not any(name in of and (knows.search(texts[file]) or re.search(rf"/{subject}\.", file)) for file, of in reads.items()):
                found.append(f"{path}: {struct}: {name} is not read: honour it, refuse it, or say `// harmless: why` behind it")
    return found
