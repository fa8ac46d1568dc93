"""utils.data.CIFAR, read_csv and read_text: files that Python writes here byte by byte."""
import csv
import random

import pytest

import argand as torch
from argand.utils.data import CIFAR, DataLoader, read_csv, read_text


def records(count, first, heads):
    rng = random.Random(first)
    return [(heads(i), rng.randbytes(3072)) for i in range(count)]


def write(path, content):
    path.write_bytes(b"".join(head + pixels for head, pixels in content))


def test_cifar_10(tmp_path):
    batches = [records(4, k, lambda i: bytes([i])) for k in range(1, 6)]
    for k, batch in enumerate(batches, 1):
        write(tmp_path / f"data_batch_{k}.bin", batch)
    write(tmp_path / "test_batch.bin", records(3, 9, lambda i: b"\x09"))
    data = CIFAR(tmp_path)
    everything = [r for batch in batches for r in batch]
    assert len(data) == 20 and data.targets.tolist() == [0, 1, 2, 3] * 5 and data.coarse_targets is None
    assert data.images.dtype is torch.uint8 and data.images.numpy().tobytes() == b"".join(p for _, p in everything)
    image, label = data[7]
    assert image.shape == (3, 32, 32) and label.item() == 3 and image[2, 31, 31].item() == pytest.approx(everything[7][1][-1] / 255)
    images, labels = next(iter(DataLoader(data, batch_size=6, num_workers=1)))
    assert images.shape == (6, 3, 32, 32) and labels.tolist() == [0, 1, 2, 3, 0, 1]
    test = CIFAR(tmp_path, train=False, transform=lambda image: image.mean())
    assert len(test) == 3 and test[0][0].dim() == 0


def test_cifar_100(tmp_path):
    write(tmp_path / "train.bin", records(5, 1, lambda i: bytes([i, 99 - i])))
    data = CIFAR(str(tmp_path), classes=100)
    assert data.targets.tolist() == [99, 98, 97, 96, 95] and data.coarse_targets.tolist() == [0, 1, 2, 3, 4]


def test_cifar_errors(tmp_path):
    with pytest.raises(ValueError, match="10 or 100 classes, got 20"):
        CIFAR(tmp_path, classes=20)
    with pytest.raises(FileNotFoundError) as raised:
        CIFAR(tmp_path)
    assert raised.value.filename == str(tmp_path / "data_batch_1.bin")
    write(tmp_path / "test_batch.bin", [(b"\x0a", bytes(3072))])
    with pytest.raises(OSError, match="labels from 0 to 9, got 10"):
        CIFAR(tmp_path, train=False)
    (tmp_path / "test_batch.bin").write_bytes(bytes(3072))
    with pytest.raises(OSError, match="records of 3073 bytes"):
        CIFAR(tmp_path, train=False)


def test_csv(tmp_path):
    rng = random.Random(2)
    rows = [[rng.uniform(-1e3, 1e3) for _ in range(3)] for _ in range(50)]
    with open(tmp_path / "t.csv", "w", newline="", encoding="utf-8") as f:
        writer = csv.writer(f, quoting=csv.QUOTE_ALL)
        writer.writerow(["a", 'b, "quoted"', "gr\u00f6\u00dfe"])
        writer.writerows(rows)
    assert read_csv(tmp_path / "t.csv", torch.float64).tolist() == rows
    table = read_csv(tmp_path / "t.csv", columns=["gr\u00f6\u00dfe", "a"])
    assert table.dtype is torch.float32 and torch.equal(table, torch.tensor([[r[2], r[0]] for r in rows]))
    (tmp_path / "u.csv").write_text("1;2\n3;4\n")
    assert read_csv(tmp_path / "u.csv", delimiter=";", header=False).tolist() == [[1, 2], [3, 4]]


def test_csv_errors(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n3,four\n")
    with pytest.raises(OSError, match="line 3, column 2: expected a number, got 'four'"):
        read_csv(path)
    assert read_csv(path, columns=["a"]).tolist() == [[1], [3]]
    with pytest.raises(ValueError, match="no column 'c'"):
        read_csv(path, columns=["c"])
    with pytest.raises(TypeError, match="float32 or float64, got"):
        read_csv(path, torch.int64)
    with pytest.raises(ValueError, match="one byte as delimiter"):
        read_csv(path, delimiter="::")
    path.write_bytes(b"a\n\xff\n")
    with pytest.raises(OSError, match="not UTF-8"):
        read_csv(path)
    with pytest.raises(FileNotFoundError):
        read_csv(tmp_path / "none.csv")


def test_text(tmp_path):
    text = "Z\u00fcrich \u2192 \U0001f600\n\x00end"
    (tmp_path / "t.txt").write_text(text, encoding="utf-8", newline="")
    assert read_text(tmp_path / "t.txt") == text
    for bad in (b"ab\xff", b"ab\xc0\x80", b"ab\xed\xa0\x80", b"ab\xf0\x9f\x98"):
        (tmp_path / "bad.txt").write_bytes(bad)
        with pytest.raises(OSError, match="byte 2 is not UTF-8"):
            read_text(tmp_path / "bad.txt")
    with pytest.raises(OSError, match="folder"):
        read_text(tmp_path)
