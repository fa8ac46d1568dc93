"""What is logged, as the protocol buffers of TensorBoard."""
import io
import json
import math
import wave

import numpy as np
from google.protobuf import struct_pb2
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.pr_curve.plugin_data_pb2 import PrCurvePluginData
from tensorboard.plugins.text.plugin_data_pb2 import TextPluginData

from ... import _C
from ..._ignored import harmless, warn_ignored
from ._convert_np import make_np
from ._utils import convert_to_HWC, _prepare_video


def _plugin(name, content=b""):
    return SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name=name, content=content))


def _shape(*sizes):
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in sizes])


def _value(tag, **what):
    return Summary(value=[Summary.Value(tag=tag, **what)])


def _pixels(array):
    """Bytes 0 ... 255 of bytes, or of numbers 0 ... 1."""
    return (array.astype(np.float32) * (1 if array.dtype == np.uint8 else 255)).clip(0, 255).astype(np.uint8)


# ---- numbers


@harmless(collections="no file says it, as in PyTorch")
def scalar(name, tensor, collections=None, new_style=False, double_precision=False):
    """One number."""
    tensor = make_np(tensor).squeeze()
    if tensor.ndim != 0:
        raise AssertionError(f"Tensor should contain one element (0 dimensions). Was given size: {tensor.size} and {tensor.ndim} "
                             "dimensions.")
    number = float(tensor)
    if not new_style:
        if double_precision:
            warn_ignored("torch.utils.tensorboard.summary.scalar()", "double_precision", True, "only new_style=True has other numbers than float32")
        return _value(name, simple_value=number)
    proto = (TensorProto(double_val=[number], dtype="DT_DOUBLE") if double_precision
             else TensorProto(float_val=[number], dtype="DT_FLOAT"))
    return _value(name, tensor=proto, metadata=_plugin("scalars"))


_FIELDS = {_C.float16: ("half_val", "DT_HALF"), _C.bfloat16: ("half_val", "DT_BFLOAT16"), _C.float32: ("float_val", "DT_FLOAT"),
           _C.float64: ("double_val", "DT_DOUBLE"), _C.int8: ("int_val", "DT_INT8"), _C.uint8: ("int_val", "DT_UINT8"),
           _C.int16: ("int_val", "DT_INT16"), _C.int32: ("int_val", "DT_INT32"), _C.int64: ("int64_val", "DT_INT64"),
           _C.complex64: ("scomplex_val", "DT_COMPLEX64"), _C.complex128: ("dcomplex_val", "DT_COMPLEX128"),
           _C.bool: ("bool_val", "DT_BOOL")}


def tensor_proto(tag, tensor):
    """A tensor as it is."""
    field, dtype = _FIELDS[tensor.dtype]
    flat = tensor.detach().cpu().reshape(-1)
    if flat.is_complex():
        flat = _C.view_as_real(flat).reshape(-1)
    elif field == "half_val":
        flat = flat.view(_C.int16).to(_C.int32) & 0xFFFF
    proto = TensorProto(dtype=dtype, tensor_shape=_shape(*tensor.shape), **{field: flat.tolist()})
    return _value(tag, tensor=proto, metadata=_plugin("tensor"))


def int_to_half(i):
    """The number whose bits, as those of a float32, are those of an integer."""
    return float(np.array(i, np.int32).view(np.float32))


def histogram_raw(name, min, max, num, sum, sum_squares, bucket_limits, bucket_counts):
    """A histogram whose counts are known."""
    return _value(name, histo=HistogramProto(min=min, max=max, num=num, sum=sum, sum_squares=sum_squares, bucket_limit=bucket_limits,
                                             bucket=bucket_counts))


def histogram(name, values, bins, max_bins=None):
    """How many values are in which bin (numpy.histogram's `bins`), neighbours joined if there are more than max_bins."""
    return _value(name, histo=make_histogram(make_np(values).astype(float), bins, max_bins))


