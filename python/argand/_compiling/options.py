"""Checks torch.compile's mode, options and dynamic.  The options are those of PyTorch's code generator, which Argand does not have: they
tune code that is not generated, and change no result.  An option that asks for visible output warns; an unknown one is an error."""
from .._ignored import warn_ignored

MODES = ("default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune")

# Options that choose which code is generated, or make it faster.
_SWITCHES = set("""aggressive_fusion allow_buffer_reuse assume_aligned_inputs b2b_gemm_pass benchmark_combo_kernel benchmark_fusion
    benchmark_harness benchmark_kernel bfloat16_atomic_adds_enabled combo_kernels comprehensive_padding conv_1x1_as_mm
    coordinate_descent_check_all_directions coordinate_descent_tuning cpp_wrapper decompose_mem_bound_mm deterministic dynamic_scale_rblock
    efficient_conv_bn_eval_fx_passes emulate_precision_casts epilogue_fusion epilogue_fusion_first fallback_random
    force_fuse_int_mm_with_mul force_layout_optimization force_same_precision freezing freezing_discard_parameters fx_graph_cache
    fx_graph_remote_cache graph_partition group_fusion implicit_fallbacks inplace_buffers inplace_padding joint_graph_constant_folding
    keep_output_stride layout_optimization loop_ordering_after_fusion max_autotune max_autotune_gemm max_autotune_pointwise
    memory_planning pad_channels_last pad_outputs pattern_matcher permute_fusion pick_loop_orders prologue_fusion reorder_for_locality
    reorder_for_peak_memory search_autotune_cache shape_padding size_asserts split_cat_fx_passes split_reductions static_weight_shapes
    use_mixed_mm""".split())
_VALUES = set("""autotune_in_subproc compile_threads cpu_backend cuda_backend kernel_name_max_ops max_autotune_conv_backends
    max_autotune_gemm_backends max_autotune_gemm_search_space max_fusion_size max_pointwise_cat_inputs memory_pool padding_alignment_bytes
    padding_stride_threshold realize_acc_reads_threshold realize_opcount_threshold realize_reads_threshold
    unroll_reductions_threshold""".split())
_FAMILIES = ("aot_inductor", "aten_distributed_optimizations", "auto_chunker", "cpp", "cuda", "cutlass", "halide", "rocm", "triton", "xpu")
# Options for visible output, and functions that the compiler would call.
_SHOWN = {"debug", "verbose_progress", "guard_filter_fn", "profiler_mark_wrapper_call", "generate_intermediate_hooks", "nan_asserts",
          "runtime_triton_nan_asserts", "scalar_asserts", "assert_indirect_indexing", "alignment_asserts"}
_CALLED = set("joint_custom_post_pass joint_custom_pre_pass post_grad_custom_post_pass post_grad_custom_pre_pass pre_grad_custom_pass".split())


def shows(name):
    """Whether an option asks for visible output, or for a call of a function."""
    return name in _SHOWN or name in _CALLED


def check(mode, options, dynamic_shapes, fullgraph, recompile_limit, backend, as_it_is):
    """Raises errors for invalid arguments of torch.compile, and warns of arguments without effect."""
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    if dynamic_shapes is not None:
        raise NotImplementedError("torch.compile: dynamic_shapes is not supported: shapes of a graph are not constrained")
    if backend == "inductor":
        if mode is not None and mode not in MODES:
            raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(MODES)}")
        for name, value in (options or {}).items():
            _check_option(name.replace("-", "_"), value)
    elif as_it_is:
        for argument, value in (("mode", mode), ("options", options), ("recompile_limit", recompile_limit)):
            if value is not None:
                warn_ignored("torch.compile", argument, value, f"the backend {backend!r} has none")
        if fullgraph:
            warn_ignored("torch.compile", "fullgraph", fullgraph, f"with the backend {backend!r} the program runs as it is, without a graph")


def _check_option(name, value):
    family = name.partition(".")[0] if "." in name else None
    if name in _SWITCHES and not isinstance(value, bool):
        raise RuntimeError(f"Unexpected type of attr {name}, got {type(value).__name__} should be bool")
    if shows(name) or family == "trace":
        if value:
            warn_ignored("torch.compile", f"options[{name!r}]", value, "no code is generated that could be shown, checked or changed")
    elif name not in _SWITCHES and name not in _VALUES and family not in _FAMILIES:
        raise RuntimeError(f"Unexpected optimization option {name}, known options are "
                           f"{sorted(_SWITCHES | _VALUES | _SHOWN | _CALLED)} and those that begin with {', '.join(_FAMILIES)} or trace and a dot")
