"""The pages build as a site (tools/build_site.py): links and anchors lead somewhere, and each page is in the menu of mkdocs.yml."""
import subprocess
import tempfile

from tree import ROOT


def findings(tree):
    python = ROOT / "build" / "venv" / "bin" / "python"  # ./dev check has put mkdocs there
    if not python.exists():
        return ["build/venv is missing: run this check by `./dev check`, which installs mkdocs there"]
    with tempfile.TemporaryDirectory() as out:
        done = subprocess.run([python, tree.root / "tools/build_site.py", "--root", tree.root, out], capture_output=True, text=True, check=False)
    return [line for line in (done.stdout + done.stderr).splitlines() if line.strip()] if done.returncode else []
