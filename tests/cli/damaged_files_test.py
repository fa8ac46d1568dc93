"""Damaged and inconsistent checkpoints and models, and full disks, give an error message; whole files stay whole."""
import errno
import os
import resource
import shutil
import struct
import subprocess

from harness import SANITIZED, CliTest, digest, main, read_safetensors, write_safetensors


class Damage(CliTest):
    def setUp(self):
        super().setUp()
        self.out = self.folder / "out"
        self.train(self.out, epochs=1)
        self.checkpoint = self.out / "checkpoint.safetensors"
        self.model = self.out / "model.safetensors"

    def resume(self):
        return self.run_cli(*self.train_arguments(self.out, "--resume"))

    def assert_checkpoint_refused(self, content, *words):
        self.checkpoint.write_bytes(content)
        before = digest(self.model)
        self.assert_refused(self.resume(), *(words or (self.checkpoint,)))
        self.assertEqual(self.checkpoint.read_bytes(), content, "the evidence must stay")
        self.assertEqual(digest(self.model), before)

    def test_truncated_anywhere(self):
        whole = self.checkpoint.read_bytes()
        for size in [0, 1, 7, 8, 9, len(whole) - 1, *range(97, len(whole), len(whole) // 20)]:
            with self.subTest(size=size):
                self.assert_checkpoint_refused(whole[:size])
        self.assert_checkpoint_refused(whole + b"\0")

    def test_flipped_bits(self):
        whole = self.checkpoint.read_bytes()
        places = [0, 3, 8, *range(11, 2048, 131), *range(2049, len(whole), len(whole) // 12), len(whole) - 1]
        for i, place in enumerate(places):
            with self.subTest(place=place):
                flipped = bytearray(whole)
                flipped[place] ^= 1 << i % 8
                self.assert_checkpoint_refused(bytes(flipped))

    def test_not_a_regular_file(self):
        self.checkpoint.unlink()
        self.assert_refused(self.resume(), self.checkpoint, "No such file")
        self.checkpoint.mkdir()
        self.assert_refused(self.resume(), self.checkpoint, "folder")
        self.checkpoint.rmdir()
        os.mkfifo(self.checkpoint)
        self.assert_refused(self.resume(), self.checkpoint, "pipe")

    def test_checkpoint_of_another_run(self):
        for option, value in (("--lr", "0.5"), ("--optimizer", "sgd"), ("--arch", "mlp"), ("--seed", "7")):
            with self.subTest(option=option):
                result = self.run_cli(*self.train_arguments(self.out, "--resume"), option, value)
                if option == "--arch":  # given twice: the command line is wrong already
                    self.assert_refused(result, option)
                else:
                    self.assert_refused(result, self.checkpoint, option[2:], value)
        self.assert_refused(self.run_cli("eval", "--model", self.checkpoint), "expected a model", "argand-checkpoint-1")
        shutil.copy(self.model, self.checkpoint)
        self.assert_refused(self.resume(), "not a checkpoint")

    def test_damaged_metrics(self):
        (self.out / "metrics.csv").write_text("epoch,loss\n1,2\n")
        self.assert_refused(self.resume(), "metrics.csv", "line 1")


class LyingModels(CliTest):
    def setUp(self):
        super().setUp()
        self.train(self.folder / "out", epochs=1)
        self.model = self.folder / "out" / "model.safetensors"
        self.header, self.content = read_safetensors(self.model.read_bytes())

    def refused(self, content, *words, **options):
        self.model.write_bytes(content)
        self.assert_refused(self.run_cli("eval", "--model", self.model, **options), self.model, *words)

    def test_headers(self):
        weight = next(name for name in self.header if name.endswith("weight"))
        tensor = self.header[weight]
        end = len(self.content)
        changes = {
            "shape too large": {"shape": [2**31, 2**31]},
            "shape whose product wraps to 0": {"shape": [65536] * 4},
            "beyond the file": {"data_offsets": [tensor["data_offsets"][0], 2**62]},
            "offsets that wrap": {"data_offsets": [2**64 - 16, 2**64 - 12]},
            "overlap": {"data_offsets": [0, end]},
            "hole": {"data_offsets": [tensor["data_offsets"][0] + 4, tensor["data_offsets"][1]]},
            "negative size": {"shape": [-1, 64]},
            "fraction": {"shape": [1.5, 64]},
            "unknown dtype": {"dtype": "F128"},
            "dtype that is no text": {"dtype": 5},
        }
        for name, change in changes.items():
            with self.subTest(name):
                self.refused(write_safetensors({**self.header, weight: {**tensor, **change}}, self.content))

    def test_lengths_and_texts(self):
        whole = write_safetensors(self.header, self.content)
        for length in (0, 1, len(whole), 2**31, 2**63 - 1, 2**64 - 8):
            with self.subTest(length=length):
                self.refused(struct.pack("<Q", length) + whole[8:])
        for text in (b"", b"[]", b"null", b'"x"', b" {}", b"{", b'{"a":' * 100000, b'{"\xff":1}', b'{"a":{}}'):
            with self.subTest(text=text[:20]):
                self.refused(struct.pack("<Q", len(text)) + text)
        self.refused(b"")
        self.refused(b"just a text\n" * 10)

    def test_facts_that_are_missing_or_wrong(self):
        facts = self.header["__metadata__"]
        for name, value, *words in (("arch", "transformer", "transformer"), ("classes", "0"), ("classes", "ten"),
                                    ("height", "99999999999999999999"), ("width", "-3"), ("channels", "")):
            with self.subTest(name=name, value=value):
                changed = {**self.header, "__metadata__": {**facts, name: value}}
                self.model.write_bytes(write_safetensors(changed, self.content))
                self.assert_refused(self.run_cli("eval", "--model", self.model), *words)
        del facts["height"]
        self.refused(write_safetensors(self.header, self.content), "height")

    def test_images_larger_than_the_weights(self):
        """They are refused before anything of that size is allocated."""
        facts = {**self.header["__metadata__"], "height": "60000", "width": "60000"}
        limit = {} if SANITIZED else {
            "preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_DATA, (2**31, 2**31))}
        for arch in ("linear", "cnn", "mlp"):
            with self.subTest(arch=arch):
                self.refused(write_safetensors({**self.header, "__metadata__": {**facts, "arch": arch}}, self.content),
                             "60000x60000", **limit)

    def test_weights_that_do_not_fit(self):
        bias = next(name for name in self.header if name.endswith("bias"))
        self.header["other"] = self.header.pop(bias)
        self.model.write_bytes(write_safetensors(self.header, self.content))
        result = self.run_cli("eval", "--model", self.model)
        self.assertEqual(result.returncode, 1)
        for word in (self.model, "missing: " + bias, "unexpected: other", "fit linear"):
            self.assertIn(str(word), result.stderr)


class FullDisk(CliTest):
    def assert_whole_or_none(self, out):
        for name in ("checkpoint.safetensors", "model.safetensors"):
            if (out / name).exists():
                read_safetensors((out / name).read_bytes())
        self.assertEqual([p.name for p in out.iterdir() if p.name.endswith(".tmp")], [])

    def test_file_size_limit(self):
        out, whole = self.folder / "out", self.folder / "whole"
        self.train(whole, epochs=3)
        self.train(out, epochs=1)
        before = digest(out / "checkpoint.safetensors")
        result = self.run_cli(*self.train_arguments(out, "--resume", epochs=3),
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
        self.assert_refused(result, out / "checkpoint.safetensors", "File too large")
        self.assertEqual(digest(out / "checkpoint.safetensors"), before)
        self.assert_whole_or_none(out)
        self.train(out, "--resume", epochs=3)
        self.assertEqual(digest(out / "model.safetensors"), digest(whole / "model.safetensors"))

    def test_full_file_system(self):
        out = self.folder / "small"
        out.mkdir()
        mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "argand-test", out], capture_output=True,
                               text=True) if shutil.which("mount") else None
        if mount is None or mount.returncode != 0:
            self.skipTest(f"cannot mount a tmpfs: {mount.stderr.strip() if mount else 'no mount command'}")
        try:
            result = self.run_cli(*self.train_arguments(out, arch="mlp"))
            self.assert_refused(result, out / "checkpoint.safetensors", os.strerror(errno.ENOSPC), "free")
            self.assert_whole_or_none(out)
        finally:
            subprocess.run(["umount", out], check=True)

    def test_a_device_in_the_way(self):
        if os.geteuid() != 0 or not os.path.exists("/dev/full"):
            self.skipTest("needs root and /dev/full, to see that root does not replace a device")
        out = self.folder / "out"
        out.mkdir()
        (out / "checkpoint.safetensors").symlink_to("/dev/full")
        self.train(out, epochs=1)
        self.assertTrue(os.path.exists("/dev/full") and not os.path.isfile("/dev/full"))
        self.assertFalse((out / "checkpoint.safetensors").is_symlink())


if __name__ == "__main__":
    main()