def make_histogram(values, bins, max_bins=None):
    """See histogram()."""
    if values.size == 0:
        raise ValueError("The input has no element.")
    values = values.reshape(-1)
    counts, limits = np.histogram(values, bins=bins)
    if max_bins is not None and len(counts) > max_bins:
        step = len(counts) // max_bins
        counts = np.pad(counts, (0, -len(counts) % step)).reshape(-1, step).sum(-1)
        limits = np.append(limits[:-1:step], limits[-1])
    filled = np.flatnonzero(counts)
    if filled.size == 0:
        raise ValueError("The histogram is empty, please file a bug report.")
    # From the empty bin before the first value, as TensorBoard takes the limits for the upper ones.
    first, end = int(filled[0]), int(filled[-1]) + 1
    counts = np.concatenate(([0], counts[:end])) if first == 0 else counts[first - 1:end]
    return HistogramProto(min=values.min(), max=values.max(), num=len(values), sum=values.sum(), sum_squares=values.dot(values),
                          bucket_limit=limits[first:end + 1].tolist(), bucket=counts.tolist())


def pr_curve(tag, labels, predictions, num_thresholds=127, weights=None):
    """Precision and recall of predictions 0 ... 1 by their threshold."""
    num_thresholds = min(num_thresholds, 127)  # more do not fit into what the plugin says of them
    return _curve(tag, compute_curve(labels, predictions, num_thresholds, weights), num_thresholds)


@harmless(weights="the numbers given have them, as in PyTorch")
def pr_curve_raw(tag, tp, fp, tn, fn, precision, recall, num_thresholds=127, weights=None):
    """pr_curve() whose numbers are known."""
    return _curve(tag, np.stack((tp, fp, tn, fn, precision, recall)), min(num_thresholds, 127))


def _curve(tag, data, num_thresholds):
    proto = TensorProto(dtype="DT_FLOAT", float_val=data.reshape(-1).tolist(), tensor_shape=_shape(*data.shape))
    content = PrCurvePluginData(version=0, num_thresholds=num_thresholds).SerializeToString()
    return _value(tag, tensor=proto, metadata=_plugin("pr_curves", content))


def compute_curve(labels, predictions, num_thresholds=None, weights=None):
    """Six rows: true and false positives, true and false negatives, precision and recall at the thresholds."""
    tiny = 1e-7  # instead of a count of 0
    weights = 1.0 if weights is None else weights
    places = np.int32(np.floor(predictions * (num_thresholds - 1)))
    true = labels.astype(float)

    def at_least(weights):
        found, _ = np.histogram(places, bins=num_thresholds, range=(0, num_thresholds - 1), weights=weights)
        return found[::-1].cumsum()[::-1]
    tp, fp = at_least(true * weights), at_least((1.0 - true) * weights)
    tn, fn = fp[0] - fp, tp[0] - tp
    return np.stack((tp, fp, tn, fn, tp / np.maximum(tiny, tp + fp), tp / np.maximum(tiny, tp + fn)))


# ---- pictures, sound, text


def make_image(array, rescale=1, boxes=None, labels=None):
    """A picture of bytes [height, width, channels], with boxes drawn on it."""
    from PIL import Image
    height, width, channels = array.shape
    image = Image.fromarray(array)
    if boxes is not None:
        _draw_boxes(image, boxes, labels)
    file = io.BytesIO()
    image.resize((int(width * rescale), int(height * rescale)), Image.Resampling.LANCZOS).save(file, format="PNG")
    # harmless(labels): only boxes have labels
    return Summary.Image(height=height, width=width, colorspace=channels, encoded_image_string=file.getvalue())


