"""Where PyTorch has what stands in another file here: torch.split is defined in torch.functional there, and in argand._functions here.

Files that are saved name things by PyTorch's places, and so does a process in which `import torch` means Argand.
"""
from .naming import PACKAGE, below, short

# {our module: PyTorch's for all in it, or {PyTorch's: names in it}}, without "argand." and "torch."; "" is torch itself.  None: the others.
_HOMES = {
    "": {"_C": "LinAlgError"},
    "_C": {"": "ScriptObject Size device dtype layout memory_format", "autograd.function": "FunctionCtx"},
    "_C.cuda": "cuda",
    "_compiling.models": {"": "compile", "_dynamo.eval_frame": "OptimizedModule",
                 "_dynamo.exc": "BackendCompilerFailed InvalidBackend TorchDynamoException Unsupported", None: "compiler"},
    "_compiling.calls": "compiler",
    "_compiling.names": "compiler",
    "_functions": {"": "asarray from_file get_device is_complex is_floating_point is_inference is_signed nonzero numel "
                       "repeat_interleave result_type typename where _assert _check _check_index _check_is_size _check_not_implemented _check_tensor_all "
                       "_check_type _check_value split_copy split_with_sizes_copy unbind_copy",
                   "functional": "broadcast_shapes cdist lu norm split tensordot unique unique_consecutive unravel_index"},
    "_buffers": {"": "frombuffer"},
    "_copies": {"_tensor": "_named_dtype _rebuild _rebuild_from_type_v2 _restore",
                "_utils": "_rebuild_meta_tensor_no_storage _rebuild_wrapper_subclass"},
    "_device_names": "_utils",
    "_dispatch_keys": "",
    "_dtype_limits": "",
    "_control_flow": {"_higher_order_ops.while_loop": "while_loop", None: ""},
    "_fake_quantize": "",
    "_fake_tensors": "_subclasses.fake_tensor",
    "_legacy_types": "",
    "_linear_algebra.eigenvalues": "_lobpcg",
    "_linear_algebra.low_rank": "_lowrank",
    "_linear_algebra.removed": "_linalg_utils",
    "_rare_ops": "",
    "_rare_settings": "",
    "_serialization.rebuilding": "_utils",
    "_symbolic_numbers": "",
    "_tags": "",
    "_serialization.names": "serialization",
    "_global_settings": {"_tensor_str": "set_printoptions", None: ""},
    "_hook_handles": {"utils.hooks": "RemovableHandle RemovedByCall"},
    "accelerator": {"accelerator.memory": "empty_cache empty_host_cache get_memory_info reset_accumulated_memory_stats "
                                          "reset_peak_memory_stats"},
    "amp.autocast_mode": {"": "get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype is_autocast_enabled set_autocast_dtype "
                              "set_autocast_enabled"},
    "ao.quantization": {"ao.quantization.stubs": "DeQuantStub QuantStub"},
    "autograd": {"_C": "_is_multithreading_enabled"},
    "autograd._backward": "autograd",
    "autograd._engine": {"_C._autograd": "SavedTensor", "autograd.grad_mode": "set_multithreading_enabled", "autograd.variable": "Variable",
                         "_C._functions": "DelayedError UndefinedGrad"},
    "autograd.profiler": {"_C._autograd": "kineto_available", "_C._profiler": "ProfilerActivity ProfilerState RecordScope gather_traceback "
                                                                                               "symbolize_tracebacks"},
    "autograd.profiler_util": {"_C._autograd": "DeviceType"},
    "cpu.amp": {"cpu.amp.grad_scaler": "GradScaler", "cpu.amp.autocast_mode": "autocast"},
    "cuda": {"cuda.graphs": "make_graphed_callables",
             "cuda.memory": "CUDAPluggableAllocator MemPool caching_allocator_alloc caching_allocator_delete caching_allocator_disabled "
                            "caching_allocator_enable change_current_allocator host_memory_stats "
                            "host_memory_stats_as_nested_dict memory_stats_as_nested_dict reset_accumulated_host_memory_stats "
                            "reset_peak_host_memory_stats use_mem_pool"},
    "cuda.graphed": "cuda.graphs",
    "cuda._legacy_types": "cuda",
    "cuda._monitoring": {"cuda.memory": "list_gpu_processes", None: "cuda"},
    "cuda._rare_settings": {"cuda.memory": "get_allocator_backend", None: "cuda"},
    "cuda.amp": {"cuda.amp.grad_scaler": "GradScaler", "cuda.amp.common": "amp_definitely_not_available",
                 "cuda.amp.autocast_mode": "autocast custom_bwd custom_fwd"},
    "cuda.streams": {"cuda": "StreamContext current_stream default_stream set_stream stream"},
    "distributed._launch.commands": "distributed.elastic.multiprocessing.api",
    "distributed._launch.error_handler": "distributed.elastic.multiprocessing.errors.error_handler",
    "distributed._launch.errors": "distributed.elastic.multiprocessing.errors",
    "distributed._launch.functions": "distributed.elastic.multiprocessing.api",
    "distributed._launch.processes": "distributed.elastic.multiprocessing.api",
    "distributed.elastic.multiprocessing.api": {"distributed.elastic.multiprocessing": "start_processes"},
    "distributed.elastic.multiprocessing.logs": "distributed.elastic.multiprocessing.api",
    "distributions.kl_registry": "distributions.kl",
    "func._functionalize": "func",
    "func._gradients": "func",
    "func._vmap": "func",
    "futures": {"": "Future"},
    "fx._codegen": "fx.graph",
    "jit": {"_jit_internal": "is_scripting", "jit._async": "fork wait", "jit._script": "script",
            "jit._trace": "is_tracing trace trace_module",
            "jit._serialization": "jit_module_from_flatbuffer save_jit_module_to_flatbuffer"},
    "jit._names": {"jit._script": "Attribute ScriptWarning", "jit._fuser": "fuser optimized_execution "
                   "set_fusion_strategy", "jit._trace": "TopLevelTracedModule TracedModule TracerWarning TracingCheckError", None: "jit"},
    "jit._script_module": {"": "ScriptModule", "jit._script": "RecursiveScriptModule", "jit._serialization": "load save",
                            "jit._freeze": "freeze optimize_for_inference run_frozen_optimizations", None: "jit"},
    "library": {"_library.custom_ops": "CustomOpDef"},
    "masked": {"masked.maskedtensor.core": "MaskedTensor is_masked_tensor", "masked.maskedtensor.creation": "as_masked_tensor "
               "masked_tensor", None: "masked._ops"},
    "nn._sequences": "nn.utils.rnn",
    "nn.functional": "nn.functional",
    "nn.functional.activation": "nn.functional",
    "nn.functional.attention": "nn.functional",
    "nn.functional.convolution": "nn.functional",
    "nn.functional.dropout": "nn.functional",
    "nn.functional.linear": "nn.functional",
    "nn.functional.loss": "nn.functional",
    "nn.functional.normalization": "nn.functional",
    "nn.functional.padding": "nn.functional",
    "nn.functional.pooling": "nn.functional",
    "nn.functional.sparse": "nn.functional",
    "nn.functional.vision": "nn.functional",
    "nn.modules.hooks": "nn.modules.module",
    "nn.modules.loss": {"nn.modules.linear_cross_entropy_options": "LinearCrossEntropyOptions"},
    "nn.utils._orthogonal": "nn.utils.parametrizations",
    "nn.utils.weight_norm": {"": "norm_except_dim"},
    "optim.adafactor": "optim",
    "optim.lr_scheduler.base": "optim.lr_scheduler",
    "optim.lr_scheduler.combined": "optim.lr_scheduler",
    "optim.lr_scheduler.cycles": "optim.lr_scheduler",
    "optim.lr_scheduler.schedules": "optim.lr_scheduler",
    "optim.muon": "optim",
    "_overridable_functions": "overrides",
    "overrides": {"_C": "has_torch_function has_torch_function_unary has_torch_function_variadic"},
    "signal.windows": "signal.windows.windows",
    "storage": {"_C": "StorageBase"},
    "testing._file_check": {"": "FileCheck"},
    "utils._swap": "utils",
    "utils._checkpoint_regions": "utils.checkpoint",
    "utils._cpp_extension.loading": "utils.cpp_extension",
    "utils._cpp_extension.packaging": "utils.cpp_extension",
    "utils._cpp_extension.places": "utils.cpp_extension",
    "utils._selective_checkpoint": "utils.checkpoint",
    "utils.data.collate": {"utils.data._utils.collate": "default_collate default_convert"},
    "utils.data.worker": {"utils.data._utils.worker": "get_worker_info"},
}

