"""SummaryWriter: its files read back by TensorBoard's own reader; and, where PyTorch is, beside those of PyTorch's writer."""
import glob
import importlib.util
import math
import os
import subprocess
import sys

import argand
import pytest

if importlib.util.find_spec("tensorboard") is None:
    pytest.skip("the package tensorboard is not installed", allow_module_level=True)

import numpy as np  # noqa: E402
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator  # noqa: E402
from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader  # noqa: E402
from tensorboard.compat.proto.event_pb2 import Event  # noqa: E402
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData  # noqa: E402
from tensorboard.util import tensor_util  # noqa: E402

from argand.utils.tensorboard import FileWriter, SummaryWriter  # noqa: E402


def log(torch, SummaryWriter, folder):
    """Everything, written by a library and its writer."""
    now = dict(walltime=123.5)
    values = (torch.arange(200) / 64 - 1).square()  # exact, as what follows
    picture = torch.arange(3 * 8 * 9).reshape(3, 8, 9) / 256
    with SummaryWriter(folder, purge_step=3) as w:
        w.add_scalar("loss", 1.5, 0, **now)
        w.add_scalar("loss", torch.tensor([2.5], requires_grad=True), 1, **now)
        w.add_scalar("half", torch.tensor(1.3, dtype=torch.bfloat16), **now)
        w.add_scalar("new", 0.1, 3, new_style=True, **now)
        w.add_scalar("double", 0.1, 3, new_style=True, double_precision=True, **now)
        w.add_scalars("both/of", {"a": 1, "b": torch.tensor(2.0)}, 5, **now)
        w.add_histogram("values", values, 0, **now)
        w.add_histogram("ten bins", values, 0, bins=10, **now)
        w.add_histogram("joined", values, 0, bins=64, max_bins=10, **now)
        w.add_histogram("zeros", torch.zeros(4, dtype=torch.int64), 1, **now)
        w.add_histogram_raw("raw", 0, 1, 3, 2, 1, [0.5, 1], [1, 2], 4, **now)
        w.add_image("floats", picture, 0, **now)
        w.add_image("bytes", (picture * 255).to(torch.uint8), 0, **now)
        w.add_image("grey", picture[0], 0, dataformats="HW", **now)
        w.add_images("grid", torch.arange(10 * 60).reshape(10, 3, 4, 5) / 1024, 0, **now)
        w.add_images("grey grid", torch.arange(60).reshape(3, 4, 5, 1) / 64, 0, dataformats="NHWC", **now)
        w.add_image_with_boxes("boxes", torch.zeros(3, 40, 50), torch.tensor([[4, 5, 20, 30], [1, 1, 9, 9]]), labels=["a", "b"], **now)
        w.add_text("text", "hello *ü*", 0, **now)
        w.add_audio("sound", torch.arange(-50, 50).unsqueeze(0) / 50, 0, sample_rate=8000, **now)
        w.add_pr_curve("curve", torch.tensor([0, 1, 1, 0, 1]), torch.tensor([0.1, 0.9, 0.4, 0.6, 0.8]), 0, **now)
        w.add_pr_curve("weighed", np.array([0, 1]), np.array([0.5, 0.6]), 0, num_thresholds=10, weights=2.0, **now)
        mesh = torch.arange(15.0).reshape(1, 5, 3) / 16
        w.add_mesh("mesh", mesh, (mesh * 256).to(torch.uint8), torch.tensor([[[0, 1, 2], [1, 2, 3]]]), {"cls": "x"}, 3, **now)
        w.add_mesh("points", mesh, **now)
        w.add_tensor("tensor", torch.arange(6.0).reshape(2, 3), 0, **now)
        w.add_custom_scalars({"T": {"x": ["Multiline", ["a", "b"]], "y": ["Margin", ["p", "q", "r"]]}})
        w.add_hparams({"lr": 0.1, "name": "x", "flag": True, "none": None, "t": torch.tensor([2.5])}, {"accuracy": 0.5},
                      hparam_domain_discrete={"lr": [0.1, 0.2], "name": ["x", "y"]}, run_name="run", global_step=7)


def events(folder):
    """{subfolder: [event, ...]}, without the times that were not given; those of hyperparameters as texts (maps have no order)."""
    found = {}
    for path in sorted(glob.glob(f"{folder}/**/*tfevents*", recursive=True)):
        for raw in RawEventFileLoader(path).Load():
            event = Event.FromString(raw)
            event.wall_time = event.wall_time if event.wall_time == 123.5 else 0
            content = [v.metadata.plugin_data.content for v in event.summary.value if v.tag.startswith("_hparams_")]
            what = str(HParamsPluginData.FromString(content[0])) if content else event
            found.setdefault(os.path.relpath(os.path.dirname(path), folder), []).append(what)
    return found


