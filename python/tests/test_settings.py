"""Settings: what they take, what they reach, and that none takes a value in silence that does nothing."""
import os
import subprocess
import sys
import warnings

import argand as torch
import pytest

BACKENDS = torch.backends


def warned(function, *arguments):
    """The texts of the warnings of a call, those of settings that are ignored again and again."""
    torch.set_warn_always(True)
    try:
        with warnings.catch_warnings(record=True) as texts:
            warnings.simplefilter("always")
            function(*arguments)
    finally:
        torch.set_warn_always(False)
    return [str(w.message) for w in texts]


@pytest.fixture
def precisions():
    """The settings of precision, none of which allows TF32; they are as they were at first after the test."""
    BACKENDS.cudnn.conv.fp32_precision = "none"
    yield BACKENDS
    torch.set_float32_precision("default")


# ---- what switches take


def switch_of_x(value):
    torch.ones(1).requires_grad = value


@pytest.mark.parametrize("value", ["no", 3, None, 1, torch.tensor(True)], ids=str)
@pytest.mark.parametrize("switch, error", [
    (torch.set_grad_enabled, TypeError), (torch.autograd.set_grad_enabled, TypeError), (torch.set_anomaly_enabled, TypeError),
    (torch.autograd.set_detect_anomaly, TypeError), (lambda v: torch.autograd.set_detect_anomaly(True, v), TypeError),
    (torch.autograd.set_multithreading_enabled, TypeError), (torch.use_deterministic_algorithms, TypeError),
    (lambda v: torch.set_autocast_enabled("cpu", v), TypeError), (torch.set_autocast_cpu_enabled, TypeError),
    (torch.set_autocast_cache_enabled, TypeError), (BACKENDS.cuda.enable_flash_sdp, RuntimeError),
    (BACKENDS.cuda.enable_math_sdp, RuntimeError), (BACKENDS.cuda.enable_mem_efficient_sdp, RuntimeError),
    (BACKENDS.cuda.enable_cudnn_sdp, RuntimeError), (BACKENDS.cuda.allow_fp16_bf16_reduction_math_sdp, RuntimeError),
    (torch.set_flush_denormal, RuntimeError), (torch.set_warn_always, RuntimeError), (switch_of_x, RuntimeError),
    (lambda v: setattr(BACKENDS.cuda.matmul, "allow_tf32", v), RuntimeError),
    (lambda v: setattr(BACKENDS.cudnn, "allow_tf32", v), RuntimeError),
    (lambda v: setattr(BACKENDS.mkldnn, "deterministic", v), RuntimeError),
    (lambda v: torch.nn.LSTM(1, 1, bias=v), TypeError), (lambda v: torch.nn.GRU(1, 1, batch_first=v), TypeError)])
def test_switches_take_true_and_false_alone(switch, error, value):
    grad, watched, tf32 = torch.is_grad_enabled(), torch.is_anomaly_enabled(), BACKENDS.cuda.matmul.allow_tf32
    with pytest.raises(error, match=r"bool\b[^{}]*$"):
        switch(value)
    assert (grad, watched, tf32) == (torch.is_grad_enabled(), torch.is_anomaly_enabled(), BACKENDS.cuda.matmul.allow_tf32)


def test_inference_mode_takes_a_function_or_a_bool():
    with pytest.raises(TypeError, match="must be bool, not str"):
        torch.inference_mode("no")
    assert torch.inference_mode(lambda: torch.is_inference_mode_enabled())()


def test_denormals():
    assert torch.set_flush_denormal(False) is False
    assert "mode=True is ignored" in warned(torch.set_flush_denormal, True)[0]


# ---- precision of float32


def reached():
    return torch._C._allow_tf32_matmul(), torch._C._allow_tf32_cudnn()


def test_convolutions_may_use_tf32_at_first():
    program = "import argand; b = argand.backends; print(b.cudnn.allow_tf32, b.cudnn.conv.fp32_precision, b.cuda.matmul.allow_tf32)"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split() == [
        "True", "tf32", "False"]


def test_precision_of_all(precisions):
    for name, expected in (("exact", (False, False)), ("fast", (True, True)), ("default", (False, True))):
        precisions.fp32_precision = "tf32"  # replaced, too
        torch.set_float32_precision(name)
        assert reached() == expected and torch.get_float32_precision() == name
        assert (precisions.cuda.matmul.allow_tf32, precisions.cudnn.allow_tf32) == expected
    precisions.cudnn.allow_tf32 = False
    precisions.cuda.matmul.allow_tf32 = True
    assert torch.get_float32_precision() == "other"
    with pytest.raises(ValueError, match="expected 'exact', 'default' or 'fast', got 'highest'"):
        torch.set_float32_precision("highest")


def test_precision_reaches_products_and_convolutions(precisions):
    assert reached() == (False, False) and precisions.fp32_precision == "none"
    for level, below in ((precisions, (True, True)), (precisions.cudnn, (True, True)), (precisions.cudnn.conv, (False, True)),
                         (precisions.cuda.matmul, (True, False))):
        level.fp32_precision = "tf32"
        assert reached() == below and level.fp32_precision == "tf32"
        assert (precisions.cuda.matmul.allow_tf32, precisions.cudnn.allow_tf32) == below
        assert (precisions.cuda.matmul.fp32_precision, precisions.cudnn.conv.fp32_precision) == tuple("tf32" if b else "none" for b in below)
        assert precisions.cudnn.rnn.fp32_precision == precisions.cuda.matmul.fp32_precision  # they are products
        level.fp32_precision = "none"
        assert reached() == (False, False)


