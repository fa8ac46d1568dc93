"""argand.checkpoint over ranks: which save is whole, and that all ranks agree on it."""
import functools
import os
import subprocess
import sys
import textwrap

import pytest
from ranks import PACKAGE, finish, run, start
from statements import says

import argand
from argand.checkpoint import DistributedCheckpointFolder, PerRank, restore, training_state
from argand.checkpoint._generations import make_folder

pytestmark = pytest.mark.skipif(not argand.distributed.is_gloo_available(), reason="libgloo is not installed")

page = functools.partial(says, "docs/distributed.md")

COMMON = """
    import errno, os, pathlib, resource, shutil, warnings
    from argand.checkpoint import DistributedCheckpointFolder, PerRank
    root = pathlib.Path(__file__).parent

    def folder_of(name, local=False, keep=3, **options):
        return DistributedCheckpointFolder(root / name / f"disk{rank}" if local else root / name, keep, **options)

    def state(step, who=rank):
        return {"x": torch.full((3000,), step), "deep": {"own": PerRank(v=torch.full((2000,), 100 * step + who), who=who)}, "last": 7}

    def is_that_of(loaded, step):
        expected = state(step)
        assert loaded.step == step and list(loaded.state) == list(expected), loaded
        assert torch.equal(loaded.state["x"], expected["x"]) and loaded.state["last"] == 7
        assert isinstance(loaded.state["deep"]["own"], PerRank) and loaded.state["deep"]["own"]["who"] == rank
        assert torch.equal(loaded.state["deep"]["own"]["v"], expected["deep"]["own"]["v"])

    def alike(value):
        values = [None] * size; dist.all_gather_object(values, value)
        assert all(v == values[0] for v in values), values
        return value

    def on(who, act, *arguments):
        if rank == who: act(*arguments)
        dist.barrier()

    def warned(call):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always"); result = call()
        return result, [str(w.message) for w in seen]

    def raised(kind, call, *arguments):
        try: call(*arguments)
        except kind as error: return alike((type(error).__name__, str(error).replace(f"/disk{rank}", "")))[1]
        raise SystemExit(f"{call} raised nothing")
"""


CLI = PACKAGE.parent / "bin" / "argand"


@pytest.mark.skipif(not CLI.exists(), reason=f"{CLI} is not built")
def test_the_command_that_verifies_knows_these_folders(tmp_path):
    several(tmp_path, 2, """
    with folder_of("run") as folder:
        for step in (1, 2): folder.save(step, state(step))
    """)
    folder = tmp_path / "run"
    verify = functools.partial(subprocess.run, [CLI, "ckpt", "verify", folder], text=True, capture_output=True, timeout=60)
    good = verify()
    assert (good.returncode, good.stderr) == (0, "") and good.stdout.count("parts of 2 ranks") == 2, good
    assert good.stdout.endswith(f"the newest that is whole: {folder}/step-000000002-2-ranks\n"), good
    part = folder / "step-000000002-2-ranks" / "rank-1.pt"
    content = part.read_bytes()
    middle = len(content) // 2
    part.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1:])
    damaged = verify()
    assert damaged.returncode == 1 and "step 2: not whole: rank-1.pt is damaged: " in damaged.stdout, damaged
    assert damaged.stdout.endswith(f"the newest that is whole: {folder}/step-000000001-2-ranks\n"), damaged


def several(tmp_path, size, body, **options):
    return run(tmp_path, size, COMMON + body, **options)


