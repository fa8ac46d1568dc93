"""What programs import beside tensors and modules: names that work, and names that say they cannot."""
import importlib
import subprocess
import sys
from typing import List, Optional, Sequence, Tuple, Union

import argand as torch
import pytest
from argand import Tensor
from argand._torch import _C as _torch_c
from argand.testing import FileCheck

TEXT = "alpha beta\ngamma delta gamma\nepsilon alpha\n"


@pytest.mark.parametrize("works, check", [  # as PyTorch's on the same text
    (True, lambda c: c.check("alpha").check("gamma").check("alpha")), (False, lambda c: c.check("gamma").check("beta")),
    (True, lambda c: c.check("beta").check_next("gamma")), (False, lambda c: c.check("alpha").check_next("epsilon")),
    (True, lambda c: c.check("gamma").check_same("gamma")), (False, lambda c: c.check("alpha").check_same("gamma")),
    (True, lambda c: c.check_count("alpha", 2)), (False, lambda c: c.check_count("alpha", 3)),
    (False, lambda c: c.check_count("alpha", 1, exactly=True)), (True, lambda c: c.check_count("gamma", 2, exactly=True).check("epsilon")),
    (False, lambda c: c.check("alpha").check_not("beta").check("gamma")), (True, lambda c: c.check("epsilon").check_not("delta")),
    (True, lambda c: c.check_dag("epsilon").check_dag("beta")), (False, lambda c: c.check("gamma").check_dag("epsilon").check_dag("beta")),
    (True, lambda c: c.check_regex("g.mma d")), (False, lambda c: c.check_not("alpha").check("beta"))])
def test_file_check(works, check):
    if works:
        check(FileCheck()).run(TEXT)
    else:
        with pytest.raises(RuntimeError, match="Expected to (not )?find"):
            check(FileCheck()).run(TEXT)


def test_ops_that_are_declared_first():
    torch.library.define("names_test::scale", "(Tensor x, int n=2) -> Tensor")
    with pytest.raises(NotImplementedError, match="Could not run 'names_test::scale' with arguments from the 'CPU' backend"):
        torch.ops.names_test.scale(torch.ones(1))

    @torch.library.impl("names_test::scale", "cpu")
    def scale(x, n=2):
        return x * n
    assert torch.ops.names_test.scale(torch.ones(1)).item() == 2 and torch.ops.names_test.scale.default(torch.ones(1), n=3).item() == 3
    with pytest.raises(NotImplementedError, match="'META' backend"):
        torch.ops.names_test.scale(torch.ones(1, device="meta"))
    torch.library.register_autograd("names_test::scale", lambda ctx, g: (g * 7, None), setup_context=lambda ctx, inputs, output: None)
    x = torch.ones(2, requires_grad=True)
    torch.ops.names_test.scale(x, n=4).sum().backward()
    assert x.grad.tolist() == [7, 7]
    with pytest.raises(RuntimeError, match="defined already"):
        torch.library.define("names_test::scale", "(Tensor x) -> Tensor")
    library = torch.library.Library("names_test", "FRAGMENT")
    assert library.define("plus(Tensor x) -> Tensor") == "plus"
    library.impl("plus", lambda x: x + 1, "CompositeExplicitAutograd")
    assert torch.ops.names_test.plus(torch.ones(1)).item() == 2
    seen = []
    library.impl("plus", lambda x: seen.append(x) or torch.ops.names_test.plus(x.detach()) + 2 * x, "AutogradCPU")
    y = torch.ones(1, requires_grad=True)
    torch.ops.names_test.plus(y).backward()  # through what the function of AutogradCPU does
    assert len(seen) == 1 and y.grad.item() == 2
    with pytest.raises(NotImplementedError, match="AutogradXLA"):
        library.impl("plus", lambda x: x, "AutogradXLA")
    with pytest.raises(NotImplementedError, match="aten"):
        torch.library.Library("aten", "DEF")