def _draw_boxes(image, boxes, labels):
    from PIL import ImageDraw, ImageFont
    draw, font = ImageDraw.Draw(image), ImageFont.load_default()
    for i, (left, top, right, bottom) in enumerate(boxes):
        draw.line([(left, top), (left, bottom), (right, bottom), (right, top), (left, top)], width=2, fill="Red")
        if labels:
            x0, y0, x1, y1 = font.getbbox(labels[i])
            margin = math.ceil(0.05 * (y1 - y0))
            draw.rectangle([(left, bottom - (y1 - y0) - 2 * margin), (left + x1 - x0, bottom)], fill="Red")
            draw.text((left + margin, bottom - (y1 - y0) - margin), labels[i], fill="Black", font=font)


def image(tag, tensor, rescale=1, dataformats="NCHW"):
    """A picture of bytes or of numbers 0 ... 1, or a grid of several."""
    return _value(tag, image=make_image(_pixels(convert_to_HWC(make_np(tensor), dataformats)), rescale))


def image_boxes(tag, tensor_image, tensor_boxes, rescale=1, dataformats="CHW", labels=None):
    """A picture with boxes [number, (left, top, right, bottom)]."""
    picture = _pixels(convert_to_HWC(make_np(tensor_image), dataformats))
    return _value(tag, image=make_image(picture, rescale, make_np(tensor_boxes).tolist(), labels))


def video(tag, tensor, fps=4):
    """Videos [number, time, channels, height, width] as an animated GIF."""
    from PIL import Image
    frames = _pixels(_prepare_video(make_np(tensor)))
    _, height, width, channels = frames.shape
    frames = [Image.fromarray(f[..., 0] if channels == 1 else f) for f in frames]
    file = io.BytesIO()
    frames[0].save(file, format="GIF", save_all=True, append_images=frames[1:], duration=1000 / fps, loop=0)
    return _value(tag, image=Summary.Image(height=height, width=width, colorspace=channels, encoded_image_string=file.getvalue()))


def audio(tag, tensor, sample_rate=44100):
    """One channel of sound, amplitudes -1 ... 1, as a WAV file."""
    samples = make_np(tensor).squeeze()
    if samples.ndim != 1:
        raise AssertionError("input tensor should be 1 dimensional.")
    if abs(samples).max() > 1:
        print("warning: audio amplitude out of range, auto clipped.")
        samples = samples.clip(-1, 1)
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(sample_rate)
        sound.writeframes((samples * np.iinfo(np.int16).max).astype("<i2").tobytes())
    return _value(tag, audio=Summary.Audio(sample_rate=sample_rate, num_channels=1, length_frames=len(samples),
                                           encoded_audio_string=file.getvalue(), content_type="audio/wav"))


def text(tag, text):
    """A text, in Markdown."""
    proto = TensorProto(dtype="DT_STRING", string_val=[text.encode("utf-8")], tensor_shape=_shape(1))
    return _value(tag + "/text_summary", tensor=proto, metadata=_plugin("text", TextPluginData(version=0).SerializeToString()))


def mesh(tag, vertices, colors, faces, config_dict):
    """Points [batch, number, 3] in space, their colors, and the faces between them."""
    from tensorboard.plugins.mesh import metadata
    from tensorboard.plugins.mesh.plugin_data_pb2 import MeshPluginData
    parts = [(t, kind) for t, kind in ((vertices, MeshPluginData.VERTEX), (faces, MeshPluginData.FACE), (colors, MeshPluginData.COLOR))
             if t is not None]
    components = metadata.get_components_bitmask([kind for _, kind in parts])
    config = json.dumps(config_dict or {}, sort_keys=True)
    values = []
    for tensor, kind in parts:
        array = make_np(tensor)
        values.append(Summary.Value(
            tag=metadata.get_instance_name(tag, kind),
            tensor=TensorProto(dtype="DT_FLOAT", float_val=array.reshape(-1).tolist(), tensor_shape=_shape(*array.shape)),
            metadata=metadata.create_summary_metadata(tag, "", kind, components, array.shape, "", json_config=config)))
    return Summary(value=values)


