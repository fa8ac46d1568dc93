"""argand.checkpoint: folders of checkpoints, and runs that go on as if they had never stopped."""
import copy
import errno
import os
import pathlib
import random
import signal
import subprocess
import sys
import textwrap
import time

import numpy
import pytest

import argand
from argand.checkpoint import CheckpointFolder, StopSignal, restore, training_state
from argand.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset

EPOCHS, SAMPLES, BATCH = 3, 26, 4


class Noisy(Dataset):
    """Draws random numbers for each sample, as augmentation does."""

    def __len__(self):
        return SAMPLES

    def __getitem__(self, i):
        return argand.full((6,), float(i)) + argand.rand(6) + random.random() + numpy.random.rand(), i % 3


class Stream(IterableDataset):
    """Samples that come one after another."""

    def __iter__(self):
        return iter([(argand.full((6,), float(i)), i % 3) for i in range(SAMPLES)])


LOADERS = {
    "shuffled": lambda: DataLoader(TensorDataset(argand.arange(SAMPLES * 6.).view(SAMPLES, 6), argand.arange(SAMPLES) % 3),
                                   batch_size=BATCH, shuffle=True),
    "noisy": lambda: DataLoader(Noisy(), batch_size=BATCH, shuffle=True),
    "own_generator": lambda: DataLoader(Noisy(), batch_size=BATCH, shuffle=True,
                                        generator=argand.Generator().manual_seed(9)),
    "replacement": lambda: DataLoader(Noisy(), batch_size=BATCH,
                                      sampler=argand.utils.data.RandomSampler(Noisy(), replacement=True, num_samples=70)),
    "workers": lambda: DataLoader(Noisy(), batch_size=BATCH, shuffle=True, num_workers=2),
    "stream": lambda: DataLoader(Stream(), batch_size=BATCH),
}


class Run:
    """A small training with dropout, momentum or Adam's state, a schedule, loss scaling and a shuffled loader."""

    def __init__(self, loader="shuffled", optimizer="adam"):
        argand.manual_seed(4)
        random.seed(4)
        numpy.random.seed(4)
        model = argand.nn.Sequential(argand.nn.Linear(6, 16), argand.nn.BatchNorm1d(16), argand.nn.ReLU(),
                                     argand.nn.Dropout(0.4), argand.nn.Linear(16, 3))
        made = (argand.optim.Adam(model.parameters(), lr=0.01) if optimizer == "adam" else
                argand.optim.SGD(model.parameters(), lr=0.01, momentum=0.9))
        self.parts = dict(model=model, optimizer=made, scheduler=argand.optim.lr_scheduler.StepLR(made, 1, 0.5),
                          scaler=argand.amp.GradScaler("cpu", init_scale=4.0), loader=LOADERS[loader]())
        self.epoch = self.step = 0

    def go(self, until=None):
        """Trains to the end, or until that many steps are done."""
        while self.epoch < EPOCHS and self.train_epoch(until):
            pass
        return self

    def train_epoch(self, until=None, after_step=lambda: None):
        """Trains to the end of the epoch; False if the steps were done before."""
        model, optimizer, scheduler, scaler, loader = self.parts.values()
        for x, y in loader:
            optimizer.zero_grad()
            loss = argand.nn.functional.cross_entropy(model(x / 30), y)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            self.step += 1
            after_step()
            if self.step == until:
                return False
        scheduler.step()
        self.epoch += 1
        return True

    def state(self):
        """For saving."""
        return training_state(epoch=self.epoch, step=self.step, **self.parts)

    def resume(self, state):
        """Goes to where `state` was made."""
        saved = restore(state, **self.parts)
        self.epoch, self.step = saved["epoch"], saved["step"]
        return self


