"""SummaryWriter: what a program logs goes into files for TensorBoard, written by a thread of the package tensorboard."""
import os
import time

from tensorboard.compat.proto import event_pb2
from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from ..._ignored import warn_ignored
from . import summary
from ._convert_np import make_np
from ._utils import figure_to_image


class FileWriter:
    """Writes one file of events in a folder."""

    def __init__(self, log_dir, max_queue=10, flush_secs=120, filename_suffix=""):
        self.event_writer = EventFileWriter(str(log_dir), max_queue, flush_secs, filename_suffix)

    def get_logdir(self):
        """The folder."""
        return self.event_writer.get_logdir()

    def add_event(self, event, step=None, walltime=None):
        """Adds an event, of now if no time is given."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)

    def add_summary(self, summary, global_step=None, walltime=None):
        """Adds an event with a summary."""
        self.add_event(event_pb2.Event(summary=summary), global_step, walltime)

    def add_graph(self, graph_profile, walltime=None):
        """Adds a graph and what ran: (GraphDef, RunMetadata)."""
        graph, metadata = graph_profile
        self.add_event(event_pb2.Event(graph_def=graph.SerializeToString()), None, walltime)
        tagged = event_pb2.TaggedRunMetadata(tag="step1", run_metadata=metadata.SerializeToString())
        self.add_event(event_pb2.Event(tagged_run_metadata=tagged), None, walltime)

    def flush(self):
        """Returns when all events are in the file."""
        self.event_writer.flush()

    def close(self):
        """Writes what is left and closes the file."""
        self.event_writer.close()

    def reopen(self):
        """Does nothing: a closed file stays closed."""
        raise NotImplementedError("FileWriter.reopen: make a new FileWriter of the same folder, which adds a file to it")


def _default_bins():
    limits, limit = [], 1e-12
    while limit < 1e20:
        limits.append(limit)
        limit *= 1.1
    return [-v for v in reversed(limits)] + [0] + limits


class SummaryWriter:
    """Logs scalars, histograms, pictures, texts, ... under tags, into log_dir: "runs/DATE_HOST" and `comment` if not given.

    purge_step: TensorBoard forgets what earlier files of the folder say of this step and later ones.
    """

    def __init__(self, log_dir=None, comment="", purge_step=None, max_queue=10, flush_secs=120, filename_suffix=""):
        if not log_dir:
            import socket
            from datetime import datetime
            log_dir = os.path.join("runs", datetime.now().strftime("%b%d_%H-%M-%S") + "_" + socket.gethostname() + comment)
        self.log_dir, self.purge_step = log_dir, purge_step
        self.max_queue, self.flush_secs, self.filename_suffix = max_queue, flush_secs, filename_suffix
        self.file_writer = self.all_writers = None
        self._get_file_writer()
        self.default_bins, self._embeddings = _default_bins(), []

    def _new_file(self, folder):
        return FileWriter(folder, self.max_queue, self.flush_secs, self.filename_suffix)

    def _get_file_writer(self):
        """The open file; a new one after close()."""
        if self.file_writer is None:
            self.file_writer = self._new_file(self.log_dir)
            self.all_writers = {self.file_writer.get_logdir(): self.file_writer}
            if self.purge_step is not None:
                self.file_writer.add_event(Event(step=self.purge_step, file_version="brain.Event:2"))
                self.file_writer.add_event(Event(step=self.purge_step, session_log=SessionLog(status=SessionLog.START)))
                self.purge_step = None
        return self.file_writer

    def get_logdir(self):
        """The folder of the files."""
        return self.log_dir

    def _add(self, what, global_step, walltime):
        self._get_file_writer().add_summary(what, global_step, walltime)

    # ---- numbers

    def add_scalar(self, tag, scalar_value, global_step=None, walltime=None, new_style=False, double_precision=False):
        """A number: a tensor or array of one element, or a plain number."""
        self._add(summary.scalar(tag, scalar_value, new_style=new_style, double_precision=double_precision), global_step, walltime)

    def add_scalars(self, main_tag, tag_scalar_dict, global_step=None, walltime=None):
        """Numbers for one chart; each has a folder of its own, "log_dir/main_tag_tag"."""
        walltime = time.time() if walltime is None else walltime
        folder = self._get_file_writer().get_logdir()
        for tag, value in tag_scalar_dict.items():
            path = f"{folder}/{main_tag.replace('/', '_')}_{tag}"
            if path not in self.all_writers:
                self.all_writers[path] = self._new_file(path)
            self.all_writers[path].add_summary(summary.scalar(main_tag, value), global_step, walltime)

    def add_tensor(self, tag, tensor, global_step=None, walltime=None):
        """A tensor as it is."""
        self._add(summary.tensor_proto(tag, tensor), global_step, walltime)

    def add_histogram(self, tag, values, global_step=None, bins="tensorflow", walltime=None, max_bins=None):
        """How values are distributed; bins: "tensorflow" (each 1.1 times as far from 0), or what numpy.histogram takes."""
        bins = self.default_bins if isinstance(bins, str) and bins == "tensorflow" else bins
        self._add(summary.histogram(tag, values, bins, max_bins=max_bins), global_step, walltime)

    def add_histogram_raw(self, tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts, global_step=None, walltime=None):
        """A histogram whose counts are known, by the upper limits of the bins."""
        if len(bucket_limits) != len(bucket_counts):
            raise ValueError("len(bucket_limits) != len(bucket_counts), see the document.")
        self._add(summary.histogram_raw(tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts), global_step, walltime)

    def add_pr_curve(self, tag, labels, predictions, global_step=None, num_thresholds=127, weights=None, walltime=None):
        """Precision and recall of predictions 0 ... 1 for labels 0 and 1."""
        self._add(summary.pr_curve(tag, make_np(labels), make_np(predictions), num_thresholds, weights), global_step, walltime)

    def add_pr_curve_raw(self, tag, true_positive_counts, false_positive_counts, true_negative_counts, false_negative_counts, precision,
                         recall, global_step=None, num_thresholds=127, weights=None, walltime=None):
        """add_pr_curve() whose numbers are known."""
        self._add(summary.pr_curve_raw(tag, true_positive_counts, false_positive_counts, true_negative_counts, false_negative_counts,
                                       precision, recall, num_thresholds, weights), global_step, walltime)

    # ---- pictures, sound, text

    def add_image(self, tag, img_tensor, global_step=None, walltime=None, dataformats="CHW"):
        """A picture of bytes or of numbers 0 ... 1."""
        self._add(summary.image(tag, img_tensor, dataformats=dataformats), global_step, walltime)

    def add_images(self, tag, img_tensor, global_step=None, walltime=None, dataformats="NCHW"):
        """A batch of pictures, as a grid."""
        self._add(summary.image(tag, img_tensor, dataformats=dataformats), global_step, walltime)

    def add_image_with_boxes(self, tag, img_tensor, box_tensor, global_step=None, walltime=None, rescale=1, dataformats="CHW",
                             labels=None):
        """A picture with boxes [number, (left, top, right, bottom)] and their names."""
        labels = [labels] if isinstance(labels, str) else labels
        if labels is not None and len(labels) != box_tensor.shape[0]:
            labels = None
        self._add(summary.image_boxes(tag, img_tensor, box_tensor, rescale=rescale, dataformats=dataformats, labels=labels),
                  global_step, walltime)

    def add_figure(self, tag, figure, global_step=None, close=True, walltime=None):
        """A figure of matplotlib, or a list of them."""
        self.add_image(tag, figure_to_image(figure, close), global_step, walltime,
                       dataformats="NCHW" if isinstance(figure, list) else "CHW")

    def add_video(self, tag, vid_tensor, global_step=None, fps=4, walltime=None):
        """Videos [number, time, channels, height, width] of bytes or of numbers 0 ... 1, as an animated GIF."""
        self._add(summary.video(tag, vid_tensor, fps), global_step, walltime)

    def add_audio(self, tag, snd_tensor, global_step=None, sample_rate=44100, walltime=None):
        """One channel of sound, amplitudes -1 ... 1."""
        self._add(summary.audio(tag, snd_tensor, sample_rate=sample_rate), global_step, walltime)

    def add_text(self, tag, text_string, global_step=None, walltime=None):
        """A text, in Markdown."""
        self._add(summary.text(tag, text_string), global_step, walltime)

    # ---- descriptions

    def add_hparams(self, hparam_dict, metric_dict, hparam_domain_discrete=None, run_name=None, global_step=None):
        """Hyperparameters and what was reached with them, in a folder of their own: run_name, the time if not given."""
        described = summary.hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        folder = os.path.join(self._get_file_writer().get_logdir(), run_name or str(time.time()))
        with SummaryWriter(log_dir=folder) as run:
            for what in described:
                run.file_writer.add_summary(what, global_step)
            for key, value in metric_dict.items():
                run.add_scalar(key, value, global_step)

    def add_custom_scalars(self, layout):
        """Charts of several scalars: {category: {title: ["Multiline" or "Margin", tags]}}; once for a writer."""
        self._add(summary.custom_scalars(layout), None, None)

    def add_custom_scalars_multilinechart(self, tags, category="default", title="untitled"):
        """One such chart, of lines."""
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(self, tags, category="default", title="untitled"):
        """One such chart, of a line with a margin: tags of the line, the lower and the upper bound."""
        if len(tags) != 3:
            raise AssertionError(f"a margin chart has three tags, got {len(tags)}")
        self.add_custom_scalars({category: {title: ["Margin", tags]}})

    def add_graph(self, model, input_to_model=None, verbose=False, use_strict_trace=True):
        """The ops that run in model(*input_to_model), by modules; verbose prints them."""
        from ._pytorch_graph import graph
        self._get_file_writer().add_graph(graph(model, input_to_model, verbose, use_strict_trace))

    def add_onnx_graph(self, prototxt):
        """ONNX is not read."""
        raise NotImplementedError("SummaryWriter.add_onnx_graph: files of ONNX are not read")

    def add_embedding(self, mat, metadata=None, label_img=None, global_step=None, tag="default", metadata_header=None):
        """Points for TensorBoard's projector, a matrix with a row for each; metadata: a name for each, or under metadata_header several;
        label_img: a picture for each."""
        from . import _embedding
        points = make_np(mat)
        if points.ndim != 2:
            raise AssertionError("mat should be 2D, where mat.size(0) is the number of data points")
        for name, of_points in (("labels", metadata), ("images", label_img)):
            if of_points is not None and len(of_points) != len(points):
                raise AssertionError(f"#{name} should equal with #data points, got {len(of_points)} and {len(points)}")
        step = 0 if global_step is None else global_step
        folder = os.path.join(self._get_file_writer().get_logdir(), _embedding.folder_name(step, tag))
        os.makedirs(folder, exist_ok=True)
        if metadata is None and metadata_header is not None:
            warn_ignored("torch.utils.tensorboard.SummaryWriter.add_embedding()", "metadata_header", metadata_header,
                         "there is no metadata that it describes")
        if metadata is not None:
            _embedding.write_metadata(metadata, metadata_header, os.path.join(folder, "metadata.tsv"))
        if label_img is not None:
            _embedding.write_sprite(label_img, os.path.join(folder, "sprite.png"))
        _embedding.write_points(points, os.path.join(folder, "tensors.tsv"))
        self._embeddings.append(_embedding.described(step, tag, metadata is not None, label_img))
        _embedding.write_config(self._embeddings, self._get_file_writer().get_logdir())

    def add_mesh(self, tag, vertices, colors=None, faces=None, config_dict=None, global_step=None, walltime=None):
        """A mesh, or points [batch, number, 3], with colors 0 ... 255 for each and faces [batch, number, 3] of three of them."""
        self._add(summary.mesh(tag, vertices, colors, faces, config_dict), global_step, walltime)

    # ---- files

    def flush(self):
        """Returns when all that was added is in the files."""
        for writer in (self.all_writers or {}).values():
            writer.flush()

    def close(self):
        """Writes what is left and closes the files; what is added later begins new ones."""
        for writer in (self.all_writers or {}).values():
            writer.flush()
            writer.close()
        self.file_writer = self.all_writers = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