# ---- descriptions


def custom_scalars(layout):
    """Charts of several scalars: {category: {title: ["Multiline" or "Margin", tags]}}."""
    categories = []
    for name, charts in layout.items():
        listed = []
        for title, (kind, tags) in charts.items():
            if kind == "Margin":
                if len(tags) != 3:
                    raise AssertionError(f"a margin chart has three tags, got {len(tags)}")
                series = layout_pb2.MarginChartContent.Series(value=tags[0], lower=tags[1], upper=tags[2])
                listed.append(layout_pb2.Chart(title=title, margin=layout_pb2.MarginChartContent(series=[series])))
            else:
                listed.append(layout_pb2.Chart(title=title, multiline=layout_pb2.MultilineChartContent(tag=tags)))
        categories.append(layout_pb2.Category(title=name, chart=listed))
    content = layout_pb2.Layout(category=categories).SerializeToString()
    proto = TensorProto(dtype="DT_STRING", string_val=[content], tensor_shape=TensorShapeProto())
    return _value("custom_scalars__config__", tensor=proto, metadata=_plugin("custom_scalars"))


def _check_hparams(hparams, metrics, domains):
    if not all(isinstance(value, dict) for value in (hparams, metrics, domains)):
        raise TypeError("hparam_dict and metric_dict should be dictionary.")
    for key, values in domains.items():
        if key not in hparams or not isinstance(values, list) or not all(isinstance(v, type(hparams[key])) for v in values):
            raise TypeError(f"parameter: hparam_domain_discrete[{key}] should be a list of same type as hparam_dict[{key}].")


def _kind_of(value):
    """(the field of a protocol buffer, TensorBoard's type, the value) of a hyperparameter."""
    if isinstance(value, (int, float)):  # bools, too, as PyTorch writes them
        return "number_value", "DATA_TYPE_FLOAT64", value
    if isinstance(value, str):
        return "string_value", "DATA_TYPE_STRING", value
    if isinstance(value, _C.Tensor):
        return "number_value", "DATA_TYPE_FLOAT64", make_np(value).reshape(-1)[0].item()
    raise ValueError("value should be one of int, float, str, bool, or torch.Tensor")


def hparams(hparam_dict=None, metric_dict=None, hparam_domain_discrete=None):
    """Three summaries: the hyperparameters and metrics there are, the start of a run with its values, and its end."""
    from tensorboard.plugins.hparams import api_pb2, metadata, plugin_data_pb2
    domains = hparam_domain_discrete or {}
    _check_hparams(hparam_dict, metric_dict, domains)
    start, infos = plugin_data_pb2.SessionStartInfo(), []
    for key, value in hparam_dict.items():
        if value is None:
            continue
        field, kind, value = _kind_of(value)
        setattr(start.hparams[key], field, value)
        domain = struct_pb2.ListValue(values=[struct_pb2.Value(**{field: v}) for v in domains[key]]) if key in domains else None
        infos.append(api_pb2.HParamInfo(name=key, type=api_pb2.DataType.Value(kind), domain_discrete=domain))
    metrics = [api_pb2.MetricInfo(name=api_pb2.MetricName(tag=key)) for key in metric_dict]
    end = plugin_data_pb2.SessionEndInfo(status=api_pb2.Status.Value("STATUS_SUCCESS"))

    def summary(tag, **what):
        content = plugin_data_pb2.HParamsPluginData(version=metadata.PLUGIN_DATA_VERSION, **what)
        return _value(tag, metadata=_plugin(metadata.PLUGIN_NAME, content.SerializeToString()))
    return (summary(metadata.EXPERIMENT_TAG, experiment=api_pb2.Experiment(hparam_infos=infos, metric_infos=metrics)),
            summary(metadata.SESSION_START_INFO_TAG, session_start_info=start),
            summary(metadata.SESSION_END_INFO_TAG, session_end_info=end))
