"""The output and the effects of the commands in normal use."""
import json
import os
import re
import subprocess

from harness import SIDE, CliTest, digest, jpeg, main, png


class Train(CliTest):
    def test_plain_lines_where_there_is_no_terminal(self):
        said = self.train(self.folder / "out")
        self.assertNotRegex(said, "[\x1b\r]")
        lines = said.splitlines()
        self.assertEqual(len(lines), 6, said)
        for epoch in (1, 2):
            self.assertRegex(lines[2 * epoch - 2], rf"^epoch {epoch}/2  96 samples .*loss \d+\.\d{{4}}  accuracy 0\.\d+$")
            self.assertRegex(lines[2 * epoch - 1], r"^test accuracy 0\.\d{4}$")

    def test_same_bits_whatever_the_threads_and_workers(self):
        expected = None
        for threads, workers in ((1, 0), (2, 0), (1, 1), (2, 4), (3, 2)):
            with self.subTest(threads=threads, workers=workers):
                out = self.folder / f"{threads}_{workers}"
                result = self.run_cli("--threads", threads, *self.train_arguments(out, "--workers", workers, arch="cnn"))
                self.assertEqual(result.returncode, 0, result.stderr)
                expected = expected or digest(out / "model.safetensors")
                self.assertEqual(digest(out / "model.safetensors"), expected)

    def test_learns_and_reports(self):
        out = self.folder / "out"
        self.train(out, "--lr", 0.01, epochs=10)
        rows = (out / "metrics.csv").read_text().splitlines()
        self.assertEqual(len(rows), 11)
        accuracy = float(rows[-1].split(",")[4])
        self.assertGreater(accuracy, 0.9)
        page = (out / "report.html").read_text()
        self.assertIn("Confusion matrix", page)
        self.assertNotRegex(page, r'(src|href)="(?!data:)', "everything must be inside the page")
        said = self.run_cli("eval", "--model", out / "model.safetensors")
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertIn(f"test accuracy {accuracy:.4f}", said.stdout)

    def test_learns_in_mixed_precision(self):
        for amp in ("bf16", "fp16"):
            with self.subTest(amp=amp):
                out = self.folder / amp
                self.train(out, "--lr", 0.01, "--amp", amp, epochs=10)
                rows = (out / "metrics.csv").read_text().splitlines()
                self.assertGreater(float(rows[-1].split(",")[4]), 0.9)
                self.assertIn(amp, (out / "report.html").read_text())

    def test_a_step_left_out_for_its_gradient_is_named(self):
        said = self.train(self.folder / "out", "--lr", 1e30, "--optimizer", "sgd", "--amp", "fp16")
        self.assertRegex(said, r"step \d+: no step: the gradient of parameter \d+ \(group 0, position \d+\), '[\w.]+', "
                               r"of shape \[[\d, ]+\] has an infinity or NaN; the scale is now ")

    def test_a_loss_that_is_not_finite_is_said_once_an_epoch(self):
        said = self.train(self.folder / "out", "--lr", 1e300, "--optimizer", "sgd")
        self.assertIn(said.count("warning: the loss of step"), (1, 2), said)


    def test_a_trace_shows_some_steps(self):
        path = self.folder / "trace.json"
        said = self.train(self.folder / "out", "--trace", path, epochs=4)
        self.assertIn(f"trace: {path}", said)
        spans = [e for e in json.loads(path.read_text())["traceEvents"] if e["ph"] == "X"]
        self.assertEqual(sum(e["name"] == "step" for e in spans), 10)
        for name in ("forward", "backward", "optimizer"):
            numbers = [e["args"]["number"] for e in spans if e["name"] == name and e["tid"] == 1]
            self.assertEqual(numbers, [4, 5, 0, 1, 2, 3, 4, 5, 0, 1], name)  # of six batches an epoch
        said = self.train(self.folder / "short", "--max-steps", 3, "--trace", self.folder / "none.json")
        self.assertIn("no trace: the run ended before step 11", said)