def test_schemas_of_functions():
    """The texts are PyTorch's."""
    def f(x: Tensor, y: Optional[Tensor], n: int = 3, s: str = "a", w: Sequence[int] = None, b: bool = True, *,
          on: Optional[int] = None) -> Tuple[Tensor, Tensor]:
        ...

    def g(x: Tensor, ts: List[Tensor], scale: Union[int, float, bool] = 2, d: torch.dtype = torch.float32) -> None:
        ...
    assert (torch.library.infer_schema(f, mutates_args=("x",)) == '(Tensor(a0!) x, Tensor? y, SymInt n=3, str s="a", SymInt[] w=None, '
            'bool b=True, *, SymInt? on=None) -> (Tensor, Tensor)')
    assert (torch.library.infer_schema(g, mutates_args="unknown", op_name="p::g")
            == "p::g(Tensor(a0!) x, Tensor(a1!)[] ts, Scalar scale=2, ScalarType d=float32) -> ()")
    with pytest.raises(ValueError, match="not found"):
        torch.library.infer_schema(g, mutates_args={"z"})
    with pytest.raises(ValueError, match="unsupported type"):
        torch.library.infer_schema(lambda x: x, mutates_args=())


def test_linear_parts_of_functions():
    x = torch.tensor([0.3, -0.7])
    value, product = torch.func.linearize(lambda t: torch.sin(t) * 2, x)
    assert value.equal(torch.sin(x) * 2)
    torch.testing.assert_close(product(torch.tensor([1.0, 2.0])), 2 * torch.cos(x) * torch.tensor([1.0, 2.0]))
    model = torch.func.replace_all_batch_norm_modules_(torch.nn.Sequential(torch.nn.BatchNorm1d(2)))
    assert not model.state_dict().keys() & {"0.running_mean", "0.running_var"}
    batch = torch.tensor([[1.0, 2.0], [3.0, 6.0]])
    assert model.eval()(batch).mean(0).abs().max() < 1e-6


def test_marks_for_a_compiler_change_nothing():
    import argand._torch._dynamo as dynamo
    from argand._torch._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex

    @dynamo.optimize("inductor")
    @dynamo.assume_constant_result
    @torch.compiler.set_stance("force_eager")
    def double(x):
        dynamo.mark_dynamic(x, 0)
        dynamo.graph_break()
        return x * 2
    assert double(torch.ones(1)).item() == 2
    with TransformGetItemToIndex():
        assert torch.arange(3)[torch.tensor(1)].item() == 1
    with dynamo.config.patch(cache_size_limit=99):
        assert dynamo.config.cache_size_limit == 99
    assert dynamo.config.cache_size_limit != 99
    with pytest.raises(RuntimeError, match="invalid torch.compile stance"):
        torch.compiler.set_stance("often")
    assert torch.compiler.wrap_numpy(lambda a: a + 1)(torch.ones(2)).tolist() == [2, 2]


def test_safe_globals_are_kept():
    serialization = torch.serialization
    with serialization.safe_globals([set]):
        serialization.add_safe_globals([dict, set])
        assert serialization.get_safe_globals() == [set, dict]
    assert serialization.get_safe_globals() == []
    with pytest.raises(ValueError, match="expected mmap.MAP_PRIVATE or mmap.MAP_SHARED, but got 4"):
        serialization.set_default_mmap_options(4)


def test_scores_and_sums_of_flex_attention():
    from argand.nn.attention.flex_attention import AuxRequest, flex_attention
    q, k, v = (torch.arange(8.0).reshape(1, 1, 4, 2) * s for s in (0.1, -0.2, 1.0))
    scores = q @ k.mT / 2 ** 0.5
    result, aux = flex_attention(q, k, v, return_aux=AuxRequest(lse=True, max_scores=True))
    torch.testing.assert_close(result, scores.softmax(-1) @ v)
    torch.testing.assert_close(aux.lse, scores.logsumexp(-1))
    torch.testing.assert_close(aux.max_scores, scores.amax(-1))
    assert flex_attention(q, k, v, return_aux=AuxRequest())[1] == (None, None)