def test_saves_and_loads(tmp_path):
    several(tmp_path, 3, """
    for local in (False, True):
        folder = folder_of(f"a{local}", local, keep=2)
        assert folder.steps() == []
        assert "no such folder" in raised(FileNotFoundError, folder.load_latest)
        for step, are_there in ((1, ["1"]), (2, ["1", "2"]), (2, ["2", "2.1"]), (2, ["2.1", "2.2"])):  # none is written over
            path = folder.save(step, state(step))
            is_that_of(folder.load_latest(), step)
            dist.barrier()  # all have removed old ones
            names = [f"step-{name[0]:0>9}-3-ranks{name[1:]}" for name in are_there]
            assert sorted(os.listdir(folder._path)) == names and path.endswith(names[-1])
        pending = folder.save_async(3, state(3)); pending.wait(); pending.wait(); assert pending.done()
        second = folder.save_async(4, state(4)); is_that_of(folder.load_latest(), 4)
        folder.save_async(5, state(5)); folder.close(); folder.close()
        assert folder.steps() == [4, 5]
        loaded, seen = warned(lambda: folder_of(f"a{local}", local).load_latest(map_location="cpu"))
        is_that_of(loaded, 5); assert not seen and not loaded.skipped and loaded.world_size == size
        assert sorted(os.listdir(folder._path)) == ["step-000000004-3-ranks", "step-000000005-3-ranks"]
        mine = [f"rank-{rank}.pt"] + ["shared.pt"] * (rank == 0)
        assert sorted(os.listdir(loaded.path)) == (mine if local else ["rank-0.pt", "rank-1.pt", "rank-2.pt", "shared.pt"])
    values = state(6); values["x"].zero_(); folder.save_async(6, values)  # what is saved is what was there at the call
    values["x"].fill_(9); values["deep"]["own"]["v"].fill_(9); folder.close()
    saved = folder.load_latest().state; assert saved["x"].sum() == 0 and saved["deep"]["own"]["v"][0] == 600 + rank
    assert "holds step 6, which is later than 3" in raised(ValueError, folder.save, 3, state(3))
    """)


def test_without_anything_of_single_ranks_rank_0_writes_one_file(tmp_path):
    several(tmp_path, 2, """
    for local in (False, True):
        folder = folder_of(f"a{local}", local)
        path = folder.save(1, {"x": torch.full((30_000_000,), 3 + rank, dtype=torch.int8)})
        assert (os.listdir(path) == ["shared.pt"]) if rank == 0 or not local else not os.path.exists(path)
        loaded, seen = warned(folder.load_latest)
        assert loaded.state["x"].shape == (30_000_000,) and (loaded.state["x"] == 3).all() and not seen
    """)


def test_paths_that_are_no_text(tmp_path):
    several(tmp_path, 2, """
    folder = folder_of(os.fsdecode(b"\\xff\\xfe"))
    path = folder.save(1, state(1)); folder.save(2, state(2)); is_that_of(folder.load_latest(), 2)
    on(1, os.truncate, folder._path + "/step-000000002-2-ranks/rank-1.pt", 10)
    loaded, seen = warned(folder.load_latest); is_that_of(loaded, 1); assert loaded.path == path
    on(0, shutil.rmtree, folder._path); on(0, pathlib.Path(folder._path).write_text, "")
    assert "Not a directory" in raised(OSError, folder.steps)
    """)


def test_groups_have_folders_of_their_own(tmp_path):
    several(tmp_path, 3, """
    pair = dist.new_group([0, 2])
    if rank == 1:
        try: folder_of("pair", group=pair).save(1, {})
        except ValueError as error: assert "a group that this process is in" in str(error)
    else:
        folder = folder_of("pair", group=pair); folder.save(4, state(4)); is_that_of(folder.load_latest(), 4)
        assert sorted(os.listdir(root / "pair" / "step-000000004-2-ranks")) == ["rank-0.pt", "rank-1.pt", "shared.pt"]
    """)


TORN = """
    def remove(path): os.unlink(path)
    def cut(path): os.truncate(path, os.path.getsize(path) // 2)
    def empty(path): os.truncate(path, 0)
    def flip(path):
        content = bytearray(path.read_bytes()); content[len(content) // 2] ^= 4; path.write_bytes(content)
    def into_a_folder(path): os.unlink(path); os.mkdir(path)
    def another(path): torch.save({"x": 1}, path)
    def older(path): shutil.copy(path.parent.parent / path.parent.name.replace("3", "2", 1) / path.name, path)
    def of_another_save(path): shutil.copy(root / "elsewhere" / path.parent.name / path.name, path)
    def of_another_rank(path): shutil.copy(path.parent / "rank-0.pt", path)
    def of_another_world(path):
        content = torch.load(path); content["world_size"] = 3; torch.save(content, path)
    SAYS = {remove: "^(rank 1 does not find rank-1.pt|no rank finds shared.pt)$", into_a_folder: "it is a folder", cut: "the file is cut",
            empty: "this is no file of torch.save", flip: "its checksum is wrong",
            another: "expected a part of a save of DistributedCheckpointFolder", older: "expected the .*000000003.*, got the .*000000002",
            of_another_save: "expected a part of save ", of_another_rank: "expected the part of rank 1 .*, got the part of rank 0",
            of_another_world: "expected the .* of 2 ranks .*, got the .* of 3 ranks"}
"""


