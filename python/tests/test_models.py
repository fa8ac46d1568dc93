"""argand.models: what torchvision 0.29.2 makes of the same seed (recorded here), files of weights, the cache, fusion.

tests/parity/models.py compares with torchvision itself where it is installed.
"""
import hashlib
import urllib.error

import argand
import pytest
from argand import _C, hub, models

# Number of parameters, the SHA-256 of names and shapes, outputs after manual_seed(0) at [:, ::250] of images randn(2, 3, 96, 96).
RECORDED = {
    "resnet18": (11689512, "66b04efc1dfd4b80",
        [1.19004, -0.85122323, -0.36598128, -0.38907945, 1.2815963, -0.72874129, -0.58766711, -0.40493682]),
    "resnet34": (21797672, "4aa3e2bbbdc5e2fd",
        [14.859572, -38.504166, -0.48615098, -10.437712, 15.07146, -37.51162, -0.93506169, -11.817144]),
    "resnet50": (25557032, "614cd53ddf849669",
        [-2.8594964, -21.409092, 3.2179799, 5.7751451, -2.7325034, -22.282223, 3.4074597, 5.5860047]),
    "mobilenet_v3_small": (2542856, "cb48f2feab283d8f",
        [-1.3961543e-10, 4.4472886e-10, -1.002342e-10, 5.120282e-10, -1.7180235e-10, 4.3336118e-10, -2.179254e-11, 5.7478472e-10]),
    "mobilenet_v3_large": (5483032, "a56c886e8c43a05b",
        [-4.3514265e-11, 9.5613767e-11, -3.9850567e-11, 3.052647e-10, -6.7758292e-11, 1.5279271e-10, 2.806497e-11, 2.2433845e-10]),
}


def relative(got, wanted):
    return ((got - wanted).abs().max() / wanted.abs().max()).item()


def small(seed=0):
    argand.manual_seed(seed)
    return models.mobilenet_v3_small(num_classes=7).eval()


@pytest.mark.parametrize("name", RECORDED)
def test_torchvision_s_network(name):
    parameters, names, output = RECORDED[name]
    argand.manual_seed(0)
    model = getattr(models, name)().eval()
    assert sum(p.numel() for p in model.parameters()) == parameters
    text = "\n".join(f"{k} {list(v.shape)}" for k, v in model.state_dict().items())
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == names
    x = argand.randn(2, 3, 96, 96)
    with argand.no_grad():
        y = model(x)
    assert relative(y[:, ::250].flatten(), argand.tensor(output)) < 1e-5


@pytest.mark.parametrize("name", ["resnet18", "resnet50", "mobilenet_v3_small"])
def test_fused_equals_unfused(name):
    argand.manual_seed(1)
    model = getattr(models, name)(num_classes=10)
    with argand.no_grad():
        model(argand.randn(4, 3, 64, 64))  # moves the statistics
        for module in model.modules():
            if isinstance(module, argand.nn.BatchNorm2d):
                module.weight.uniform_(0.5, 1.5)
                module.bias.uniform_(-0.5, 0.5)
        x, model = argand.randn(2, 3, 64, 64), model.eval()
        before = model(x)
        assert models.fuse(model) is model
        assert not any(isinstance(m, argand.nn.BatchNorm2d) for m in model.modules())
        assert relative(model(x), before) < 1e-5


def test_training_moves_every_parameter():
    model = small().train()
    argand.nn.functional.cross_entropy(model(argand.randn(4, 3, 64, 64)), argand.tensor([0, 1, 2, 3])).backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())


def test_weights_of_a_file(tmp_path):
    source, path = small(), tmp_path / "w.pth"
    argand.save(source.state_dict(), path)
    loaded = models.mobilenet_v3_small(weights=path).eval()  # as many classes as there are
    x = argand.randn(1, 3, 64, 64)
    assert argand.equal(loaded(x), source(x))
    with pytest.raises(RuntimeError, match="classifier.3.weight"):
        models.mobilenet_v3_small(weights=path, num_classes=8)
    with pytest.raises(RuntimeError, match="Missing key|conv1"):
        models.resnet18(weights=str(path))
    with pytest.raises(ValueError, match="IMAGENET1K_V1, DEFAULT; got 'nothing'"):
        models.resnet18(weights="nothing")
    argand.save([1], path)
    with pytest.raises(TypeError, match="got list"):
        models.resnet18(weights=str(path))


def test_old_files_do_not_count_batches(tmp_path):
    source, path = small(), tmp_path / "w.pth"
    state = {k: v for k, v in source.state_dict().items() if not k.endswith("num_batches_tracked")}
    argand.save(state, path)
    x = argand.randn(1, 3, 64, 64)
    assert argand.equal(models.mobilenet_v3_small(weights=path).eval()(x), source(x))


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ARGAND_CACHE_DIR", str(tmp_path / "argand"))
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))

    def no_network(request):
        raise urllib.error.URLError("no network in tests")
    monkeypatch.setattr(hub, "urlopen", no_network)
    return tmp_path


def test_offline_says_which_file_to_put_where(cache):
    with pytest.raises(FileNotFoundError) as caught:
        models.resnet50(weights="IMAGENET1K_V2")
    for part in ("IMAGENET1K_V2", "https://download.pytorch.org/models/resnet50-11ad3fa6.pth", str(cache / "argand" / "models"),
                 " as resnet50-11ad3fa6.pth", "no network in tests"):
        assert part in str(caught.value)
    assert list((cache / "argand" / "models").iterdir()) == []


@pytest.mark.parametrize("folder", ["argand/models", "torch/hub/checkpoints"])
def test_a_damaged_file_in_the_cache(cache, folder):
    place = cache / folder
    place.mkdir(parents=True)
    (place / "resnet18-f37072fd.pth").write_bytes(b"cut")
    with pytest.raises(RuntimeError, match="begins with f37072fd, got .*; remove it"):
        models.resnet18(weights="DEFAULT")


def published(cache, monkeypatch, right):
    """As if the table named a file that lies on this disk; its digits are right or not."""
    source, origin = small(), cache / "origin.pth"
    argand.save(source.state_dict(), origin)
    digits = hashlib.sha256(origin.read_bytes()).hexdigest()[:8] if right else "00000000"
    found = {"file": "f.pth", "path": "", "places": [str(cache / "place")], "url": origin.as_uri(), "sha256": digits, "advice": ""}
    monkeypatch.setattr(_C, "_find_published", lambda *_: found)
    monkeypatch.setattr(hub, "urlopen", urllib.request.urlopen)
    return source


def test_download(cache, monkeypatch):
    source = published(cache, monkeypatch, right=True)
    x = argand.randn(1, 3, 64, 64)
    assert argand.equal(models.mobilenet_v3_small(weights="DEFAULT").eval()(x), source(x))
    assert [p.name for p in (cache / "place").iterdir()] == ["f.pth"]


def test_download_with_a_wrong_checksum(cache, monkeypatch):
    published(cache, monkeypatch, right=False)
    with pytest.raises(RuntimeError, match='expected "00000000"'):
        models.mobilenet_v3_small(weights="DEFAULT")
    assert list((cache / "place").iterdir()) == []


def test_names_of_torchvision_s_enumeration():
    assert _C._find_published("resnet50", "ResNet50_Weights.IMAGENET1K_V1", [])["file"] == "resnet50-0676ba61.pth"
    assert _C._find_published("resnet50", "DEFAULT", [])["file"] == "resnet50-11ad3fa6.pth"
    assert _C._find_published("resnet18", "IMAGENET1K_V2", []) is None