def test_programs_find_their_hooks():
    """Modules keep a hook as it was registered, and call those with options with them."""
    module, seen = torch.nn.Linear(1, 1), []

    def plain(module, args, output):
        seen.append("plain")

    def with_names(module, args, kwargs, output):
        seen.append(kwargs)
    module.register_forward_hook(plain)
    module.register_forward_hook(with_names, with_kwargs=True)
    module.register_forward_hook(plain)  # once more
    assert list(module._forward_hooks.values())[0] is plain
    module(input=torch.ones(1, 1))
    assert seen[0] == seen[2] == "plain" and list(seen[1]) == ["input"]


def test_tensors_in_the_place_of_others():
    from argand.nn.utils._named_member_accessor import swap_tensor
    module = torch.nn.Linear(2, 2)
    weight, other = module.weight, torch.ones(2, 2)
    assert swap_tensor(module, "weight", other) is weight and module.weight is other
    assert swap_tensor(module, "weight", weight) is other and module.weight is weight
    with pytest.raises(AttributeError, match="nope"):
        swap_tensor(module, "nope", other)
    nothing = swap_tensor(module, "extra", other, allow_missing=True)
    swap_tensor(module, "extra", nothing)
    assert not hasattr(module, "extra")


REFUSED = {
    "argand.distributed.tensor": ["DTensor", "distribute_tensor"],
    "argand.distributed.optim": ["ZeroRedundancyOptimizer"],
    "argand.distributed.fsdp": ["FullyShardedDataParallel", "fully_shard"],
    "argand.distributed.rpc": ["init_rpc", "RRef"],
    "argand.distributed.device_mesh": ["DeviceMesh", "init_device_mesh"],
    "argand.distributed.tensor.parallel": ["ColwiseParallel", "parallelize_module"],
    "argand.jit": ["CompilationUnit", "export_opnames"],
    "argand._torch._dynamo": ["explain", "export"],
    "argand.ao.quantization": ["quantize_dynamic", "FakeQuantize"],
    "argand.compiler": ["precompile", "load_compiled_function"],
    "argand.cuda": ["cudart", "MemPool", "CUDAPluggableAllocator"],
    "argand.cuda.memory": ["MemPool", "reset_peak_host_memory_stats"],
    "argand.cuda.nccl": ["version"],
    "argand.export": ["Dim", "export"],
    "argand.library": ["opcheck", "register_autocast"],
    "argand.package": ["PackageImporter"],
    "argand.quantization": ["prepare", "QConfig"],
    "argand.serialization": ["register_package"],
    "argand.utils.cpp_extension": ["SyclExtension"],
    "argand.nested": ["nested_tensor"],
    "argand.nn.attention": ["activate_flash_attention_impl"],
    "argand.sparse": ["FloatTensor", "mm"],
    "argand.types": ["SymInt"],
    "argand.utils.data": ["IterDataPipe", "MapDataPipe", "functional_datapipe"],
}


@pytest.mark.parametrize("module, name", [(m, n) for m, names in REFUSED.items() for n in names])
def test_names_that_mean_nothing_say_so(module, name):
    if module == "argand.cuda.nccl":
        torch.cuda.nccl  # made when it is asked for
    thing = getattr(importlib.import_module(module), name)
    assert not isinstance(torch.ones(1), thing) if isinstance(thing, type) else callable(thing)
    with pytest.raises(NotImplementedError, match=name):
        thing(None)


