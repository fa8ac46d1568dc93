"""Helpers for tests of `argand train` in several processes: they start the processes and compare the results."""
import os
import socket
import struct
import subprocess

from harness import CliTest, read_safetensors

CLUSTER = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT", "OMPI_", "SLURM_")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def by_torchrun(rank, size, port):
    return {"RANK": rank, "WORLD_SIZE": size, "LOCAL_RANK": rank, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}


def by_srun(rank, size, port):
    return {"SLURM_PROCID": rank, "SLURM_STEP_NUM_TASKS": size, "SLURM_LOCALID": rank, "SLURM_STEP_NODELIST": "localhost",
            "SLURM_JOB_ID": port, "SLURM_STEP_ID": 3}  # the number of the job makes the port


def values(path):
    """The float32 tensors of a safetensors file, by name."""
    header, data = read_safetensors(path.read_bytes())
    out = {}
    for name, tensor in header.items():
        if name != "__metadata__" and tensor["dtype"] == "F32":
            begin, end = tensor["data_offsets"]
            out[name] = struct.unpack(f"<{(end - begin) // 4}f", data[begin:end])
    return out


class RanksCliTest(CliTest):
    def start(self, size, arguments, launcher=by_torchrun, **options):
        clean = {k: v for k, v in os.environ.items() if not k.startswith(CLUSTER)}
        port = free_port()
        processes = []
        for rank in range(size):
            told = {k: str(v) for k, v in launcher(rank, size, port).items()}
            processes.append(subprocess.Popen(self.command(*arguments), env={**clean, **told, "OMP_NUM_THREADS": "1"}, text=True,
                                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options))
            self.addCleanup(processes[-1].kill)
        return processes

    def finish(self, processes):
        """(status, output, errors) of each."""
        return [(p.wait(), out, err) for p, (out, err) in [(p, p.communicate(timeout=120)) for p in processes]]

    def run_ranks(self, size, out, *more, launcher=by_torchrun, **options):
        results = self.finish(self.start(size, self.train_arguments(out, *more, **options), launcher))
        for status, _, errors in results:
            self.assertEqual((status, errors), (0, ""))
        return [output for _, output, _ in results]

    def assert_same_run(self, out, whole):
        """Asserts that two runs are equal except for rounding in float32."""
        ours, theirs = values(out / "model.safetensors"), values(whole / "model.safetensors")
        self.assertEqual(list(ours), list(theirs))
        for name in ours:
            for a, b in zip(ours[name], theirs[name]):
                self.assertLess(abs(a - b), 1e-4 * max(1, abs(b)), name)
        rows = [[[float(x) for x in line.split(",")[:-1]] for line in (f / "metrics.csv").read_text().splitlines()[1:]]
                for f in (out, whole)]
        self.assertEqual(len(rows[0]), len(rows[1]))
        for ours, theirs in zip(*rows):
            for a, b in zip(ours, theirs):
                self.assertAlmostEqual(a, b, delta=1e-4)