@page("Newer saves that are not complete are passed over, and rank 0 warns.")
def test_what_is_torn_is_passed_over_by_all(tmp_path):
    several(tmp_path, 2, TORN + """
    import re
    folder_of("elsewhere").save(3, state(3))
    for number, (spoil, part, local) in enumerate((s, p, l) for s in SAYS for p in ("rank-1.pt", "shared.pt") for l in (False, True)):
        if spoil is of_another_rank and part == "shared.pt" or local and spoil in (of_another_rank,): continue
        folder = folder_of(f"case{number}", local)
        for step in (1, 2, 3): folder.save(step, state(step))
        on(int(part == "rank-1.pt"), spoil, pathlib.Path(folder._path, "step-000000003-2-ranks", part))
        loaded, seen = warned(folder.load_latest)
        is_that_of(loaded, 2)
        (path, why), = loaded.skipped
        alike(why)
        assert path.endswith("step-000000003-2-ranks") and re.search(SAYS[spoil], why), (spoil, part, why)
        assert len(seen) == (2 if rank == 0 else 0), seen
        folder.save(3, state(3)); is_that_of(folder.load_latest(), 3)  # over what was passed over
        assert spoil is into_a_folder or not os.path.exists(os.path.join(folder._path, "step-000000003-2-ranks"))
        folder.save(3, state(3)); assert folder.steps() == [2, 3]
    """)


def test_when_nothing_is_whole_all_raise(tmp_path):
    several(tmp_path, 2, TORN + """
    folder = folder_of("damaged")
    for step in (1, 2): folder.save(step, state(step))
    on(0, flip, root / "damaged/step-000000001-2-ranks/rank-0.pt"); on(0, flip, root / "damaged/step-000000002-2-ranks/shared.pt")
    message = raised(torch.IoError, folder.load_latest)
    assert "every checkpoint in" in message and "rank 0" in message and "shared.pt" in message and "rank-0.pt" in message
    folder = folder_of("killed")  # in the middle of the first save of all: the run begins anew
    folder.save(5, state(5)); on(0, remove, root / "killed/step-000000005-2-ranks/rank-1.pt")
    steps, seen = warned(folder.steps); assert steps == [] and len(seen) == (rank == 0)
    message = raised(FileNotFoundError, folder.load_latest)
    assert "no checkpoint of 2 ranks: it holds what is not whole" in message and "rank 1 does not find rank-1.pt" in message
    folder.save(2, state(2)); is_that_of(folder.load_latest(), 2)
    folder.save(5, state(5)); is_that_of(folder.load_latest(), 5)
    assert sorted(os.listdir(root / "killed")) == ["step-000000002-2-ranks", "step-000000005-2-ranks.1"]
    message = raised(RuntimeError, lambda: folder.load_latest("cuda:99" if rank else None))  # no damage: step 2 would not do either
    assert "rank 1: DeviceError" in message and "cuda:99" in message
    """)


@page("On disks of the machines, a rank must find its own part", "The shared part is sent to machines that do not have it.")
def test_disks_that_hold_different_saves(tmp_path):
    several(tmp_path, 3, TORN + """
    folder = folder_of("a", local=True)
    for step in (1, 2, 3): folder.save(step, state(step))
    on(1, shutil.rmtree, root / "a/disk1/step-000000003-3-ranks")
    on(2, shutil.rmtree, root / "a/disk2/step-000000001-3-ranks")
    assert folder.steps() == [2]
    (loaded, seen) = warned(folder.load_latest); is_that_of(loaded, 2)
    assert loaded.skipped[0][1] == "rank 1 does not find rank-1.pt" and len(seen) == 2 * (rank == 0)
    folder.save(4, state(4)); is_that_of(folder.load_latest(), 4)
    assert not [name for name in os.listdir(folder._path) if "1-3" in name or "3-3" in name]  # what no run can load
    on(1, shutil.copy, root / "a/disk0/step-000000004-3-ranks/shared.pt", root / "a/disk1/step-000000004-3-ranks")
    on(1, flip, root / "a/disk1/step-000000004-3-ranks/shared.pt")
    (loaded, seen) = warned(folder.load_latest); is_that_of(loaded, 4)  # it gets that of rank 0
    assert (len(seen) == 1 and "disk1/" in seen[0] and "its checksum is wrong" in seen[0]) if rank == 0 else not seen
    on(2, flip, root / "a/disk2/step-000000004-3-ranks/rank-2.pt")
    is_that_of(folder.load_latest(), 2)
    on(0, shutil.rmtree, root / "a/disk0")  # with the only copies of what is shared
    assert folder.steps() == []
    message = raised(FileNotFoundError, folder.load_latest)
    assert "step-000000002-3-ranks: no rank finds shared.pt, rank 0 does not find rank-0.pt" in message
    """)


