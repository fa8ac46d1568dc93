"""docs/python-names.md, from the tables of names in python/argand/_surface (table.py there has their format)."""
import itertools
import json
import textwrap
from pathlib import Path

from python_modules import tables_of

COUNTS = Path(__file__).resolve().parents[2] / "tests/parity/surface_counts.json"

INTRODUCTION = """# Names of PyTorch that are not here

Generated from the tables in `python/argand/_surface` by `./dev docs`; do not edit.
[Design page 19](design/0019-python-surface.md) says how the tables are used, and `tests/parity/surface.py` compares
them with PyTorch: a public name of PyTorch that is not on this page is here.

- **refused**: the name can be imported, compared and asked about with `isinstance()`; a call raises
  `NotImplementedError` with the reason.
- **ignored**: the function takes any arguments and does nothing.
- **absent**: asking for the name is an `AttributeError`, and importing the module a `ModuleNotFoundError`.
- **extra**: PyTorch does not have the name, and `import torch` shows it all the same under `python -m argand`. What is
  Argand's own otherwise, as `argand.models`, is not to be seen under `torch`.

A module that is absent counts once, with all that PyTorch has in it and below it.

"""
KINDS = ("refused", "ignored", "absent", "extra")


def whole(module, name=""):
    return ".".join(filter(None, ("torch", module, name)))


def listed(tables):
    """[(kind, reason, module, name)]; the name is "*" for a module that is absent."""
    found = [("absent", section.absent, module, "*") for module, section in tables.items() if section.absent is not None]
    return found + [(entry.kind, entry.text, module, name) for module, section in tables.items()
                    for name, entry in section.names.items() if entry.kind in KINDS]


def counts(rows):
    """The table of counts by the first part of a module's name."""
    lines = ["| below | refused | ignored | absent names | extra | absent modules |", "|---|---|---|---|---|---|"]
    groups = {}
    for row in rows:
        groups.setdefault(row[2].partition(".")[0], []).append(row)
    for top, group in [*sorted(groups.items()), (None, rows)]:
        cells = [sum(row[0] == kind and row[3] != "*" for row in group) for kind in KINDS]
        cells.append(sum(row[3] == "*" for row in group))
        name = "**all**" if top is None else f"`{whole(top)}`"
        lines.append(f"| {name} | " + " | ".join(str(n or "") for n in cells) + " |")
    return "\n".join(lines) + "\n"


def support():
    """The table of how many public names of PyTorch are here, as the comparison counted them."""
    counted = json.loads(COUNTS.read_text())
    rows = counted["areas"]
    total = {kind: sum(area[kind] for area in rows.values()) for kind in next(iter(rows.values()))}
    lines = [f"\n## How much is here\n\nPublic names of PyTorch {counted['version']} in each area, as `tests/parity/surface.py` counted them.\n",
             "| area | public names | here | ignored | refused | absent | here, % |", "|---|---|---|---|---|---|---|"]
    for name, area in [*sorted(rows.items()), (None, total)]:
        names = sum(area.values())
        if names:
            cells = [names, *(area[kind] or "" for kind in ("here", "ignored", "refused", "absent")), round(100 * area["here"] / names)]
            lines.append(f"| {f'`{name}`' if name else '**all**'} | " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"


def item(module, names):
    """One line of a list, which may be long: a module and its names."""
    text = f"`{whole(module)}` and below" if names == ["*"] else f"`{whole(module)}`: " + " ".join(f"`{name}`" for name in sorted(names))
    return textwrap.fill(text, 120, initial_indent="- ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def page(package):
    """The text of the page, for the package in a folder."""
    rows = listed(tables_of(package))
    parts = [INTRODUCTION + counts(rows) + support()]
    for kind in KINDS:
        of_kind = sorted(row[1:] for row in rows if row[0] == kind)
        parts.append(f"\n## {kind.capitalize()}\n")
        for reason, group in itertools.groupby(of_kind, key=lambda row: row[0]):
            parts.append("\n" + textwrap.fill(f"Reason: {reason}.", 120, break_on_hyphens=False) + "\n\n")
            by_module = itertools.groupby(group, key=lambda row: row[1])
            parts += [item(module, [row[2] for row in names]) + "\n" for module, names in by_module]
    return "".join(parts)