class Predict(CliTest):
    def setUp(self):
        super().setUp()
        self.train(self.folder / "out", "--lr", 0.01, epochs=10)
        self.model = self.folder / "out" / "model.safetensors"

    def predict(self, *images):
        return self.run_cli("predict", "--model", self.model, *images)

    def test_device(self):
        path = self.image("3.png", png(SIDE, SIDE, self.row(3)))
        by_default = self.predict(path)
        self.assertEqual(self.predict("--device", "cpu", path).stdout, by_default.stdout)
        self.assert_refused(self.predict("--device", "tpu", path), "tpu")
        gpu = self.predict("--device", "cuda", path)
        if gpu.returncode == 0:  # where there is one
            self.assertEqual(gpu.stdout.splitlines()[1].split()[1], by_default.stdout.splitlines()[1].split()[1])
        else:
            self.assert_refused(gpu, "cuda")

    def image(self, name, content):
        (self.folder / name).write_bytes(content)
        return self.folder / name

    def row(self, label):
        return [200 if p % 10 == label else 20 for p in range(SIDE * SIDE)]

    def test_png(self):
        for label in (0, 3, 9):
            result = self.predict(self.image(f"{label}.png", png(SIDE, SIDE, self.row(label))))
            self.assertEqual(result.returncode, 0, result.stderr)
            path, best, *rest = result.stdout.splitlines()
            self.assertEqual(path, str(self.folder / f"{label}.png"))
            self.assertRegex(best, rf"^ +\d+\.\d\d%  {label}$")
            self.assertEqual(len(rest), 2)

    def test_jpeg_and_png_of_the_same_picture_agree(self):
        levels = [30, 220, 128, 90]
        width = 8 * len(levels)
        as_jpeg = self.predict(self.image("a.jpg", jpeg(levels)))
        as_png = self.predict(self.image("a.png", png(width, 8, [levels[x // 8] for x in range(width)] * 8)))
        self.assertEqual(as_jpeg.returncode, 0, as_jpeg.stderr)
        self.assertEqual(as_jpeg.stdout.splitlines()[1:], as_png.stdout.splitlines()[1:])

    def test_the_content_decides_and_not_the_name(self):
        self.assertEqual(self.predict(self.image("really_a_png.jpg", png(SIDE, SIDE, self.row(1)))).returncode, 0)

    def test_what_is_no_image(self):
        whole = png(SIDE, SIDE, self.row(1))
        photo = jpeg([1, 200])
        for name, content in (("text.png", b"hello\n"), ("empty.png", b""), ("cut.png", whole[:-20]),
                              ("head.png", whole[:30]), ("flipped.png", whole[:-18] + b"\x55" + whole[-17:]),
                              ("cut.jpg", photo[:-30]), ("head.jpg", photo[:25]), ("picture.gif", b"GIF89a" + bytes(40))):
            with self.subTest(name):
                path = self.image(name, content)
                self.assert_refused(self.predict(path), path)
        self.assert_refused(self.predict(self.folder / "missing.png"), "missing.png", "No such file")
        self.assert_refused(self.predict(self.folder), self.folder, "folder")

    def test_good_ones_beside_a_bad_one(self):
        good, bad = self.image("good.png", png(SIDE, SIDE, self.row(4))), self.image("bad.png", b"no")
        result = self.predict(bad, good)
        self.assert_refused(result, bad)
        self.assertIn(str(good), result.stdout)


class Mem(CliTest):
    """On the pretended GPU, where it is built in; its bytes are those of a real one, its numbers are not."""

    def mem(self, *arguments):
        environment = {**os.environ, "ARGAND_CUDA_DRY_RUN": "1"}
        if "none:" in self.run_cli("info", env=environment).stdout:
            self.skipTest("built without CUDA")
        return self.run_cli("mem", "--arch", "mlp", "--batch-size", 16, "--steps", 2, *arguments, env=environment)

    def test_without_a_gpu_the_reason_is_said(self):
        if "none:" not in self.run_cli("info").stdout:
            self.skipTest("there is a GPU")
        self.assert_refused(self.run_cli("mem"), "no cuda device: ")

    def test_the_table(self):
        said = self.mem()
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertIn("mlp on cuda:0, batch 16, adam, after 2 steps", said.stdout)
        self.assertRegex(said.stdout, r"(?m)^allocated memory +\d+\.\d\d MiB +\d+\.\d\d MiB")
        self.assertRegex(said.stdout, r"(?m)^ +\d+\.\d\d MiB +\d+ +\d+ ms  \w+ \[256, 784\] float32$")
        self.assertRegex(said.stdout, r"(?m)^the device has \d+\.\d\d GiB")

    def test_first_steps_compile_nothing(self):
        """What they ask for is in the kernel pack; batches of another size than those it was made with, too."""
        environment = {**os.environ, "ARGAND_CUDA_DRY_RUN": "1", "ARGAND_CACHE_DIR": str(self.folder / "cache")}
        if "kernel pack:" not in (info := self.run_cli("info", env=environment).stdout) or "kernel pack: none" in info:
            self.skipTest("built without a kernel pack")
        for pack, compiled in ({}, []), ({"ARGAND_KERNEL_PACK": "/dev/null"}, None):
            for arch in ("linear", "cnn", "mlp"):
                said = self.run_cli("mem", "--arch", arch, "--batch-size", 50, "--steps", 1, env={**environment, **pack})
                self.assertEqual(said.returncode, 0, said.stderr)
                files = [f.name for f in (self.folder / "cache").rglob("*.cubin")]
                if compiled is None:
                    self.assertGreater(len(files), 3, "without the pack kernels are compiled, so this test can fail")
                    return
                self.assertEqual(files, compiled, arch)

    def test_snapshots(self):
        said = self.mem("--snapshot", self.folder / "m.json")
        self.assertEqual(said.returncode, 0, said.stderr)
        snapshot = json.loads((self.folder / "m.json").read_text())
        held = [b for s in snapshot["segments"] for b in s["blocks"] if b["state"] == "active_allocated"]
        # Six parameters with their gradients and Adam's two averages, the images and the labels; and no (no op).
        sizes = [b["requested_size"] for b in held]
        for count in (784 * 256, 256, 256 * 128, 128, 128 * 10, 10):
            self.assertEqual(sizes.count(4 * count), 4, count)
        self.assertEqual(sizes.count(16 * 784 * 4), 1)
        self.assertTrue(all(b["time_us"] > 0 for b in held))
        shapes = [b["shape"] for b in held]
        self.assertEqual(shapes.count("[256, 784] float32"), 4)
        self.assertEqual(shapes.count("[16, 1, 28, 28] float32"), 1)
        self.assertFalse([s for s in shapes if not re.fullmatch(r"\[[\d, ]*\] \w+", s)])
        self.assertTrue(any(e["action"] == "free_requested" for e in snapshot["device_traces"][0]))
        self.assertEqual(self.mem("--snapshot", self.folder / "m.html").returncode, 0)
        self.assertIn("<h1>Device memory</h1>", (self.folder / "m.html").read_text())

    def test_what_is_refused(self):
        self.assert_refused(self.mem("--snapshot", "m.txt"), ".json or .html", "m.txt")
        self.assert_refused(self.mem("--device", "cpu"), "expected a CUDA device")


class Others(CliTest):
    def test_info_version_and_help(self):
        said = self.run_cli("info").stdout
        self.assertRegex(said, r"(?m)^argand +\d+\.\d+\.\d+$")
        self.assertRegex(said, r"(?m)^cpu +\d+ threads")
        self.assertRegex(said, r"(?m)^gpu +\S")
        self.assertRegex(self.run_cli("--version").stdout, r"^\d+\.\d+\.\d+\n$")
        for command in ("train", "eval", "predict", "mem", "info", "ops"):
            self.assertIn(command, self.run_cli("--help").stdout)
        self.assertIn("--epochs", self.run_cli("train", "--help").stdout)

    def test_ops_names_what_info_counts(self):
        count = int(re.search(r"operators +(\d+)", self.run_cli("info").stdout)[1])
        self.assertEqual(len(self.run_cli("ops").stdout.splitlines()), count)

    def test_no_op_falls_back_to_the_cpu(self):
        result = self.run_cli("ops", "--fallbacks")
        self.assertEqual((result.returncode, result.stdout), (0, ""))

    def test_a_reader_that_went_away_does_not_stop_the_training(self):
        out = self.folder / "out"
        process = subprocess.Popen(self.command(*self.train_arguments(out)), stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL)
        process.stdout.close()
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertTrue(os.path.exists(out / "model.safetensors"))


if __name__ == "__main__":
    main()