@page("`load_latest()` raises a `ValueError`. `load_latest(any_world_size=True)` loads what was the same on all ranks and leaves "
      "out the rest, with a warning")
def test_another_number_of_ranks(tmp_path):
    several(tmp_path, 3, """
    from argand.checkpoint import training_state
    folder = folder_of("a"); folder.save(1, state(1)); folder_of("b").save(1, {"x": torch.ones(2)})
    loader = torch.utils.data.DataLoader([1, 2, 3], shuffle=True); next(iter(loader))
    folder_of("c").save(1, training_state(epoch=4, model=torch.nn.Linear(1, 1), loader=loader))
    """)
    several(tmp_path, 2, """
    assert folder_of("b").load_latest().state["x"].sum() == 2  # nothing of single ranks
    folder = folder_of("a"); assert folder.steps() == [1]
    message = raised(ValueError, folder.load_latest)
    assert "step-000000001-3-ranks' has a part of each of 3 ranks" in message and "this group has 2" in message
    loaded, seen = warned(lambda: folder.load_latest(any_world_size=True))
    assert loaded.world_size == 3 and loaded.state["x"][0] == 1 and loaded.state["deep"]["own"] == {} and loaded.state["last"] == 7
    assert (len(seen) == 1 and "left out: deep.own" in seen[0]) if rank == 0 else not seen
    folder.save(2, state(2)); is_that_of(folder.load_latest(), 2)
    """)
    several(tmp_path, 1, """
    from argand.checkpoint import restore
    loader = torch.utils.data.DataLoader([1, 2, 3], shuffle=True); torch.manual_seed(5)
    loaded = folder_of("c").load_latest(any_world_size=True)
    assert restore(loaded.state, model=torch.nn.Linear(1, 1), loader=loader) == {"epoch": 4, "step": 0}
    assert torch.initial_seed() == 5 and loader.state_dict()["batches"] == 0  # these stay as they are
    folder = folder_of("a")
    assert "has a part of each of 2 ranks" in raised(ValueError, folder.load_latest)  # and does not go back to step 1
    loaded = folder.load_latest(any_world_size=True)
    assert loaded.step == 2
    """, init="dist.init_process_group('gloo', store=dist.HashStore(), rank=0, world_size=1)")


@page("**When a rank cannot write** (a full disk), all ranks raise an error that names the rank and the file, and the earlier saves "
      "stay.")
