"""Writes a data set in MNIST's format and size, which LibTorch insists on: strokes whose place and slope belong to the
class.  There are 640 different images; the others repeat them.

    python make_images.py FOLDER
"""
import os
import struct
import sys

SIDE = 28
COUNTS = {"train": 60000, "t10k": 10000}
DIFFERENT = 640


class Random:
    """Numerical Recipes' 32-bit congruential generator: the same numbers for ever."""

    def __init__(self, seed):
        self.state = seed

    def below(self, bound):
        self.state = (1664525 * self.state + 1013904223) % 2**32
        return (self.state >> 8) % bound


def image(label, random):
    pixels = bytearray(SIDE * SIDE)
    row, slope = 4 + 2 * label + random.below(3) - 1, label % 3 - 1
    for column in range(3, SIDE - 3):
        at = row + slope * (column - SIDE // 2) // 4 + (random.below(8) == 0)
        for off, value in ((-1, 90), (0, 230), (1, 90)):
            if 0 <= at + off < SIDE:
                pixels[(at + off) * SIDE + column] = value + random.below(25)
    for _ in range(20):
        pixels[random.below(SIDE * SIDE)] = random.below(120)
    return pixels


def write(folder):
    os.makedirs(folder, exist_ok=True)
    random = Random(1)
    kinds = [(label, image(label, random)) for label in (random.below(10) for _ in range(DIFFERENT))]
    for part, count in COUNTS.items():
        chosen = [kinds[random.below(DIFFERENT)] for _ in range(count)]
        with open(f"{folder}/{part}-images-idx3-ubyte", "wb") as out:
            out.write(struct.pack(">iiii", 0x803, count, SIDE, SIDE))
            out.write(b"".join(pixels for _, pixels in chosen))
        with open(f"{folder}/{part}-labels-idx1-ubyte", "wb") as out:
            out.write(struct.pack(">ii", 0x801, count) + bytes(label for label, _ in chosen))


if __name__ == "__main__":
    write(sys.argv[1])