def test_facts():
    from argand.distributed.tensor import Replicate, Shard
    assert Shard(0) == Shard(0) != Shard(1) and Replicate() == Replicate() and Shard(1).is_shard(1) and not Shard(1).is_shard(0)
    assert torch.distributed.Backend("NCCL") == "nccl" and torch.distributed.is_backend_available("gloo")
    assert "USE_CUDA=" in torch.__config__.show() and "Python version" in torch.utils.collect_env.get_pretty_env_info()
    assert torch.cuda.get_sync_debug_mode() == 0 and len(torch.cuda.default_generators) == torch.cuda.device_count()
    assert not isinstance(torch.ones(1), torch.cuda.FloatTensor)
    assert not hasattr(torch.cuda, "no_such_name") and not hasattr(torch.utils, "no_such_name")
    assert torch.backends.quantized.supported_engines == ["none"] and not torch.backends.nnpack.is_available()
    assert torch.nn.factory_kwargs({"device": "cpu"}) == {"device": "cpu"}


def test_these_names_cost_an_import_nothing():
    late = ["futures", "_torch", "optim._for_others", "cuda._monitoring", "optim.muon", "nn.utils.prune",
            "utils._pytree", "utils.weak", "utils.benchmark", "testing", "distributed.tensor", "library", "masked",
            "signal", "_rare_ops", "_rare_settings", "_surface.homes", "_surface.table", "_surface.refusals", "_symbols", "export", "functional", "nested",
            "nn.grad", "package", "quantization", "quasirandom", "sparse"]
    program = f"import sys, argand; print([n for n in {late} if 'argand.' + n in sys.modules])"
    assert subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.strip() == "[]"


IMPORTS = {  # what installed packages import at their top
    "argand._torch._C": "Graph Value _is_tracing _jit_set_profiling_executor _show_config",
    "argand._torch._C._distributed_c10d": "",
    "argand._torch._functorch.partitioners": "",
    "argand._torch._ops": "OpOverload",
    "argand._torch._subclasses.fake_tensor": "FakeTensor maybe_get_fake_mode unset_fake_temporarily _is_tensor_constructor",
    "argand.ao.quantization.fx": "",
    "argand.backends.xnnpack": "enabled",
    "argand.distributed._composable.fsdp": "FSDPModule fully_shard",
    "argand.distributed._functional_collectives": "all_reduce",
    "argand.distributed._tensor": "DTensor Shard distribute_tensor",
    "argand.distributed._tensor.experimental": "implicit_replication",
    "argand.distributed.algorithms._checkpoint.checkpoint_wrapper": "checkpoint_wrapper",
    "argand.distributed.algorithms.ddp_comm_hooks.powerSGD_hook": "PowerSGDState",
    "argand.distributed.algorithms.model_averaging.averagers": "ModelAverager",
    "argand.distributed.autograd": "context",
    "argand.distributed.checkpoint.state_dict": "get_model_state_dict",
    "argand.distributed.elastic.multiprocessing.errors": "ChildFailedError",
    "argand.distributed.fsdp.api": "FullStateDictConfig ShardingStrategy StateDictType",
    "argand.distributed.fsdp.fully_sharded_data_parallel": "FullyShardedDataParallel OptimStateKeyType StateDictType",
    "argand.distributed.fsdp.sharded_grad_scaler": "ShardedGradScaler",
    "argand.distributed.fsdp.wrap": "ModuleWrapPolicy transformer_auto_wrap_policy",
    "argand.distributed.run": "get_args_parser",
    "argand.distributed.tensor.placement_types": "Placement Replicate Shard",
    "argand.export.decomp_utils": "CustomDecompTable",
    "argand.fx.experimental.symbolic_shapes": "ShapeEnv",
    "argand.fx.passes.fake_tensor_prop": "FakeTensorProp",
    "argand.fx.passes.infra.pass_base": "PassResult",
    "argand.jit._script": "ScriptModule",
    "argand.masked._ops": "sum",
    "argand.nn.modules.conv": "_ConvNd _ConvTransposeMixin _ConvTransposeNd LazyConv1d",
    "argand.nn.modules.transformer": "_get_activation_fn",
    "argand.nn.utils._per_sample_grad": "call_for_per_sample_grads",
    "argand.onnx": "ONNXProgram",
    "argand.utils": "swap_tensors",
    "argand.utils._foreach_utils": "_group_tensors_by_device_and_dtype",
    "argand.utils._sympy": "",
    "argand.utils._triton": "has_triton",
    "argand.utils.cpp_extension": "_get_build_directory",
    "argand.utils.data.dataloader": "_collate_fn_t",
    "argand.utils.data.datapipes.iter": "IterableWrapper",
    "argand.utils.module_tracker": "ModuleTracker",
}


