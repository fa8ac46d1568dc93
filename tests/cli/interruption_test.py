"""Runs that end early and are resumed: however they ended, the result has the bits of an uninterrupted run."""
import fcntl
import hashlib
import random
import re
import signal
import subprocess
import time

from harness import CliTest, digest, main, read_safetensors, write_safetensors

F_SETPIPE_SZ = getattr(fcntl, "F_SETPIPE_SZ", 1031)


class Resume(CliTest):
    def test_after_a_step_limit(self):
        for arch, optimizer in (("cnn", "adam"), ("mlp", "sgd"), ("linear", "adamw"), ("linear", "rmsprop")):
            setting = {"arch": arch, "epochs": 3}
            whole = self.folder / f"whole_{optimizer}"
            self.train(whole, "--optimizer", optimizer, **setting)
            # 96 images in batches of 16: 6 steps an epoch, 18 in all; 0 is no limit
            for steps in (1, 5, 6, 7, 11, 12, 13, 18) if optimizer == "adam" else (3, 6, 14):
                with self.subTest(arch=arch, optimizer=optimizer, steps=steps):
                    out = self.folder / f"{optimizer}_{steps}"
                    said = self.train(out, "--optimizer", optimizer, "--max-steps", steps, **setting)
                    if steps < 18:
                        self.assertIn(f"stopped after step {steps}", said)
                    self.train(out, "--optimizer", optimizer, "--resume", **setting)
                    self.assertEqual(digest(out / "model.safetensors"), digest(whole / "model.safetensors"))
                    self.assert_same_metrics(out, whole)
                    self.assertEqual(self.curves(out), self.curves(whole))

    def test_mixed_precision(self):
        for amp in ("bf16", "fp16"):
            whole, out = self.folder / f"whole_{amp}", self.folder / amp
            setting = {"arch": "cnn", "epochs": 3}
            self.train(whole, "--amp", amp, **setting)
            for steps in (1, 7, 12):
                with self.subTest(amp=amp, steps=steps):
                    self.train(out, "--amp", amp, "--max-steps", steps, **setting)
                    self.train(out, "--amp", amp, "--resume", **setting)
                    self.assertEqual(digest(out / "model.safetensors"), digest(whole / "model.safetensors"))
            other = self.run_cli(*self.train_arguments(out, "--resume", **setting))
            self.assert_refused(other, f"the checkpoint was made with amp {amp}, this run has off")

    def assert_same_metrics(self, out, whole):
        """Compares all columns but the last, the times."""
        rows = [[line.rsplit(",", 1)[0] for line in (folder / "metrics.csv").read_text().splitlines()]
                for folder in (out, whole)]
        self.assertEqual(*rows)

    def curves(self, out):
        """The curves of the losses of all steps and epochs in report.html."""
        return re.search("<h2>Learning curves</h2>.*?<h2>", (out / "report.html").read_text(), re.DOTALL).group()

    def test_a_checkpoint_without_a_curve(self):
        """Older versions saved no curve for reports after a resume."""
        out, whole = self.folder / "out", self.folder / "whole"
        self.train(whole)
        self.train(out, "--max-steps", 7)
        checkpoint = out / "checkpoint.safetensors"
        header, data = read_safetensors(checkpoint.read_bytes())
        begin, end = header.pop("curve")["data_offsets"]
        self.assertEqual(end - begin, 7 * 16)
        facts = header.pop("__metadata__")
        del facts["sha256"]
        names = {"F32": "float32", "I64": "int64", "U8": "uint8", "F64": "float64"}
        hashed = hashlib.sha256()
        for text in (text for fact in facts.items() for text in fact):
            hashed.update(f"{len(text.encode())}:{text}".encode())
        for name, tensor in header.items():
            text = f"{name} {names[tensor['dtype']]} {tensor['shape']}"
            first, last = tensor["data_offsets"]
            hashed.update(f"{len(text)}:{text}".encode() + data[first:last])
            shift = end - begin if first >= end else 0
            tensor["data_offsets"] = [first - shift, last - shift]
        header["__metadata__"] = {**facts, "sha256": hashed.hexdigest()}
        checkpoint.write_bytes(write_safetensors(header, data[:begin] + data[end:]))
        self.train(out, "--resume")
        self.assertEqual(digest(out / "model.safetensors"), digest(whole / "model.safetensors"))

    def test_more_epochs_than_planned(self):
        out, whole = self.folder / "out", self.folder / "whole"
        self.train(whole, epochs=6)
        for epochs in (1, 3, 4, 6):
            self.train(out, *(["--resume"] if epochs > 1 else []), epochs=epochs)
        self.assertEqual(digest(out / "model.safetensors"), digest(whole / "model.safetensors"))

    def test_a_finished_run(self):
        out = self.folder / "out"
        self.train(out)
        before = digest(out / "model.safetensors")
        self.train(out, "--resume")
        self.assertEqual(digest(out / "model.safetensors"), before)


