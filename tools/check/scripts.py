"""Python and shell scripts parse (nothing is run)."""
import subprocess


def python_findings(tree, path):
    try:
        compile(tree.text(path), path, "exec")
        return []
    except SyntaxError as error:
        return [f"{path}:{error.lineno}: {error.msg}"]


def shell_findings(tree, path):
    result = subprocess.run(["bash", "-n", path], cwd=tree.root, capture_output=True, text=True)
    return result.stderr.splitlines() or ([f"{path}: bash -n failed"] if result.returncode else [])


def findings(tree):
    found = [line for path in tree.files(".py") for line in python_findings(tree, path)]
    shell = tree.files(".sh") + ([] if tree.only else ["dev", ".ci/run"])
    return found + [line for path in shell for line in shell_findings(tree, path)]