def test_a_rank_that_cannot_write(tmp_path):
    several(tmp_path, 3, """
    folder = folder_of("a"); folder.save(1, state(1))
    large = {"x": torch.zeros(10), "own": PerRank(v=torch.zeros(1 << 20))}

    def limited(who, call):
        if rank == who: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, resource.RLIM_INFINITY))
        try: call()
        except OSError as error:
            assert error.errno == errno.EFBIG and error.rank == who, error
            return alike((str(error), error.filename))
        finally: resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        raise SystemExit("nothing was raised")
    for who in (0, 1, 2):
        text, file = limited(who, lambda: folder.save(2, large))
        assert f"save(2): rank {who}: File too large" in text and file.endswith(f"step-000000002-3-ranks/rank-{who}.pt")
        dist.barrier(); assert os.listdir(root / "a") == ["step-000000001-3-ranks"]
        assert f"save_async(2): rank {who}" in limited(who, lambda: folder.save_async(2, large).wait())[0]
    def later():
        folder.save_async(2, large); folder._writing.join(); folder.save(3, state(3))
    assert "save_async(2): rank 2" in limited(2, later)[0]
    is_that_of(folder.load_latest(), 1)
    folder.save(2, large); assert folder.load_latest().step == 2
    # what cannot be saved at all
    bad = {"x": 1, "own": PerRank(v=object() if rank == 1 else 1)}
    assert "save(3): rank 1: ValueError: save: a value of type object cannot be saved" in raised(ValueError, folder.save, 3, bad)
    pending = folder.save_async(3, bad)
    assert "save_async(3): rank 1: " in raised(ValueError, pending.wait)
    assert folder.steps() == [1, 2]
    # a folder that is none
    on(0, (root / "file").write_text, "")
    assert "rank 0: Not a directory" in raised(OSError, folder_of("file").save, 1, {})
    assert "rank 0: Not a directory" in raised(OSError, folder_of("file").steps)
    """)