def bits(value):
    """Something that compares equal for equal bits alone."""
    if isinstance(value, argand.Tensor):
        return value.dtype, tuple(value.shape), value.detach().cpu().contiguous().numpy().tobytes()
    if isinstance(value, dict):
        return {k: bits(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [bits(v) for v in value]
    return value


def scramble():
    """Moves the generators, as another program would have."""
    argand.rand(7)
    random.random()
    numpy.random.rand()


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
@pytest.mark.parametrize("loader", LOADERS)
def test_a_resumed_run_gives_the_bits_of_one_that_never_stopped(tmp_path, loader, optimizer):
    whole = Run(loader, optimizer).go()
    expected, per_epoch = bits(whole.state()), whole.step // EPOCHS
    for stop in (1, per_epoch - 1, per_epoch, per_epoch + 3, whole.step):
        folder = CheckpointFolder(tmp_path / str(stop))
        run = Run(loader, optimizer).go(stop)
        folder.save_async(stop, run.state())
        run.go()  # what is saved is what was there
        scramble()
        loaded = folder.load_latest()
        assert loaded.step == stop
        assert bits(Run(loader, optimizer).resume(loaded.state).go().state()) == expected, stop


def test_a_difference_is_seen():
    whole, other = Run().go(), Run().go(9)
    state = other.state()
    state["random"] = training_state()["random"]
    state["random"]["cpu"] = argand.Generator().get_state()
    assert bits(Run().resume(copy.deepcopy(state)).go().state()["parts"]["model"]) != bits(
        whole.state()["parts"]["model"])


@pytest.mark.parametrize("loader", LOADERS)
def test_a_run_saved_between_epochs(loader):
    state = None
    for _ in range(EPOCHS):
        run = Run(loader)
        if state is not None:
            scramble()
            run.resume(state)
        run.train_epoch()
        state = copy.deepcopy(run.state())
    assert bits(state) == bits(Run(loader).go().state())


def test_restore_changes_all_or_nothing():
    run = Run().go(5)
    good = copy.deepcopy(run.state())
    before = bits(Run().go(3).state())
    for name, spoil in [("model", lambda s: s.popitem()), ("optimizer", lambda s: s["param_groups"].clear()),
                        ("loader", lambda s: s.clear()), ("scaler", lambda s: s.clear())]:
        bad = copy.deepcopy(good)
        spoil(bad["parts"][name])
        victim = Run().go(3)
        with pytest.raises(Exception):
            restore(bad, **victim.parts)
        assert bits(victim.state()) == before, name
    for spoil in (lambda s: s["random"].pop("python"), lambda s: s["parts"].pop("model"),
                  lambda s: s["random"].update(cpu=argand.zeros(3, dtype=argand.uint8))):
        bad = copy.deepcopy(good)
        spoil(bad)
        victim = Run().go(3)
        with pytest.raises(Exception):
            restore(bad, **victim.parts)
        assert bits(victim.state()) == before


def test_plain_values_and_none_travel_along():
    state = training_state(epoch=2, step=7, model=argand.nn.Linear(1, 1), scheduler=None, best=0.5)
    assert restore(state, model=argand.nn.Linear(1, 1), scheduler=None) == {
        "epoch": 2, "step": 7, "scheduler": None, "best": 0.5}


def test_folder(tmp_path):
    folder = CheckpointFolder(tmp_path / "run", keep=2)
    with pytest.raises(FileNotFoundError, match="there is no such folder"):
        folder.load_latest()
    for step in range(4):
        assert folder.save(step, {"x": argand.full((300,), step)}) == folder.path_of(step)
    assert folder.steps() == [2, 3]
    content = bytearray(pathlib.Path(folder.path_of(3)).read_bytes())
    content[len(content) // 2] ^= 1
    pathlib.Path(folder.path_of(3)).write_bytes(content)
    with pytest.warns(UserWarning, match="passed over .*step-000000003.pt.*damaged"):
        loaded = folder.load_latest()
    assert loaded.step == 2 and loaded.state["x"][0] == 2 and loaded.path == folder.path_of(2)
    assert [path for path, _ in loaded.skipped] == [folder.path_of(3)]
    os.truncate(folder.path_of(2), 10)
    with pytest.raises(argand.IoError, match="every checkpoint .* is damaged"):
        folder.load_latest()
    with pytest.raises(ValueError, match="holds step 2, which is later than 1"):
        CheckpointFolder(tmp_path / "run").save(1, {})


def test_errors_have_errno_filename_and_space(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError) as raised:
        CheckpointFolder(tmp_path / "file").save(1, {})
    assert raised.value.errno == errno.ENOTDIR and raised.value.filename == str(tmp_path / "file")
    script = textwrap.dedent("""
        import argand, errno, os, sys
        folder = argand.checkpoint.CheckpointFolder(sys.argv[1])
        folder.save(1, {"x": argand.zeros(1000)})
        for save in folder.save, lambda *a: folder.save_async(*a).wait():
            try:
                save(2, {"x": argand.zeros(10**7)})
            except OSError as error:
                assert error.errno == errno.ENOSPC and error.filename == folder.path_of(2), error
                assert error.bytes_needed >= 4 * 10**7 > error.bytes_free > 0, error
            else:
                sys.exit("no error")
        assert folder.load_latest().step == 1 and len(os.listdir(sys.argv[1])) == 1
    """)
    mounted = ["unshare", "-m", "sh", "-c", f'mount -t tmpfs -o size=4m none {tmp_path} && exec "$@"', "sh"]
    if subprocess.run([*mounted, "true"], capture_output=True).returncode:
        pytest.skip("no tmpfs can be mounted here")
    done = subprocess.run([*mounted, sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_async_is_finished_at_the_end_of_the_program(tmp_path):
    script = ("import argand, sys\nfolder = argand.checkpoint.CheckpointFolder(sys.argv[1])\n"
              "folder.save_async(1, {'x': argand.ones(10**6)})\n")
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True)
    assert CheckpointFolder(tmp_path).load_latest().state["x"].sum() == 10**6


def test_loader_state_is_checked():
    loader = LOADERS["shuffled"]()
    with pytest.raises(ValueError, match="no state of this DataLoader"):
        loader.load_state_dict({})
    with pytest.raises(ValueError, match="no state of this DataLoader"):
        loader.load_state_dict(LOADERS["own_generator"]().state_dict())


def test_stop_signal():
    before = signal.getsignal(signal.SIGTERM)
    with StopSignal() as stop:
        assert not stop.requested
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.requested and stop.signal == signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) is before
    script = ("import argand, os, signal\nwith argand.checkpoint.StopSignal():\n"
              "    os.kill(os.getpid(), signal.SIGINT); os.kill(os.getpid(), signal.SIGINT)\nprint('not reached')")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True)
    assert done.returncode == 128 + signal.SIGINT and done.stdout == b""


KILLS = int(os.environ.get("ARGAND_KILLS", "5"))


_TRAINING = f"""
import sys
sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})
from test_training_checkpoint import EPOCHS, CheckpointFolder, Run
run, folder = Run("noisy"), CheckpointFolder(sys.argv[1])
if folder.steps():
    run.resume(folder.load_latest().state)
print("started", flush=True)
while run.epoch < EPOCHS:
    run.train_epoch(after_step=lambda: folder.save_async(run.step, run.state()))
folder.close()
print("done", flush=True)
"""


def test_resumes_from_random_kills(tmp_path):
    """Killed at random times and gone on with here: the bits of a run that was let alone.  ARGAND_KILLS: how often."""
    expected = bits(Run("noisy").go().state())
    rng = random.Random(1)
    rounds = at_steps = 0
    kills = 0
    while kills < KILLS:
        rounds += 1
        path = tmp_path / str(rounds)
        said = ""
        while kills < KILLS and "done" not in said:
            process = subprocess.Popen([sys.executable, "-c", _TRAINING, str(path)], stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True)
            assert process.stdout.readline() == "started\n", process.stderr.read()
            try:
                process.wait(timeout=rng.uniform(0, 0.03))
            except subprocess.TimeoutExpired:
                process.kill()
            said, complaint = process.communicate()
            assert process.returncode in (0, -signal.SIGKILL), complaint
            kills += process.returncode != 0
            run, folder = Run("noisy"), CheckpointFolder(path)
            if folder.steps():
                loaded = folder.load_latest()
                assert not loaded.skipped
                run.resume(loaded.state)
            at_steps += 0 < run.step < 3 * 7
            assert bits(run.go().state()) == expected
    print(f"{kills} kills in {rounds} runs, {at_steps} of them in the middle")


SIGNALS = int(os.environ.get("ARGAND_SIGNALS", "20"))


def train_until_stopped(path, started):
    """In a process of its own: goes on from `path`, finishes the step it is in when a signal comes, saves and exits."""
    run, folder = Run("noisy"), CheckpointFolder(path)
    if folder.steps():
        run.resume(folder.load_latest().state)

    def after_step():
        if stop.requested:
            folder.save_async(run.step, run.state())
            folder.close()
            os._exit(128 + stop.signal)
    with StopSignal() as stop:
        os.write(started, b"s")
        while run.epoch < EPOCHS:
            run.train_epoch(after_step=after_step)
        folder.save(run.step, run.state())
        os._exit(0)


@pytest.mark.skipif(argand.cuda.is_available(), reason="the scaler uses the GPU, and CUDA does not survive fork()")
def test_finishes_the_step_and_saves_when_it_is_asked_to_stop(tmp_path):
    """SIGINT and SIGTERM at random times: the step is whole, saved, and the bits are those of a run that was let alone.
    ARGAND_SIGNALS: how often."""
    expected = bits(Run("noisy").go().state())
    rng = random.Random(3)
    signals = rounds = middle = 0
    while signals < SIGNALS:
        rounds += 1
        path, done, before = tmp_path / str(rounds), False, 0
        while not done and signals < SIGNALS:
            reads, writes = os.pipe()
            child = os.fork()
            if child == 0:
                try:
                    train_until_stopped(path, writes)
                finally:
                    os._exit(1)
            os.close(writes)
            assert os.read(reads, 1) == b"s"
            os.close(reads)
            time.sleep(rng.uniform(0, 0.02))
            number = rng.choice((signal.SIGINT, signal.SIGTERM))
            os.kill(child, number)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            done = code == 0
            assert done or code == 128 + number, code
            signals += not done
            loaded = CheckpointFolder(path).load_latest()
            assert not loaded.skipped and loaded.step >= before
            assert done or loaded.step > before or loaded.step == 3 * 7, "at least the step that was begun"
            middle += 0 < loaded.step < 3 * 7
            before = loaded.step
            assert bits(Run("noisy").resume(loaded.state).go().state()) == expected
    print(f"{signals} signals in {rounds} runs, {middle} of them in the middle")
    assert middle > 0
