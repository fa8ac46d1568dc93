"""Helpers for tests of the `argand` command: they make small data sets and images, and run the binary.

The environment variable ARGAND names the binary.
"""
import hashlib
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import tempfile
import unittest
import zlib

BINARY = os.environ.get("ARGAND", "build/release/bin/argand")
SANITIZED = os.environ.get("ARGAND_SANITIZE", "") != ""
SIDE = 8
FILES = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")


def idx(sizes, data, magic=b"\0\0\x08"):
    return magic + bytes([len(sizes)]) + b"".join(struct.pack(">I", s) for s in sizes) + bytes(data)


def images_and_labels(count, seed):
    """Noise with a bright row whose place is the class, so that a network can learn it."""
    rng = random.Random(seed)
    labels = [rng.randrange(10) for _ in range(count)]
    pixels = [rng.randrange(64) + (160 if p % 10 == label else 0) for label in labels for p in range(SIDE * SIDE)]
    return idx((count, SIDE, SIDE), pixels), idx((count,), labels)


def make_set(folder, train=96, test=40):
    folder.mkdir()
    contents = images_and_labels(train, 1) + images_and_labels(test, 2)
    for name, content in zip(FILES, contents):
        (folder / name).write_bytes(content)
    return folder


def png(width, height, pixels):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + bytes(pixels[y * width:(y + 1) * width]) for y in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def jpeg(levels):
    """A grey baseline JPEG of one row of flat 8x8 blocks: only the mean of each block is coded (T.81, F.1.2.1)."""
    def segment(marker, data):
        return bytes([0xFF, marker]) + struct.pack(">H", len(data) + 2) + data

    bits, before = "", 0
    for level in levels:
        mean = level - 128  # all quantisers are 8, so the coefficient is the mean itself
        size = abs(mean - before).bit_length()
        value = mean - before if mean >= before else mean - before + (1 << size) - 1
        bits += f"{size:04b}" + (f"{value:0{size}b}" if size else "") + "0"  # "0": no further coefficients
        before = mean
    bits += "1" * (-len(bits) % 8)
    coded = bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8)).replace(b"\xff", b"\xff\0")
    return (b"\xff\xd8" + segment(0xDB, b"\0" + bytes([8] * 64)) +
            segment(0xC0, struct.pack(">BHHB", 8, 8, 8 * len(levels), 1) + b"\1\x11\0") +
            segment(0xC4, b"\0" + bytes([0, 0, 0, 12] + [0] * 12) + bytes(range(12))) +
            segment(0xC4, b"\x10" + bytes([1] + [0] * 15) + b"\0") +
            segment(0xDA, b"\1\1\0\0\x3f\0") + coded + b"\xff\xd9")


def read_safetensors(content):
    """The JSON header and the bytes behind it."""
    length, = struct.unpack("<Q", content[:8])
    return json.loads(content[8:8 + length]), content[8 + length:]


def write_safetensors(header, data):
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


class CliTest(unittest.TestCase):
    """Gives each test a folder of its own, and the class a data set `self.data`."""

    @classmethod
    def setUpClass(cls):
        cls.shared = pathlib.Path(tempfile.mkdtemp(prefix="argand_cli_"))
        cls.shared.chmod(0o755)
        cls.addClassCleanup(shutil.rmtree, cls.shared)
        cls.data = make_set(cls.shared / "data")

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="argand_cli_"))
        self.folder.chmod(0o755)
        self.addCleanup(shutil.rmtree, self.folder)

    def command(self, *arguments):
        return [BINARY, *map(str, arguments)]

    def run_cli(self, *arguments, **options):
        return subprocess.run(self.command(*arguments), capture_output=True, text=True, timeout=120, **options)

    def train_arguments(self, out, *more, data=None, arch="linear", epochs=2):
        return ("train", "--data", data or self.data, "--arch", arch, "--epochs", epochs, "--batch-size", 16, "--out",
                out, *more)

    def train(self, out, *more, **options):
        result = self.run_cli(*self.train_arguments(out, *more, **options))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "")
        return result.stdout

    def assert_refused(self, result, *words):
        """Asserts an error exit, not a signal, with one sentence on standard error that has these words."""
        self.assertIn(result.returncode, range(1, 128), result.stderr)
        lines = result.stderr.strip().splitlines()
        if len(lines) == 2 and lines[1] == "Run with --help for more information.":
            lines.pop()
        self.assertEqual(len(lines), 1, f"expected one line, got: {result.stderr!r}")
        self.assertLess(len(lines[0]), 700, "a sentence, not a page")
        for word in words:
            self.assertIn(str(word), lines[0])


def main():
    unittest.main(verbosity=2)  # which names what is skipped, and why
