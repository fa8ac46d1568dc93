"""docs/results.md, from what the benchmarks keep in bench/results (bench/results.py says what is in these files)."""
import itertools
import json

INTRODUCTION = """# Results

Generated from `bench/results/*.json` by `./dev docs`; do not edit. `./dev bench` and the programs in `bench/` measure, and add their
rows to these files. [docs/lab](lab/README.md) has the experiments behind the figures.

- A figure is the median of the means of all runs. The spread is the difference of the largest and the least of them, in percent
  of the median.
- `best peer` is the fastest of what PyTorch offers for the row: eager execution, the whole step captured by hand as a CUDA graph, and
  `torch.compile`. Each was measured in turn with Argand, on the same machine.
- `ratio` is how many times as fast as the best peer Argand is; for memory, how many times as much the peer takes. Less than one is
  a row where PyTorch is ahead.
- `goal` is what the project wants to reach; it is in **bold** where it is reached.
- `+` behind a commit: the source tree had changes that were not committed.
"""
SCALES = {"s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")), "B": ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "B"))}


def figure(value, unit):
    scales = SCALES.get(unit) or ((1e12, "T" + unit), (1e9, "G" + unit), (1e6, "M" + unit), (1e3, "k" + unit), (1, unit))
    factor, name = next((scale for scale in scales if value >= scale[0]), scales[-1])
    digits = f"{value / factor:.3g}"
    return f"{float(digits):.0f} {name}" if "e" in digits else f"{digits} {name}"


def more_is_better(row):
    return row["unit"].endswith("/s")


def best_peer(row):
    """(name, median) of PyTorch's best form, or None."""
    peers = [(side, found[0]) for side, found in row["sides"].items() if side != "Argand"]
    return (max if more_is_better(row) else min)(peers, key=lambda peer: peer[1], default=None)


def ratio_of(row):
    """How many times as good as the best peer; None where one of the two is missing."""
    peer = best_peer(row)
    if not peer or "Argand" not in row["sides"]:
        return None
    ours = row["sides"]["Argand"][0]
    return ours / peer[1] if more_is_better(row) else peer[1] / ours


def goal_of(goals, device, name):
    """The row's own, or that of the longest beginning that ends with a slash."""
    of_device = goals.get(device, {}) if device.startswith("NVIDIA") else goals.get("CPU", {})
    found = [key for key in of_device if key == name or key.endswith("/") and name.startswith(key)]
    return of_device[max(found, key=len)] if found and not name.endswith("most memory") else None


def goal_cell(goal, row):
    if goal is None:
        return ""
    ours = row["sides"].get("Argand", [None])[0]
    if "seconds" in goal:
        text, reached = figure(goal["seconds"], "s"), ours is not None and ours <= goal["seconds"]
    elif "rate" in goal:
        text, reached = figure(goal["rate"], row["work_unit"]), ours is not None and row["work"] / ours >= goal["rate"]
    else:
        text, reached = f"ratio {goal['ratio']:g}", (ratio_of(row) or 0) >= goal["ratio"]
    return f"**{text}**" if reached else text


def cell(row, side):
    if side not in row["sides"]:
        return row.get("failed", {}).get(side, "not measured").replace("|", "/")
    value = row["sides"][side][0]
    rate = f", {figure(row['work'] / value, row['work_unit'])}" if row.get("work") else ""
    return figure(value, row["unit"]) + rate


def spread_cell(row):
    if "Argand" not in row["sides"] or row["sides"]["Argand"][3] < 2:
        return ""
    median, least, most, _ = row["sides"]["Argand"]
    return f"{100 * (most - least) / median:.0f} %"


def table(device, rows, goals):
    out = ["| row | Argand | spread | best peer | ratio | goal | measured |", "|---|---|---|---|---|---|---|"]
    for name, row in rows:
        peer, ratio, measured = best_peer(row), ratio_of(row), row["measured"]
        beside = f"{cell(row, peer[0])} ({peer[0]})" if peer else ""
        out.append(f"| `{name}` | {cell(row, 'Argand')} | {spread_cell(row)} | {beside} | {f'{ratio:.2f}' if ratio else ''} "
                   f"| {goal_cell(goal_of(goals, device, name), row)} | {measured['date']}, {measured['commit']} |")
    return out


def page(folder):
    """The text of docs/results.md; `folder` is bench/results."""
    goals = json.loads((folder / "goals.json").read_text(encoding="utf-8"))
    files = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json")) if path.name != "goals.json"]
    out = [INTRODUCTION]
    for kept in sorted(files, key=lambda kept: (not kept["device"].startswith("NVIDIA"), kept["device"])):
        rows = sorted(kept["rows"].items())
        out += [f"## {kept['device']}", ""]
        seen = sorted({", ".join(f"{name} {version}" for name, version in row["measured"]["versions"].items()) for _, row in rows})
        out += ["Versions: " + "; ".join(seen) + ".", ""]
        for kind, group in itertools.groupby(rows, key=lambda item: item[0].split("/")[0]):
            out += [f"### {kept['device']}: {kind}", "", *table(kept["device"], list(group), goals), ""]
    return "\n".join(out).rstrip() + "\n"