def test_files_are_those_of_pytorchs_writer(tmp_path):
    if importlib.util.find_spec("torch") is None:
        pytest.skip("PyTorch is not installed")
    program = f"""
import importlib.util, sys
sys.modules["argand"] = __import__("torch")
import torch.utils.tensorboard as t
sys.modules["argand.utils"], sys.modules["argand.utils.tensorboard"] = torch.utils, t
spec = importlib.util.spec_from_file_location("program", {__file__!r})
program = importlib.util.module_from_spec(spec)
spec.loader.exec_module(program)
program.log(torch, t.SummaryWriter, {str(tmp_path / 'theirs')!r})
"""
    subprocess.run([sys.executable, "-c", "import torch\n" + program], check=True, env={**os.environ, "PYTHONPATH": ""})
    log(argand, SummaryWriter, tmp_path / "ours")
    ours, theirs = events(tmp_path / "ours"), events(tmp_path / "theirs")
    assert ours.keys() == theirs.keys() == {".", "run", "both_of_a", "both_of_b"}
    for folder in ours:
        assert len(ours[folder]) == len(theirs[folder])
        for mine, their in zip(ours[folder], theirs[folder]):
            assert mine == their


def read(folder):
    return EventAccumulator(str(folder), {"scalars": 0, "images": 0, "histograms": 0, "tensors": 0, "audio": 0}).Reload()


def test_what_is_read_back(tmp_path):
    log(argand, SummaryWriter, tmp_path)
    found = read(tmp_path)
    assert [(e.step, e.value, e.wall_time) for e in found.Scalars("loss")] == [(0, 1.5, 123.5), (1, 2.5, 123.5)]
    assert math.isclose(found.Scalars("half")[0].value, 1.296875)
    assert read(tmp_path / "both_of_b").Scalars("both/of")[0].value == 2
    h = found.Histograms("ten bins")[0].histogram_value
    values = np.square(np.arange(200) / 64 - 1)
    counts, limits = np.histogram(values, bins=10)
    assert h.num == 200 and h.bucket == [0, *counts.tolist()] and np.allclose(h.bucket_limit, limits)
    assert found.Histograms("joined")[0].histogram_value.num == sum(found.Histograms("joined")[0].histogram_value.bucket) == 200
    assert found.Images("grid")[0].width == 8 * 5 and found.Images("grid")[0].height == 2 * 4
    assert found.Tensors("text/text_summary")[0].tensor_proto.string_val == ["hello *ü*".encode()]
    assert found.Audio("sound")[0].sample_rate == 8000
    curve = tensor_util.make_ndarray(found.Tensors("curve")[0].tensor_proto)
    assert curve.shape == (6, 127) and curve[:4, 0].tolist() == [3, 2, 0, 0] and curve[4, 0] == np.float32(0.6)


@pytest.mark.parametrize("dtype", ["float16", "uint8", "int64", "complex64", "bool"])
def test_tensors_keep_their_types(tmp_path, dtype):
    given = argand.tensor([[0, 1, 2], [3, 4, 5]]).to(getattr(argand, dtype))
    with SummaryWriter(tmp_path) as w:
        w.add_tensor("t", given)
    back = tensor_util.make_ndarray(read(tmp_path).Tensors("t")[0].tensor_proto)
    assert str(back.dtype) == dtype and back.tolist() == given.tolist()


def test_moving_pictures(tmp_path):
    pytest.importorskip("PIL")
    import io

    from PIL import Image
    clip = argand.zeros(3, 5, 3, 4, 6)
    clip[1, 2, 0] = 1  # the second clip's third picture is red
    with SummaryWriter(tmp_path) as w:
        w.add_video("clips", clip, fps=10)
    gif = Image.open(io.BytesIO(read(tmp_path).Images("clips")[0].encoded_image_string))
    assert gif.size == (12, 8) and gif.n_frames >= 2  # four places, the last one black; equal pictures are one
    gif.seek(1)
    assert gif.convert("RGB").getpixel((8, 1)) == (255, 0, 0) and gif.convert("RGB").getpixel((1, 1)) == (0, 0, 0)


def test_figures(tmp_path):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    with SummaryWriter(tmp_path) as w:
        w.add_figure("one", plt.figure(figsize=(1, 2), dpi=50))
        kept = plt.figure(figsize=(1, 1), dpi=50)
        w.add_figure("two", [kept, plt.figure(figsize=(1, 1), dpi=50)], close=False)
    assert len(plt.get_fignums()) == 2
    plt.close("all")
    found = read(tmp_path)
    assert (found.Images("one")[0].width, found.Images("one")[0].height) == (50, 100) and found.Images("two")[0].width == 100


def test_folders_and_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    w = SummaryWriter(comment="_mine", filename_suffix=".end")
    assert w.get_logdir().startswith("runs" + os.sep) and w.get_logdir().endswith("_mine")
    w.add_scalar("a", 1)
    w.flush()
    assert len(glob.glob(f"{w.get_logdir()}/*.end")) == 1 and len(read(w.get_logdir()).Scalars("a")) == 1
    w.close()
    w.close()
    w.add_scalar("a", 2)  # into a new file
    w.close()
    assert len(read(w.get_logdir()).Scalars("a")) == 2
    f = FileWriter(tmp_path / "plain")
    f.add_event(Event(), step=3, walltime=5.0)
    f.close()
    assert [(e.step, e.wall_time) for e in read_events(f.get_logdir())][-1] == (3, 5.0)


