"""`argand train` in several processes gives the results of one process with the whole batches."""
import os
import shutil
import signal
import subprocess
import time

from harness import SANITIZED, digest, main, make_set
from ranks_harness import CLUSTER, RanksCliTest, by_srun, values


class Ranks(RanksCliTest):
    def test_the_run_is_that_of_one_process(self):
        odd = make_set(self.folder / "odd", train=97)  # the last batch has one image
        for arch, data in (("cnn", self.data), ("mlp", odd)):
            whole = self.folder / f"whole_{arch}"
            self.train(whole, arch=arch, data=data)
            for size in (2, 3, 5):
                with self.subTest(arch=arch, size=size):
                    out = self.folder / f"{arch}_{size}"
                    said = self.run_ranks(size, out, arch=arch, data=data)
                    self.assertIn(f"{size} processes", said[0])
                    self.assertIn("test accuracy", said[0])
                    self.assertEqual(said[1:], [""] * (size - 1))  # rank 0 reports
                    self.assert_same_run(out, whole)
                    self.assertIn("processes", (out / "report.html").read_text())

    def test_mixed_precision(self):
        odd = make_set(self.folder / "odd", train=17)
        for amp in ("bf16", "fp16"):
            whole, out = self.folder / f"whole_{amp}", self.folder / amp
            self.train(whole, "--amp", amp, data=odd)
            self.run_ranks(2, out, "--amp", amp, data=odd)
            for name, ours in values(out / "model.safetensors").items():
                for a, b in zip(ours, values(whole / "model.safetensors")[name]):
                    self.assertLess(abs(a - b), 2e-2)

    def test_srun(self):
        whole, out = self.folder / "whole", self.folder / "out"
        self.train(whole)
        self.run_ranks(2, out, launcher=by_srun)
        self.assert_same_run(out, whole)

    def test_mpirun(self):
        if not shutil.which("mpirun"):
            self.skipTest("mpirun is not installed")
        if SANITIZED:
            self.skipTest("Open MPI has leaks and races of its own")
        whole, out = self.folder / "whole", self.folder / "out"
        self.train(whole)
        result = subprocess.run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "3",
                                 *self.command(*self.train_arguments(out))], capture_output=True, text=True, timeout=120,
                                env={k: v for k, v in os.environ.items() if not k.startswith(CLUSTER)})
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("3 processes", result.stdout)
        self.assertEqual(result.stdout.count("report: "), 1)
        self.assert_same_run(out, whole)

    def test_resumed_by_another_number_of_processes(self):
        whole, out = self.folder / "whole", self.folder / "out"
        self.train(whole, epochs=3)
        self.run_ranks(2, out, "--max-steps", 7, epochs=3)
        self.run_ranks(3, out, "--max-steps", 14, "--resume", epochs=3)
        self.train(out, "--resume", epochs=3)
        self.assert_same_run(out, whole)

    def test_the_same_number_of_processes_gives_the_same_bits(self):
        whole, out = self.folder / "whole", self.folder / "out"
        self.run_ranks(2, whole, epochs=3)
        self.run_ranks(2, out, "--max-steps", 7, epochs=3)
        self.run_ranks(2, out, "--resume", epochs=3)
        self.assertEqual(digest(out / "model.safetensors"), digest(whole / "model.safetensors"))

    def test_a_batch_that_is_too_small(self):
        arguments = ("train", "--data", self.data, "--arch", "linear", "--batch-size", 1, "--out", self.folder / "out")
        for status, _, errors in self.finish(self.start(2, arguments)):
            self.assertEqual(status, 1)
            self.assertIn("--batch-size: expected at least 2, an image for each process, got 1", errors)


