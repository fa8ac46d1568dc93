"""Wrong options and wrong data give one clear message and an error exit, and write nothing that looks like a result."""
import os
import struct
import unittest

from harness import FILES, CliTest, idx, main, make_set


class Options(CliTest):
    def test_unknown_and_missing_words(self):
        self.assert_refused(self.run_cli("frobnicate"), "frobnicate", "train, eval, predict, ckpt, mem, info or ops")
        self.assert_refused(self.run_cli("train", "--frobnicate"), "--frobnicate")
        self.assert_refused(self.run_cli(), "train, eval, predict, ckpt, mem, info or ops")
        self.assert_refused(self.run_cli("predict"), "images")
        self.assert_refused(self.run_cli("train", "--epochs"), "--epochs")

    def test_values_out_of_range(self):
        for option, value in (("--epochs", "-1"), ("--epochs", "0"), ("--epochs", "1.5"), ("--epochs", "many"),
                              ("--epochs", "99999999999999999999"), ("--batch-size", "0"), ("--batch-size", "-8"),
                              ("--lr", "nan"), ("--lr", "inf"), ("--lr", "-0.1"), ("--lr", "fast"),
                              ("--lr", "1e999"), ("--seed", "-1"), ("--seed", "18446744073709551616"), ("--seed", "010"),
                              ("--max-steps", "9223372036854775808"), ("--workers", "-1"), ("--workers", "65"),
                              ("--arch", "resnet"), ("--optimizer", "lion"), ("--amp", "fp8"), ("--max-steps", "-3")):
            with self.subTest(option=option, value=value):
                out = self.folder / "out"
                self.assert_refused(self.run_cli("train", "--data", self.data, "--out", out, option, value), option)
                self.assertFalse(out.exists())

    def test_threads_and_devices(self):
        self.assert_refused(self.run_cli("--threads", "0", "info"), "--threads")
        for device in ("tpu", "meta", "cpu:x", ""):
            with self.subTest(device=device):
                self.assert_refused(self.run_cli("train", "--data", self.data, "--out", self.folder / "out", "--device",
                                                 device))


class Data(CliTest):
    def refused(self, data, *words):
        out = self.folder / "out"
        self.assert_refused(self.run_cli(*self.train_arguments(out, data=data)), *words)
        self.assertFalse(out.exists())

    def test_missing_folder_and_files(self):
        missing = self.folder / "missing"
        self.refused(missing, missing, "does not exist")
        partial = make_set(self.folder / "partial")
        (partial / FILES[3]).unlink()
        self.refused(partial, FILES[3])
        self.assert_refused(self.run_cli("train", "--data", "no-such-set", "--out", self.folder / "out"), "no-such-set")

    def test_damaged_files(self):
        images, labels = FILES[0], FILES[1]
        good = (self.data / images).read_bytes()
        good_labels = (self.data / labels).read_bytes()
        count = 96
        cases = {
            "empty": (images, b""),
            "three bytes": (images, good[:3]),
            "header cut": (images, good[:9]),
            "truncated": (images, good[:-1]),
            "trailing byte": (images, good + b"x"),
            "magic of nothing": (images, b"\0\0\0\0" + good[4:]),
            "little-endian magic": (images, good[3::-1] + good[4:]),
            "unknown element type": (images, b"\0\0\x07\3" + good[4:]),
            "text": (images, b"this is no image file\n" * 20),
            "sizes whose product overflows": (images, idx((0xFFFFFFFF,) * 3, b"1234")),
            "more images than bytes": (images, idx((2**31, 1, 1), b"1234")),
            "labels for images": (images, good_labels),
            "gzip magic without gzip": (images + ".gz", b"\x1f\x8b\x08\0garbage"),
            "fewer labels than images": (labels, idx((count - 1,), good_labels[8:-1])),
            "label out of range": (labels, good_labels[:8 + 41] + b"\xc8" + good_labels[8 + 42:]),
            "no images": (images, idx((0, 8, 8), b"")),
        }
        for name, (file, content) in cases.items():
            with self.subTest(name):
                folder = make_set(self.folder / name.replace(" ", "_"))
                if file.endswith(".gz"):
                    (folder / images).unlink()
                (folder / file).write_bytes(content)
                words = ("200", "41") if name == "label out of range" else (folder if name != "no images" else "labels",)
                self.refused(folder, *words)

    def test_other_sizes_and_labels_in_the_test_set(self):
        folder = make_set(self.folder / "sizes")
        (folder / FILES[2]).write_bytes(idx((40, 4, 16), bytes(40 * 64)))
        self.refused(folder, "8x8", "4x16")
        folder = make_set(self.folder / "labels")
        (folder / FILES[3]).write_bytes(idx((40,), bytes(39) + b"\x0b"))
        self.refused(folder, "test label 11 at index 39")

    def test_images_too_small_for_the_network(self):
        folder = self.folder / "tiny"
        folder.mkdir()
        for name, content in zip(FILES, (idx((4, 2, 2), bytes(16)), idx((4,), bytes(4))) * 2):
            (folder / name).write_bytes(content)
        result = self.run_cli(*self.train_arguments(self.folder / "out", data=folder, arch="cnn"))
        self.assert_refused(result, "cnn", "2x2")

    def test_pipes_do_not_block(self):
        folder = make_set(self.folder / "pipe")
        (folder / FILES[0]).unlink()
        os.mkfifo(folder / FILES[0])
        self.refused(folder, FILES[0])


class Output(CliTest):
    def test_out_is_a_file(self):
        (self.folder / "out").write_text("mine")
        self.assert_refused(self.run_cli(*self.train_arguments(self.folder / "out")), self.folder / "out")
        self.assertEqual((self.folder / "out").read_text(), "mine")

    def test_what_cannot_be_written_is_known_before_the_first_step(self):
        trace = self.folder / "missing" / "trace.json"
        for name, arguments in ((trace, ("--trace", trace)), (self.folder, ("--trace", self.folder)),
                                ("report.html", ()), ("model.safetensors", ()), ("metrics.csv", ())):
            with self.subTest(name):
                out = self.folder / "out"
                if not arguments:
                    (out / name).mkdir(parents=True)
                result = self.run_cli(*self.train_arguments(out, *arguments))
                self.assert_refused(result, "cannot write", name)
                self.assertEqual(result.stdout, "")
                self.assertEqual([p for p in out.iterdir() if p.is_file()], [])
                if not arguments:
                    (out / name).rmdir()

    def test_read_only_folder(self):
        out = self.folder / "out"
        out.mkdir()
        out.chmod(0o555)
        options = {}
        if os.geteuid() == 0:  # nothing is read-only for root
            options = {"user": 65534, "group": 65534, "extra_groups": []}
            try:
                probe = self.run_cli("--version", **options)
            except OSError as error:
                self.skipTest(f"cannot run the binary as another user: {error}")
            if probe.returncode != 0:
                self.skipTest(f"cannot run the binary as another user: {probe.stderr.strip()}")
        self.assert_refused(self.run_cli(*self.train_arguments(out), **options), out, "Permission denied")
        self.assertEqual(list(out.iterdir()), [])

    def test_full_standard_output(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full here")
        import subprocess
        with open("/dev/full", "w") as full:
            result = subprocess.run(self.command("info"), stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assert_refused(result, "standard output")


if __name__ == "__main__":
    main()