@pytest.mark.parametrize("module", IMPORTS)
def test_packages_find_what_they_import(module):
    found = importlib.import_module(module)
    for name in IMPORTS[module].split():
        assert getattr(found, name) is getattr(found, name)
    with pytest.raises(AttributeError, match="no_such_name"):
        found.no_such_name


def test_tensors_change_places():
    a, b = torch.ones(2, requires_grad=True), torch.nn.Parameter(torch.zeros(3))
    a.mark, held = "a", [a, b]
    (a * 3).sum().backward()
    torch.utils.swap_tensors(a, b)
    assert held[0] is a and type(a) is torch.nn.Parameter and a.tolist() == [0, 0, 0] and not hasattr(a, "mark")
    assert type(b) is torch.Tensor and b.tolist() == [1, 1] and b.grad.tolist() == [3, 3] and b.mark == "a"
    assert (b * 2).sum().backward() is None and b.grad.tolist() == [5, 5]
    with pytest.raises(TypeError, match="swap_tensors: expected a Tensor, got int"):
        torch._C._swap_tensors(a, 1)
    import weakref
    reference = weakref.ref(a)
    with pytest.raises(RuntimeError, match="Cannot swap t1 because it has weakref"):
        torch.utils.swap_tensors(a, b)
    del reference


def test_private_names_that_packages_call():
    assert _torch_c._jit_set_profiling_mode(False) is True and _torch_c._jit_set_profiling_mode(True) is False
    assert torch._int_mm(torch.full((2, 3), 100, dtype=torch.int8), torch.full((3, 2), 100, dtype=torch.int8)).tolist() == [[30000] * 2] * 2
    assert torch._cast_Long(torch.ones(1)).dtype is torch.int64
    with pytest.raises(KeyError, match="says why"):
        torch._check_with(KeyError, False, lambda: "says why")
    assert torch.ByteStorage.from_buffer(b"\x01\x02").tolist() == [1, 2]
    assert torch.ShortStorage.from_buffer(b"\x00\x01", byte_order="big").tolist() == [1]
    handle = torch.ops.profiler._record_function_enter("mine")
    torch.ops.profiler._record_function_exit(handle)
    with torch.autograd.profiler.profile() as profile:
        torch.ops.profiler._record_function_exit(torch.ops.profiler._record_function_enter("mine"))
    assert "mine" in [event.name for event in profile.function_events]


def test_an_array_of_a_parameter_where_nothing_is_recorded():
    parameter = torch.nn.Parameter(torch.ones(2))
    with pytest.raises(RuntimeError, match="requires grad"):
        parameter.numpy()
    with torch.no_grad():
        assert parameter.numpy().tolist() == parameter.view(-1).numpy().tolist() == [1, 1]
        parameter.numpy()[0] = 5
    assert parameter.tolist() == [5, 1]


def test_a_prefix_is_taken_off_names():
    from argand.nn.modules.utils import consume_prefix_in_state_dict_if_present
    wrapped, plain = torch.nn.Module(), torch.nn.Sequential(torch.nn.BatchNorm1d(2))
    wrapped.module = plain
    state = wrapped.state_dict()
    consume_prefix_in_state_dict_if_present(state, "module.")
    assert list(state) == list(plain.state_dict()) and state._metadata["0"] == {"version": 2} and "module" not in state._metadata