class Signals(CliTest):
    PIPE = 4096
    EPOCHS = 70

    def start(self, out, epochs):
        """Starts a run that cannot end before its output is read, which is longer than the pipe's buffer of a page."""
        process = subprocess.Popen(self.command(*self.train_arguments(out, epochs=epochs)), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, bufsize=0)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        fcntl.fcntl(process.stdout, F_SETPIPE_SZ, self.PIPE)
        self.assertEqual(process.stdout.read(1), b"e")
        return process

    def test_first_signal_finishes_the_step(self):
        whole = self.folder / "whole"
        said = self.train(whole, epochs=self.EPOCHS)
        self.assertGreater(len(said), self.PIPE + 1000)
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number.name):
                out = self.folder / number.name
                process = self.start(out, self.EPOCHS)
                process.send_signal(number)
                said, complaint = process.communicate(timeout=120)
                self.assertEqual(process.returncode, 128 + number)
                self.assertIn(b"finishing the step", complaint)
                self.assertIn(b"stopped after step", said)
                self.assertTrue((out / "report.html").read_text().count("Interrupted in epoch"))
                self.train(out, "--resume", epochs=self.EPOCHS)
                self.assertEqual(digest(out / "model.safetensors"), digest(whole / "model.safetensors"))

    def test_second_signal_ends_at_once(self):
        process = self.start(self.folder / "out", self.EPOCHS)
        process.send_signal(signal.SIGINT)
        while b"finishing" not in process.stderr.readline():
            pass
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=60), 128 + signal.SIGINT)


class Kill(CliTest):
    KILLS = 10
    EPOCHS = 12

    def test_at_random_times(self):
        """Killed at any moment, a run leaves a whole checkpoint or none; the last run has the bits of an uninterrupted one."""
        whole, out = self.folder / "whole", self.folder / "out"
        begun = time.monotonic()
        self.train(whole, epochs=self.EPOCHS, arch="mlp")
        duration = time.monotonic() - begun
        checkpoint = out / "checkpoint.safetensors"
        rng = random.Random(20)
        for _ in range(self.KILLS):
            process = subprocess.Popen(self.command(*self.arguments(out)), stdout=subprocess.DEVNULL,
                                       stderr=subprocess.PIPE, text=True)
            try:
                process.wait(timeout=rng.uniform(0, duration))  # any moment will do, the end included
            except subprocess.TimeoutExpired:
                process.kill()
            _, complaint = process.communicate(timeout=60)
            self.assertIn(process.returncode, (0, -signal.SIGKILL), complaint)
            self.assertEqual(complaint, "")
            if checkpoint.exists():  # loads, and stops at once with the bits it had
                self.train(out, "--resume", "--max-steps", 1, epochs=self.EPOCHS, arch="mlp")
        self.assertEqual(self.run_cli(*self.arguments(out)).returncode, 0)
        self.assertEqual(digest(out / "model.safetensors"), digest(whole / "model.safetensors"))
        self.assertEqual([p.name for p in out.iterdir() if p.name.endswith(".tmp")], [])

    def arguments(self, out):
        resume = ["--resume"] if (out / "checkpoint.safetensors").exists() else []
        return self.train_arguments(out, *resume, epochs=self.EPOCHS, arch="mlp")


if __name__ == "__main__":
    main()
