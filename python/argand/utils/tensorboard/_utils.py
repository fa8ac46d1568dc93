"""Pictures from figures, batches and layouts."""
import numpy as np


def figure_to_image(figures, close=True):
    """A figure of matplotlib, or several of one size, drawn: [3, height, width] bytes, or [number, 3, height, width]."""
    import matplotlib.pyplot as plt
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    def draw(figure):
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        width, height = canvas.get_width_height()
        pixels = np.frombuffer(canvas.buffer_rgba(), dtype=np.uint8).reshape(height, width, 4)
        if close:
            plt.close(figure)
        return np.moveaxis(pixels[:, :, :3], 2, 0)
    return np.stack([draw(f) for f in figures]) if isinstance(figures, list) else draw(figures)


def make_grid(images, ncols=8):
    """Images [number, 1 or 3, height, width] side by side, in rows of ncols: [3, height, width]."""
    if images.ndim != 4 or images.shape[1] not in (1, 3):
        raise AssertionError(f"expected images of 1 or 3 channels, [N, C, H, W], got shape {images.shape}")
    count, _, height, width = images.shape
    ncols = min(count, ncols)
    nrows = -(-count // ncols)
    cells = np.zeros((nrows * ncols, 3, height, width), images.dtype)
    cells[:count] = images
    return cells.reshape(nrows, ncols, 3, height, width).transpose(2, 0, 3, 1, 4).reshape(3, nrows * height, ncols * width)


def convert_to_HWC(tensor, input_format):
    """An image, or a batch of them as a grid, with dimensions named by letters of NCHW: [height, width, 3 (or more)]."""
    letters = input_format.upper()
    if len(set(letters)) != len(letters):
        raise AssertionError(f"You can not use the same dimension shorthand twice. input_format: {input_format}")
    if tensor.ndim != len(letters):
        raise AssertionError(f"size of input tensor and input format are different. tensor shape: {tensor.shape}, input_format: "
                             f"{input_format}")
    if len(letters) == 4:
        return np.moveaxis(make_grid(tensor.transpose([letters.find(c) for c in "NCHW"])), 0, 2)
    if len(letters) == 3:
        image = tensor.transpose([letters.find(c) for c in "HWC"])
        return np.concatenate([image] * 3, 2) if image.shape[2] == 1 else image
    if len(letters) == 2:
        return np.stack([tensor.transpose([letters.find(c) for c in "HW"])] * 3, 2)
    return None


def _prepare_video(videos):
    """Videos [number, time, channels, height, width] side by side, padded with black ones to a power of 2: [time, H, W, C]."""
    if videos.dtype == np.uint8:
        videos = np.float32(videos) / 255.0
    count = len(videos)
    full = 1 << (count - 1).bit_length()
    videos = np.concatenate((videos, np.zeros((full - count, *videos.shape[1:]), videos.dtype)))
    _, t, c, h, w = videos.shape
    rows = 2 ** ((full.bit_length() - 1) // 2)
    return videos.reshape(rows, full // rows, t, c, h, w).transpose(2, 0, 4, 1, 5, 3).reshape(t, rows * h, full // rows * w, c)