class RanksThatEnd(RanksCliTest):
    def started(self, size, out):
        processes = self.start(size, self.train_arguments(out, epochs=1000000))
        while not (out / "checkpoint.safetensors").exists():
            self.assertIsNone(processes[0].poll())
            time.sleep(0.02)
        return processes

    def test_a_signal_to_one_stops_all_after_the_same_step(self):
        for rank in (0, 1):
            out = self.folder / f"out{rank}"
            processes = self.started(2, out)
            processes[rank].send_signal(signal.SIGTERM)
            results = self.finish(processes)
            self.assertEqual([status for status, _, _ in results], [128 + signal.SIGTERM] * 2)
            self.assertIn("go on with --resume", results[0][1])
            step = int(results[0][1].split("stopped after step ")[1].split(";")[0])
            self.run_ranks(2, out, "--resume", "--max-steps", step + 1, epochs=1000000)

    def test_one_that_is_killed_is_named(self):
        for lost in (0, 1):  # rank 0 holds the store
            processes = self.started(3, self.folder / f"out{lost}")
            processes[lost].kill()
            begun = time.monotonic()
            results = self.finish(processes)
            self.assertLess(time.monotonic() - begun, 20)
            for rank in {0, 1, 2} - {lost}:
                status, _, errors = results[rank]
                self.assertEqual(status, 1)
                self.assertIn(f"rank {lost}", errors)


    def test_started_again_after_one_was_killed(self):
        whole, out = self.folder / "whole", self.folder / "out"
        setting = {"epochs": 40}
        self.run_ranks(2, whole, **setting)
        processes = self.start(2, self.train_arguments(out, "--auto-resume", **setting))  # there is no checkpoint
        while not (out / "checkpoint.safetensors").exists():
            time.sleep(0.005)
        processes[1].kill()
        self.finish(processes)
        self.run_ranks(2, out, "--auto-resume", **setting)
        self.assertEqual(digest(out / "model.safetensors"), digest(whole / "model.safetensors"))


class RealGpus(RanksCliTest):
    """On the GPUs of the machine, if there are two."""

    def test_the_run_is_that_of_one_process(self):
        whole, out = self.folder / "whole", self.folder / "out"
        result = self.run_cli(*self.train_arguments(out, "--gpus", 2, arch="cnn"))
        if "--gpus 2: " in result.stderr:
            self.skipTest(result.stderr.strip())
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("2 processes", result.stdout)
        self.assertIn("gradients go from GPU to GPU (nccl)", result.stdout)
        self.train(whole, "--device", "cuda", arch="cnn")
        self.assert_same_run(out, whole)

    def test_a_signal_stops_all_workers(self):
        out = self.folder / "out"
        process = subprocess.Popen(self.command(*self.train_arguments(out, "--gpus", 2, epochs=1000000)), text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        while not (out / "checkpoint.safetensors").exists() and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        said, errors = process.communicate(timeout=60)
        if "--gpus 2: " in errors:
            self.skipTest(errors.strip())
        self.assertEqual(process.returncode, 128 + signal.SIGINT)
        self.assertIn("go on with --resume", said)


class Gpus(RanksCliTest):
    """On the pretended GPU: there is one."""

    def dry(self, *more):
        env = {k: v for k, v in os.environ.items() if not k.startswith(CLUSTER)}
        result = self.run_cli(*self.train_arguments(self.folder / "out", *more, epochs=1), env={**env, "ARGAND_CUDA_DRY_RUN": "1"})
        if "CUDA backend" in result.stderr and "cannot" in result.stderr:
            self.skipTest(result.stderr)
        return result

    def test_workers(self):
        for arguments in (("--gpus", "1"), ("--gpus=all", )):
            result = self.dry(*arguments)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertTrue((self.folder / "out" / "model.safetensors").exists())

    def test_more_workers_than_gpus(self):
        self.assert_refused(self.dry("--gpus", "2"), "--gpus 2: this machine has 1 GPU")

    def test_what_is_refused(self):
        self.assert_refused(self.dry("--gpus", "1", "--device", "cpu"), "there is no --device beside it, got cpu")
        self.assert_refused(self.dry("--gpus", "some"), "--gpus: expected all or a number from 1, got some")
        processes = self.start(1, self.train_arguments(self.folder / "out", "--gpus", "1"))
        (status, _, errors), = self.finish(processes)
        self.assertEqual(status, 1)
        self.assertIn("--gpus starts the workers, but torchrun has started this process as one", errors)

    def test_no_gpu(self):
        without = self.run_cli(*self.train_arguments(self.folder / "out", "--gpus", "all"), env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
        self.assert_refused(without, "--gpus all: ")


if __name__ == "__main__":
    main()