def read_events(folder):
    return [Event.FromString(raw) for path in glob.glob(f"{folder}/*tfevents*") for raw in RawEventFileLoader(path).Load()]


@pytest.mark.parametrize("error, message, call", [
    (AssertionError, "should contain one element", lambda w: w.add_scalar("e", argand.ones(2))),
    (NotImplementedError, "numpy array or torch tensor are expected", lambda w: w.add_scalar("e", object())),
    (ValueError, "has no element", lambda w: w.add_histogram("e", argand.ones(0))),
    (NotImplementedError, "add_onnx_graph", lambda w: w.add_onnx_graph("x")),
    (ValueError, "int, float, str, bool", lambda w: w.add_hparams({"a": [1]}, {})),
    (AssertionError, "format are different", lambda w: w.add_image("e", argand.ones(3, 2, 2), dataformats="HW"))])
def test_refusals(tmp_path, error, message, call):
    with SummaryWriter(tmp_path) as w, pytest.raises(error, match=message):
        call(w)


def test_points_for_the_projector(tmp_path):
    """The files are those that PyTorch writes."""
    with SummaryWriter(str(tmp_path)) as w:
        w.add_embedding(argand.arange(12.0).reshape(4, 3) / 8, ["a", "b", "c", "d"], argand.arange(48.0).reshape(4, 3, 2, 2) / 64, 1, "emb/x")
        w.add_embedding(np.ones((2, 3)), [["a", 1], ["b", 2]], metadata_header=["n", "k"], tag="two")
        with pytest.raises(AssertionError, match="#labels should equal with #data points"):
            w.add_embedding(np.ones((2, 3)), ["a"])
    assert (tmp_path / "projector_config.pbtxt").read_text() == (
        'embeddings {\n  tensor_name: "emb/x:00001"\n  metadata_path: "00001/emb%2fx/metadata.tsv"\n  sprite {\n'
        '    image_path: "00001/emb%2fx/sprite.png"\n    single_image_dim: 2\n    single_image_dim: 2\n  }\n'
        '  tensor_path: "00001/emb%2fx/tensors.tsv"\n}\nembeddings {\n  tensor_name: "two:00000"\n'
        '  metadata_path: "00000/two/metadata.tsv"\n  tensor_path: "00000/two/tensors.tsv"\n}\n')
    assert (tmp_path / "00001/emb%2fx/tensors.tsv").read_text() == "0.0\t0.125\t0.25\n0.375\t0.5\t0.625\n0.75\t0.875\t1.0\n1.125\t1.25\t1.375\n"
    assert (tmp_path / "00001/emb%2fx/metadata.tsv").read_text() == "a\nb\nc\nd\n"
    assert (tmp_path / "00000/two/metadata.tsv").read_text() == "n\tk\na\t1\nb\t2\n"
    from PIL import Image
    sprite = np.asarray(Image.open(tmp_path / "00001/emb%2fx/sprite.png"))
    assert sprite.shape == (4, 4, 3) and sprite[2, 3].tolist() == [int(n / 64 * 255) for n in (37, 41, 45)]


def test_graph_of_a_model(tmp_path):
    from tensorboard.compat.proto.graph_pb2 import GraphDef

    class Model(argand.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = argand.nn.Linear(2, 3)
            self.seq = argand.nn.Sequential(argand.nn.Dropout(), argand.nn.Linear(3, 1))

        def forward(self, x, scale):
            y = self.seq(self.fc(x)) * scale
            y.add_(1)
            return {"y": y, "halves": y.chunk(1)}
    model = Model()
    with SummaryWriter(str(tmp_path)) as w:
        w.add_graph(model, (argand.ones(1, 2), argand.ones(1)))
    assert model.training and model.seq[0].training and not argand.nn.modules.module._global_forward_hooks
    graph = next(GraphDef.FromString(e.graph_def) for e in read_events(tmp_path) if e.graph_def)
    made = {n.name: (n.op, list(n.input), [[d.size for d in s.dim] for s in n.attr["_output_shapes"].list.shape]) for n in graph.node}
    assert made["Model/Linear[fc]/linear"] == ("aten::linear", ["input/x", "Model/Linear[fc]/weight", "Model/Linear[fc]/bias"], [[1, 3]])
    assert made["Model/Sequential[seq]/Linear[1]/weight"] == ("prim::GetAttr", [], [[1, 3]])
    assert made["Model/mul"][1] == ["Model/Sequential[seq]/Linear[1]/linear", "input/x.1"] and made["Model/add"][1] == ["Model/mul"]
    assert made["output/output.1"] == ("IO Node", ["Model/add"], [[1, 1]]) and made["output/output.2"][1] == ["Model/chunk"]
    assert all(name in made for _, inputs, _ in made.values() for name in inputs)
    with pytest.raises(RuntimeError, match="whose result has tensors"):
        w.add_graph(argand.nn.Identity(), 3)