def test_the_level_below_decides(precisions):
    precisions.fp32_precision = "tf32"
    precisions.cuda.matmul.fp32_precision = "ieee"
    assert reached() == (False, True) and torch.get_float32_matmul_precision() == "highest"
    precisions.cudnn.allow_tf32 = False
    assert reached() == (False, False) and precisions.cudnn.conv.fp32_precision == "ieee"
    precisions.cudnn.allow_tf32 = True
    torch.set_float32_matmul_precision("medium")
    assert reached() == (True, True) and precisions.cuda.matmul.fp32_precision == "tf32"
    assert torch.get_float32_matmul_precision() == "medium"
    torch.set_float32_matmul_precision("highest")
    assert reached() == (False, True) and precisions.cuda.matmul.fp32_precision == "ieee"


def test_what_is_set_below_python_is_read(precisions):
    torch._C._set_allow_tf32_matmul(True)
    assert precisions.cuda.matmul.fp32_precision == "tf32"
    precisions.cuda.matmul.fp32_precision = "ieee"
    assert reached() == (False, False)


def test_precisions_that_there_are_not(precisions):
    for level in (precisions, precisions.cudnn, precisions.cudnn.conv, precisions.cuda.matmul, precisions.mkldnn.conv):
        with pytest.raises(RuntimeError, match="Unknown precision: fast"):
            level.fp32_precision = "fast"
        with pytest.raises(TypeError, match="must be str, not int"):
            level.fp32_precision = 3
    with pytest.raises(RuntimeError, match="does not support precision 'bf16'"):
        precisions.cuda.matmul.fp32_precision = "bf16"
    assert warned(setattr, precisions, "fp32_precision", "bf16") and precisions.fp32_precision == "none"
    with pytest.raises(RuntimeError, match="expected a str"):
        torch.set_float32_matmul_precision(3)


def test_scopes_of_precision(precisions):
    with precisions.cudnn.flags(allow_tf32=True):
        assert reached() == (False, True)
    with precisions.cudnn.flags(fp32_precision="tf32"):
        assert reached() == (True, True)
    assert reached() == (False, False)
    precisions.fp32_precision = "tf32"  # a scope leaves no choice of its own behind
    assert reached() == (True, True)


def test_onednn_reads_back_what_holds():
    mkldnn = BACKENDS.mkldnn
    for settings in (mkldnn, mkldnn.conv, mkldnn.matmul, mkldnn.rnn):
        assert "oneDNN is not there" in warned(setattr, settings, "fp32_precision", "tf32")[0]
        assert settings.fp32_precision == "none" and warned(setattr, settings, "fp32_precision", "ieee") == []
    assert "oneDNN is not there" in warned(setattr, mkldnn, "allow_tf32", True)[0] and mkldnn.allow_tf32 is None


def test_settings_that_there_are_not():
    assert "there is no such setting" in warned(setattr, BACKENDS.cudnn, "fastest", True)[0]
    del BACKENDS.cudnn.fastest
    with pytest.raises(AttributeError, match="Unknown attribute fastest"):
        BACKENDS.cudnn.conv.fastest = True


PLAN_CACHE = """
import pytest, argand as torch
cache = torch.backends.cuda.cufft_plan_cache
assert cache.size == 0 and cache.max_size == 4096 and cache.clear() is None
cache[1].max_size = 7
assert (cache.max_size, cache[0].max_size, cache["cuda:1"].max_size, cache[torch.device("cuda", 1)].max_size) == (4096, 4096, 7, 7)
with torch.cuda.device(1):
    assert cache.max_size == 7
    cache.max_size = 0
assert cache[1].max_size == 0 and cache.max_size == 4096
with pytest.raises(RuntimeError, match="max_size must be non-negative, but got -1"):
    cache.max_size = -1
with pytest.raises(RuntimeError, match="max_size: expected an int, but got float"):
    cache.max_size = 2.0
with pytest.raises(RuntimeError, match="size is a read-only property"):
    cache.size = 3
with pytest.raises(RuntimeError, match="but got device with index 12"):
    cache[12]
with pytest.raises(AttributeError, match="Unknown attribute plans"):
    cache.plans = 1
"""


def test_plan_cache_of_fourier_transforms():
    environment = dict(os.environ, ARGAND_CUDA_DRY_RUN="2")
    done = subprocess.run([sys.executable, "-c", PLAN_CACHE], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# ---- options of compilers


def test_options_of_compilers_have_names():
    from argand._torch import _dynamo, _inductor
    for config, public in ((_dynamo.config, "torch._dynamo.config"), (_inductor.config, "torch._inductor.config")):
        for use in (lambda: setattr(config, "foo", 1), lambda: config.foo, lambda: config.patch(foo=1).__enter__()):
            with pytest.raises(AttributeError, match=f"{public}.foo does not exist"):
                use()
    _inductor.config.max_autotune = True
    with _inductor.config.patch(max_autotune=False, coordinate_descent_tuning=True):
        assert not _inductor.config.max_autotune
    assert _inductor.config.max_autotune and not hasattr(_inductor.config, "coordinate_descent_tuning")
    assert "could be shown" in warned(setattr, _inductor.config, "debug", True)[0]
    assert warned(setattr, _dynamo.config, "cache_size_limit", 64) == [] and _dynamo.config.cache_size_limit == 64
    assert "could be shown" in warned(setattr, _dynamo.config, "report_guard_failures", True)[0]
