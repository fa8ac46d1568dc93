"""Sentences of the pages, each held by the test that quotes it: the page and the test change together."""
import functools
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def text_of(path):
    return (ROOT / path).read_text(encoding="utf-8")


def words(text):
    return " ".join(text.split())


def says(page, *sentences):
    """Decorates a test of these sentences; it fails if the page does not have them, whatever its line breaks."""
    def decorate(test):
        @functools.wraps(test)
        def held(*args, **kwargs):
            for sentence in sentences:
                assert words(sentence) in words(text_of(page)), f"{page} does not say any more: {sentence}"
            return test(*args, **kwargs)
        return held
    return decorate


def run(program, *arguments, status=0, **environment):
    """What a program for PyTorch prints under `python -m argand`."""
    starts = "import sys, argand._torch.install as a; a.install()\n"
    done = subprocess.run([sys.executable, "-c", starts + program, *arguments], capture_output=True, text=True, timeout=120,
                          env={**os.environ, **environment})
    assert done.returncode == status, done.stderr
    return done.stdout.strip() if status == 0 else done.stderr