def test_a_full_disk(tmp_path):
    """On all ranks, with what was needed and what was free."""
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent("""
        import errno, os, sys
        import argand as torch, argand.distributed as dist
        from argand.checkpoint import DistributedCheckpointFolder, PerRank
        dist.init_process_group("gloo")
        rank, disk = dist.get_rank(), sys.argv[1]
        folder = DistributedCheckpointFolder(os.path.join(disk, "run"))
        state = lambda n: {"x": torch.zeros(1000), "own": PerRank(v=torch.zeros(n if rank == 1 else 10))}
        folder.save(1, state(10))
        for save in folder.save, lambda *a: folder.save_async(*a).wait():
            try:
                save(2, state(10**7))
            except OSError as error:
                assert error.errno == errno.ENOSPC and error.rank == 1 and error.filename.endswith("step-000000002-2-ranks/rank-1.pt"), error
                assert error.bytes_needed >= 4 * 10**7 > error.bytes_free > 0, error
            else:
                sys.exit("no error")
            dist.barrier()
            assert os.listdir(os.path.join(disk, "run")) == ["step-000000001-2-ranks"]
        folder.save(2, state(10))
        assert folder.load_latest().step == 2
    """))
    mounted = ["unshare", "-m", "sh", "-c", f'mount -t tmpfs -o size=4m none {tmp_path / "disk"} && exec "$@"', "sh"]
    (tmp_path / "disk").mkdir()
    if subprocess.run([*mounted, "true"], capture_output=True).returncode:
        pytest.skip("no tmpfs can be mounted here")
    command = [sys.executable, "-m", "argand.distributed.run", "--nproc-per-node", "2", script, tmp_path / "disk"]
    done = subprocess.run([*mounted, *command], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@page("if their calls differ, all raise an error that shows both.")
def test_ranks_that_differ(tmp_path):
    several(tmp_path, 2, """
    folder = folder_of("a"); folder.save(1, state(1))
    assert "rank 0 calls save(2), rank 1 save(3)" in raised(RuntimeError, folder.save, 2 + rank, state(2))
    call = (lambda: folder.save(2, state(2))) if rank == 0 else folder.load_latest
    assert "rank 0 calls save(2), rank 1 load_latest(any_world_size=False)" in raised(RuntimeError, call)
    assert "rank 0: ValueError: expected a step >= 0, got -1" in raised(ValueError, folder.save, -1, {})
    assert "rank 0: TypeError: " in raised(TypeError, folder.save, 1.5, {})
    message = raised(ValueError, folder.save, 2, {"a": PerRank(x=1) if rank else 1, "b": {"c": PerRank()}})
    assert "same per_rank on all ranks; rank 0 has PerRank at b.c, rank 1 PerRank at a, b.c" in message
    assert "same keep on all ranks; rank 0 has 1, rank 1 2" in raised(ValueError, folder_of("a", keep=1 + rank).save, 2, {})
    message = raised(ValueError, folder.save, 2, {"a": [PerRank()]} if rank else {"a": 1})
    assert "rank 1: ValueError: PerRank: expected it to be a value of dicts, got one inside a list, at a" in message
    is_that_of(folder.load_latest(), 1)
    """)


@page("If a rank is killed in the middle, the earlier save is still there.")
@pytest.mark.parametrize("step", [1, 2])
def test_a_rank_that_dies_in_a_save(tmp_path, step):
    """Rank 1 is killed before it writes: the others hear of it, and the save before is the newest whole one; also of the same step."""
    processes = start(tmp_path, 2, COMMON + f"""
    import argand.checkpoint._distributed as d, signal
    folder = folder_of("a", keep=1); folder.save({step}, state({step}))
    if rank == 1: d.make_folder = lambda path: os.kill(os.getpid(), signal.SIGKILL)
    try: folder.save(2, state(2))
    except dist.PeerLost as error: assert error.rank == 1; print("heard of it")
    os._exit(0)
    """)
    (_, out, _), (status, _, _) = finish(processes)
    assert status == -9 and out == "heard of it\n"
    several(tmp_path, 2, f"""
    loaded, seen = warned(folder_of("a").load_latest); is_that_of(loaded, {step})
    assert "rank 1 does not find rank-1.pt" in loaded.skipped[0][1]
    """)


# ---- in one process


def test_folders_survive_a_power_loss(tmp_path, monkeypatch):
    """Each folder that holds a new name is synced, before the save is done; also where the name was there already."""
    synced = []
    monkeypatch.setattr("os.fsync", lambda handle: synced.append(os.readlink(f"/proc/self/fd/{handle}")))
    folder = DistributedCheckpointFolder(tmp_path / "a" / "b")
    folder.save(1, {"x": 1})
    assert synced == [str(tmp_path), str(tmp_path / "a"), str(tmp_path / "a/b")]
    (tmp_path / "a/b/step-000000002").mkdir()  # by another rank
    synced.clear()
    make_folder(str(tmp_path / "a/b/step-000000002"))
    assert synced == [str(tmp_path / "a/b")]


def test_alone(tmp_path):
    """Without a process group."""
    folder = DistributedCheckpointFolder(tmp_path / "run")
    model = argand.nn.Linear(2, 1)
    with folder:
        folder.save_async(3, training_state(epoch=1, step=3, model=model, best=0.5))
    before = argand.rand(3)
    loaded = folder.load_latest()
    assert restore(loaded.state, model=model) == {"epoch": 1, "step": 3, "best": 0.5}
    assert argand.equal(argand.rand(3), before)
    with pytest.raises(ValueError, match="expected keep > 0, got 0"):
        DistributedCheckpointFolder(tmp_path, keep=0)


def test_what_is_written_behind_is_finished_at_the_end_of_the_program(tmp_path):
    script = ("import argand, sys\nfolder = argand.checkpoint.DistributedCheckpointFolder(sys.argv[1])\n"
              "folder.save_async(1, {'x': argand.ones(10**6)})\n")
    done = subprocess.run([sys.executable, "-c", script, tmp_path / "a"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "") and DistributedCheckpointFolder(tmp_path / "a").load_latest().state["x"].sum() == 10**6
    script += "folder.close()\nfolder.save_async(2, {'x': object()})\n"
    done = subprocess.run([sys.executable, "-c", script, tmp_path / "b"], capture_output=True, text=True)
    assert done.returncode == 0 and "save_async(2) failed: save: a value of type object cannot be saved" in done.stderr


@page("Each rank writes what it has for itself: the states of its generators (of Python, NumPy, the CPU and GPUs) and the position of its "
      "`DataLoader`, with the epoch of its `DistributedSampler`.", "`training_state(per_rank=[\"optimizer\"], ...)`")
def test_parts_that_ranks_have_for_themselves():
    loader = argand.utils.data.DataLoader([1, 2, 3], sampler=argand.utils.data.DistributedSampler([1, 2, 3], 1, 0))
    loader.sampler.set_epoch(4)
    state = training_state(model=argand.nn.Linear(1, 1), loader=loader, piece={"a": 1}, per_rank=["piece"])
    assert [name for name, part in state["parts"].items() if isinstance(part, PerRank)] == ["loader", "piece"]
    assert isinstance(state["random"], PerRank)
    loader.sampler.set_epoch(9)
    restore(state, loader=loader)
    assert loader.sampler.epoch == 4
    with pytest.raises(ValueError, match="expected a part whose state is a dict, got 'x': NoneType"):
        training_state(per_rank=["x"])
