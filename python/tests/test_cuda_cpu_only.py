"""argand.cuda in a program without a GPU: what is asked answers, what needs a device says why there is none."""
import argand as torch
import pytest

pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")


def test_questions():
    assert torch.cuda.is_available() is False and torch.cuda.device_count() == 0 and not torch.cuda.is_initialized()
    assert torch.cuda.memory_allocated() == torch.cuda.max_memory_reserved() == 0 and len(torch.cuda.memory_stats()) == 0
    assert torch.cuda.memory_snapshot() == [] and torch.cuda.get_arch_list() == [] and not torch.cuda.is_bf16_supported()
    assert torch.cuda.get_rng_state_all() == [] and torch.backends.cudnn.is_available() is False
    assert not torch.cuda.is_current_stream_capturing() and torch.version.cuda is None


def test_harmless():
    torch.cuda.empty_cache()
    torch.cuda.ipc_collect()
    torch.cuda.manual_seed(1)
    torch.cuda.manual_seed_all(2**64 - 1)
    torch.cuda.seed()
    torch.cuda.set_device(-1)
    with torch.cuda.stream(None), torch.cuda.device(None), torch.cuda.device(-1), torch.cuda.device_of(torch.ones(1)):
        pass
    with torch.cuda.nvtx.range("part {}", 1):
        torch.cuda.nvtx.mark("here")
    assert repr(torch.cuda.Event()) == "<torch.cuda.Event uninitialized>" and torch.cuda.Event().query()


@pytest.mark.parametrize("call", [
    torch.cuda.init, torch.cuda.current_device, torch.cuda.synchronize, torch.cuda.Stream, torch.cuda.current_stream,
    torch.cuda.default_stream, torch.cuda.get_device_name, torch.cuda.get_device_properties, torch.cuda.get_device_capability,
    torch.cuda.mem_get_info, torch.cuda.memory_summary, torch.cuda.reset_peak_memory_stats, torch.cuda.get_rng_state,
    torch.cuda.initial_seed, lambda: torch.cuda.set_device(0), lambda: torch.cuda.device(0).__enter__(),
    lambda: torch.zeros(2, device="cuda"), lambda: torch.ones(2).cuda(), lambda: torch.cuda.Event().record(),
    lambda: torch.cuda.can_device_access_peer(0, 1), lambda: torch.cuda.set_per_process_memory_fraction(0.5)])
def test_needs_a_device(call):
    with pytest.raises(RuntimeError, match="cuda"):
        call()


def test_wrong_arguments():
    with pytest.raises(ValueError, match="Expected a cuda device, but got: cpu"):
        torch.cuda.get_device_name("cpu")
    with pytest.raises(TypeError, match="must be `float`"):
        torch.cuda.set_per_process_memory_fraction(1)
    with pytest.raises(ValueError, match="Invalid fraction value: 2.0. Allowed range: 0~1"):
        torch.cuda.set_per_process_memory_fraction(2.0)


def test_backends():
    before = torch.backends.cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32
    try:
        torch.backends.cudnn.benchmark = True
        with torch.backends.cudnn.flags(benchmark=False, allow_tf32=not before[0]):
            assert torch.backends.cudnn.benchmark is False and torch.backends.cudnn.allow_tf32 is not before[0]
        assert torch.backends.cudnn.benchmark is True and torch.backends.cudnn.allow_tf32 is before[0]
        torch.backends.cuda.matmul.allow_tf32 = True
        assert torch.backends.cuda.matmul.fp32_precision == "tf32" and torch.get_float32_matmul_precision() == "high"
    finally:
        torch.backends.cudnn.benchmark = False
        torch.backends.cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32 = before
    assert torch.backends.mps.is_available() is False and torch.backends.opt_einsum.is_available() is False
