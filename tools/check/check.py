"""The checks of `./dev check`: each one is a module with findings(tree), a list of lines "place: what is wrong".

usage: check.py [--jobs N] [--self-test] [NAME...]
"""
import argparse
import sys
import time

import cost
import docs
import format
import generated
import headers
import kernels
import layers
import options
import pages
import python_layers
import scripts
import self_test
import size
import stable_abi
import stale
import tidy
from tree import ROOT, Tree

# Quick ones first.
CHECKS = {"size": size, "scripts": scripts, "layers": layers, "python-layers": python_layers, "kernels": kernels, "docs": docs,
          "pages": pages, "stale": stale, "stable-abi": stable_abi, "options": options, "format": format, "generated": generated, "headers": headers, "cost": cost, "tidy": tidy}


def run(name, findings):
    """Prints the findings and one closing line; returns whether all was well."""
    start = time.monotonic()
    found = findings()
    for line in found:
        print(line)
    verdict = f"{len(found)} findings" if found else "ok"
    print(f"check: {name:<20} {verdict} ({time.monotonic() - start:.1f} s)", flush=True)
    return not found


def main():
    parser = argparse.ArgumentParser(prog="./dev check")
    parser.add_argument("names", nargs="*", metavar="NAME", help=" ".join(CHECKS))
    parser.add_argument("--self-test", action="store_true", help="plant a violation for each check; it must be found")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    unknown = [name for name in given.names if name not in CHECKS]
    if unknown:
        parser.error(f"no such check: {' '.join(unknown)} (there are: {' '.join(CHECKS)})")
    well = True
    for name in given.names or CHECKS:
        if given.self_test:
            findings = lambda: self_test.findings(name, CHECKS[name], given.jobs)
            well &= run(name + " self-test", findings)
        else:
            well &= run(name, lambda: CHECKS[name].findings(Tree(ROOT, given.jobs)))
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
