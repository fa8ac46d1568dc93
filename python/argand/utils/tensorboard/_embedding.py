"""Points for TensorBoard's projector: tables of numbers and names, a picture of small pictures, and projector_config.pbtxt."""
import math
import os

import numpy as np
from google.protobuf import text_format
from tensorboard.plugins.projector.projector_config_pb2 import EmbeddingInfo, ProjectorConfig

from ._convert_np import make_np


def folder_name(step, tag):
    """The folder of a step's points of a tag, below the log's folder."""
    for character, code in (("%", "%25"), ("/", "%2f"), ("\\", "%5c")):
        tag = tag.replace(character, code)
    return f"{str(step).zfill(5)}/{tag}"


def write_metadata(metadata, header, path):
    """The names of points, or under a header several of each."""
    if header is None:
        lines = [str(name) for name in metadata]
    elif len(header) != len(metadata[0]):
        raise AssertionError(f"len of header must be equal to the number of columns in metadata, got {len(header)} and {len(metadata[0])}")
    else:
        lines = ["\t".join(str(column) for column in row) for row in [header, *metadata]]
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join(line + "\n" for line in lines))


def write_points(points, path):
    """A matrix, a row a line."""
    with open(path, "w", encoding="utf-8") as file:
        for row in points:
            file.write("\t".join(str(number) for number in row.tolist()) + "\n")


def write_sprite(pictures, path):
    """Square pictures [number, 3, size, size] of numbers 0 ... 1 in a square grid, the rest of it empty."""
    from PIL import Image
    pictures = make_np(pictures)
    if pictures.ndim != 4 or pictures.shape[2] != pictures.shape[3]:
        raise AssertionError(f"Image should be square, see tensorflow/tensorboard#670; got shape {pictures.shape}")
    count, channels, size, _ = pictures.shape
    side = math.ceil(math.sqrt(count))
    cells = np.zeros((side * side, channels, size, size), np.float32)
    cells[:count] = pictures
    grid = cells.reshape(side, side, channels, size, size).transpose(0, 3, 1, 4, 2).reshape(side * size, side * size, channels)
    pixels = (grid * 255).clip(0, 255).astype(np.uint8)
    Image.fromarray(pixels[..., 0] if channels == 1 else pixels).save(path, format="PNG")


def described(step, tag, has_metadata, pictures):
    """The entry of projector_config.pbtxt."""
    folder = folder_name(step, tag)
    entry = EmbeddingInfo(tensor_name=f"{tag}:{str(step).zfill(5)}", tensor_path=f"{folder}/tensors.tsv")
    if has_metadata:
        entry.metadata_path = f"{folder}/metadata.tsv"
    if pictures is not None:
        entry.sprite.image_path = f"{folder}/sprite.png"
        entry.sprite.single_image_dim.extend([pictures.shape[3], pictures.shape[2]])
    return entry


def write_config(entries, log_dir):
    """projector_config.pbtxt of all that a writer has added."""
    with open(os.path.join(log_dir, "projector_config.pbtxt"), "w", encoding="utf-8") as file:
        file.write(text_format.MessageToString(ProjectorConfig(embeddings=entries)))