# PyTorch's modules of ops, beside linalg_, special_ and fft_ by the beginnings of their names; the others are of torch.
_HOMES_OF_OPS = {
    "_C._nn": "avg_pool2d avg_pool3d elu_ gelu hardtanh_ leaky_relu_ linear log_sigmoid one_hot softplus softshrink",
    "_linalg_utils": "cholesky qr",
    "functional": "atleast_1d atleast_2d atleast_3d block_diag broadcast_tensors cartesian_prod chain_matmul einsum meshgrid stft",
    "nn.functional": "softsign tanhshrink",
}


def _as_table(homes):
    """({name: home}, the home of all others)"""
    if isinstance(homes, str):
        return {}, homes
    return {name: home for home, names in homes.items() if home is not None for name in names.split()}, homes.get(None)


def torch_module(module, name):
    """The module of PyTorch that has what `module` has under the name: the same one if it is not ours, or PyTorch has no such thing."""
    if module.partition(".")[0] != PACKAGE:
        return module
    names, others = _as_table(_HOMES.get(below(module), {}))
    home = names.get(name, short(module) if others is None else others)
    return module if home is None else f"torch.{home}" if home else "torch"


def module_of_op(name):
    """The module of PyTorch that has an op beside torch itself, or None."""
    package = name.partition("_")[0]
    home = f"_C._{package}" if package in ("fft", "linalg", "special") else _as_table(_HOMES_OF_OPS)[0].get(name)
    return home and f"torch.{home}"
