"""utils.data.TarShards: archives that Python's tarfile writes, in each of its formats."""
import io
import tarfile

import pytest

import argand as torch
from argand.utils.data import DataLoader, TarShards


def write(path, numbers, format=tarfile.USTAR_FORMAT, folder=""):
    with tarfile.open(path, "w", format=format) as archive:
        for i in numbers:
            for field, content in (("txt", f"text {i}".encode()), ("cls", bytes([i % 10]))):
                info = tarfile.TarInfo(f"{folder}{i:04d}.{field}")
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))


@pytest.fixture
def shards(tmp_path):
    paths = [tmp_path / f"shard-{k}.tar" for k in range(4)]
    for k, path in enumerate(paths):
        write(path, range(25 * k, 25 * k + 25))
    return paths


def keys(samples):
    return [s["__key__"] for s in samples]


@pytest.mark.parametrize("format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_formats(tmp_path, format):
    folder = "d" * 60 + "/" + "e" * (60 if format == tarfile.USTAR_FORMAT else 200) + "/"
    write(tmp_path / "a.tar", range(3), format, folder)
    samples = list(TarShards(tmp_path / "a.tar"))
    assert samples == [{"__key__": f"{folder}{i:04d}", "txt": f"text {i}".encode(), "cls": bytes([i])} for i in range(3)]


def test_orders(shards):
    expected = [f"{i:04d}" for i in range(100)]
    assert keys(TarShards(shards)) == expected
    mixed = TarShards(shards, window=30, seed=1)
    first = keys(mixed)
    assert first == keys(mixed) == keys(TarShards(shards, window=30, seed=1))
    assert first != expected and sorted(first) == expected and first != keys(TarShards(shards, window=30, seed=2))
    mixed.set_epoch(1)
    assert keys(mixed) != first


@pytest.mark.parametrize("workers", [0, 2])
def test_loader(shards, workers):
    loader = DataLoader(TarShards(shards, window=10), batch_size=None, num_workers=workers)
    assert sorted(keys(loader)) == [f"{i:04d}" for i in range(100)]


def test_a_pass_goes_on(shards):
    def loader():
        return DataLoader(TarShards(shards, window=10), batch_size=8, collate_fn=keys)
    whole = list(loader())
    first = loader()
    batches = iter(first)
    begin = [next(batches) for _ in range(5)]
    later = loader()
    later.load_state_dict(first.state_dict())
    assert begin + list(later) == whole


def test_errors(shards, tmp_path):
    with pytest.raises(ValueError, match="paths"):
        TarShards([])
    with pytest.raises(ValueError, match="window"):
        TarShards(shards, window=-1)
    with pytest.raises(OSError, match="none.tar"):
        list(TarShards(tmp_path / "none.tar"))
    with tarfile.open(tmp_path / "links.tar", "w") as archive:
        info = tarfile.TarInfo("a.txt")
        info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(info)
    with pytest.raises(OSError, match="a symbolic link"):
        list(TarShards(tmp_path / "links.tar"))
    with tarfile.open(tmp_path / "up.tar", "w") as archive:
        archive.addfile(tarfile.TarInfo("../a.txt"))
    with pytest.raises(OSError, match="leaves the archive"):
        list(TarShards(tmp_path / "up.tar"))
    with open(shards[0], "rb") as f:
        (tmp_path / "cut.tar").write_bytes(f.read(700))
    with pytest.raises(OSError, match="cut"):
        list(TarShards(tmp_path / "cut.tar"))
