"""torch._dynamo.config and torch._inductor.config: options of a compiler that Argand does not have.  A program may set the options of
PyTorch 2.15, by these names, and no others.  Values that are set are kept for the program; other options are missing attributes."""
import contextlib
import sys
import types

from .._compiling.options import shows
from .._ignored import warn_ignored
from .._surface.naming import short

DYNAMO = frozenset("""
    accumulated_cache_size_limit accumulated_recompile_limit allow_empty_graphs allow_ignore_mark_dynamic allow_rnn
    allow_unspec_int_on_nn_module allowed_functions_module_string_ignorelist assume_dunder_attributes_remain_unchanged
    assume_static_by_default automatic_dynamic_exclusion_guard automatic_dynamic_local_pgo automatic_dynamic_remote_pgo
    automatic_dynamic_shapes automatic_dynamic_shapes_mark_as base_dir cache_size_limit caching_precompile
    canonicalize_output_graph_node_order capture_autograd_function capture_dynamic_output_shape_ops capture_func_transforms
    capture_profiler_record_function capture_scalar_outputs capture_sparse_compute compiled_autograd compiled_autograd_kwargs_override
    computed_lazy_constant_max_nodes constant_fold_autograd_profiler_enabled cprofile cudagraph_backend_keep_input_mutation
    cudagraph_backend_support_input_mutation dead_code_elimination debug_backend_override debug_dir_root debug_disable_compile_counter
    debug_dynamo_config_override debug_force_graph_break_on_leaf_return debug_force_nested_calls debug_inductor_config_override disable
    do_not_emit_runtime_asserts dont_skip_tracing dynamic_shapes dynamo_profiler enable_aot_compile enable_compiler_collectives
    enable_cpp_framelocals_guard_eval enable_cpp_guard_manager enable_cpp_symbolic_shape_guards enable_dynamo_decompositions
    enable_faithful_generator_behavior enable_invoke_subgraph_regional_compile enable_p2p_compilation enable_trace_contextlib
    enable_trace_load_build_class enable_trace_unittest error_on_dynamo_callback_in_fullgraph_compiled_code error_on_nested_fx_trace
    error_on_nested_jit_trace error_on_recompile fail_on_cache_limit_hit fail_on_recompile_limit_hit
    fake_tensor_cache_crosscheck_enabled fake_tensor_cache_enabled fake_tensor_disable_inference_mode force_compile_during_fx_trace
    force_nn_module_property_static_shapes force_parameter_static_shapes force_unspec_int_unbacked_size_like_on_torchrec_kjt
    gc_gen2_threshold_during_compile generate_pycode graph_break_on_nn_param_ctor graph_deduplication_lint guard_nn_modules
    guard_nn_modules_using_dict_tags ignore_logger_methods ignore_logging_functions inject_BUILD_SET_unimplemented_TESTING_ONLY
    inline_inbuilt_nn_modules inline_invoke_subgraph inline_single_use_invoke_subgraph inline_torch_dispatch_torch_compile
    install_free_tensors install_free_tensors_for_export invalidate_compile_context_weakrefs issue_3_13_0_warning
    leaf_function_check_escaped_gradients leaf_function_validate_outputs log_compilation_metrics log_file_name log_graph_in_out_metadata
    max_saved_pointers_for_recursive_dict_tags_check minimum_call_count nested_graph_breaks nontraceable_tensor_subclasses
    numpy_default_complex numpy_default_float numpy_default_int only_allow_pt2_compliant_ops optimize_ddp optimize_ddp_lazy_compile
    prefer_deferred_runtime_asserts_over_guards prepare_freezing pt2_compile_id_prefix raise_on_ctx_manager_usage
    raise_on_unsafe_aot_autograd recompile_limit record_compile_time_instruction_count record_runtime_overhead
    reorderable_logging_functions replay_record_enabled replay_side_effects report_guard_failures repro_after repro_forward_only
    repro_ignore_non_fp repro_level repro_tolerance rewrite_assert_with_torch_assert run_gc_after_compile same_two_models_use_fp64
    side_effect_replay_policy skip_code_recursive_on_cache_limit_hit skip_code_recursive_on_recompile_limit_hit skip_fsdp_guards
    skip_fwd_side_effects_in_bwd_under_checkpoint skip_guards_on_constant_func_defaults skip_nnmodule_hook_guards
    skip_no_tensor_aliasing_guards_on_parameters skip_tensor_guards_with_matching_dict_tags skip_torchrec
    skipfiles_inline_module_allowlist specialize_float specialize_int strict_precompile suppress_errors trace_autograd_ops trace_numpy
    traceable_tensor_subclasses track_nodes_for_deduplication use_graph_deduplication use_lamba_guard_for_object_aliasing
    use_lazy_graph_module use_numpy_random_stream use_recursive_dict_tags_for_guards verbose verify_correctness wrap_top_frame
""".split())

INDUCTOR = frozenset("""
    add_pre_grad_passes aggressive_fusion align_random_eager alignment_asserts alignment_asserts_inputs allow_buffer_reuse
    always_keep_tensor_constants annotate_training apply_gumbel_max_trick assert_indirect_indexing assume_32bit_indexing
    assume_aligned_inputs assume_unaligned_fallback_output autoheuristic_log_path autotune_cudagraph_benchmarking
    autotune_cudagraph_benchmarking_iters autotune_fallback_to_aten autotune_in_subproc autotune_local_cache autotune_lookup_table
    autotune_multi_device autotune_num_choices_displayed autotune_remote_cache b2b_gemm_pass batch_fusion batch_invariant
    benchmark_combo_kernel benchmark_epilogue_fusion benchmark_fusion benchmark_harness benchmark_kernel benchmark_template_fusion
    bmm_shared_a bucket_all_gathers_bucket_mode bucket_all_gathers_fx bucket_all_gathers_fx_bucket_size_determinator
    bucket_all_reduces_fx bucket_all_reduces_fx_bucket_size_determinator bucket_reduce_scatters_bucket_mode bucket_reduce_scatters_fx
    bucket_reduce_scatters_fx_bucket_size_determinator bundle_triton_into_fx_graph_cache bundled_autotune_remote_cache
    bw_outputs_user_visible cache_sdpa_constraint can_inplace_pad_graph_input check_stack_no_cycles_TESTING_ONLY
    collective_benchmark_nruns collective_benchmark_timeout combo_kernel_allow_mixed_sizes combo_kernel_autotune_grouping
    combo_kernel_compile_time_autotune combo_kernel_foreach_dynamic_shapes combo_kernel_max_distance combo_kernel_max_num_args
    combo_kernel_max_num_nodes combo_kernel_peak_memory_increase_gb combo_kernel_peak_memory_pct_threshold
    combo_kernel_per_subkernel_blocks combo_kernels combo_kernels_autotune combo_kernels_pointwise_only comment_origin compile_threads
    compile_worker_mode compile_worker_wait_timeout compile_worker_watchdog_interval_seconds comprehensive_padding compute_all_bounds
    constant_and_index_propagation conv_1x1_as_mm coordinate_descent_check_all_directions coordinate_descent_search_radius
    coordinate_descent_tuning cpp_cache_precompile_headers cpp_wrapper cpp_wrapper_build_separate cpu_backend cpu_gpu_bw cuda_backend
    cudagraph_policy cudagraph_unsafe_unbacked_ops custom_partitioner_fn custom_should_partition_ops cutedsl_enable_autotuning dce debug
    debug_fusion debug_index_asserts debug_ir_traceback decompose_mem_bound_mm decompose_shard_dim_alltoall dedup_reduce_scatters
    delay_realize_cheap_outputs deterministic developer_warnings disable_cpp_codegen disable_padding_cpu disable_progress
    disabled_passes distributed_max_autotune_gemm do_not_emit_runtime_assertions dynamic_scale_rblock efficient_conv_bn_eval_fx_passes
    emulate_precision_casts emulate_precision_casts_on_saved_tensors enable_auto_functionalized_v2 enable_autograd_for_aot
    enable_caching_generated_triton_templates enable_linear_binary_folding enabled_metric_tables epilogue_fusion epilogue_fusion_first
    epilogue_fusion_user_defined_triton_kernel epilogue_fusion_with_atomic_add estimate_op_runtime expand_dimension_for_pointwise_nodes
    external_matmul fallback_by_default fallback_embedding_bag_byte_unpack fallback_random file_lock_timeout flydsl_enable_autotuning
    force_disable_caches force_disable_cudagraph_TESTING_ONLY force_fuse_int_mm_with_mul force_layout_optimization force_pointwise_cat
    force_shape_pad freezing freezing_discard_parameters fusion_memory_timeline_peak_memory_increase_gb
    fusion_memory_timeline_peak_memory_pct_threshold fx_graph_cache fx_graph_remote_cache fx_passes_numeric_check fx_wrapper
    generate_intermediate_hooks global_cache_dir graph_partition group_fusion implicit_fallbacks incremental_autotune
    inductor_choices_class inductor_default_autotune_rep inductor_default_autotune_warmup inplace_buffers inplace_padding inter_node_bw
    intra_node_bw is_nightly_or_source is_predispatch joint_custom_post_pass joint_custom_pre_pass joint_graph_constant_folding
    keep_addmm_fused_for_half_dtypes keep_output_stride keep_static_cubin_raw kernel_name_max_ops layout_opt_default layout_optimization
    log_tlparse loop_index_inversion_in_fusion loop_ordering_after_fusion loop_reindexing_after_fusion max_autotune
    max_autotune_allow_flexible_layouts max_autotune_conv_backends max_autotune_conv_bwd_input_backends
    max_autotune_conv_bwd_weight_backends max_autotune_flex_search_space max_autotune_gemm max_autotune_gemm_backends
    max_autotune_gemm_search_space max_autotune_pointwise max_autotune_prune_choices_based_on_shared_mem
    max_autotune_report_choices_stats max_autotune_subproc_graceful_timeout_seconds max_autotune_subproc_result_timeout_seconds
    max_autotune_subproc_terminate_timeout_seconds max_complex_pointwise_cat_inputs max_epilogue_benchmarked_choices
    max_fusion_buffer_group_pairwise_attempts max_fusion_size max_fusion_unique_io_buffers max_pointwise_cat_inputs
    max_template_fusion_benchmarked_choices memory_planning memory_pool min_num_split min_overlap_ratio mixed_mm_choice
    multi_kernel_hints nan_asserts non_blocking_remote_cache_write numerics nvgemm_max_profiling_configs nvgemm_pdl
    nvgemm_supplement_configs nvgemm_swap_ab online_softmax optimize_scatter_upon_const_tensor pad_channels_last pad_dynamic_shapes
    pad_outputs padding_alignment_bytes padding_stride_threshold partitioned_scatter_enabled partitioned_scatter_force
    partitioned_scatter_max_partitions partitioned_scatter_min_contention_ratio partitioned_scatter_min_index_size
    partitioned_scatter_min_partitions partitioned_scatter_non_model_floor_bytes pattern_matcher permute_fusion pick_loop_orders
    pipeline_max_autotune_gemm post_grad_custom_post_pass post_grad_custom_pre_pass post_grad_fusion_options pre_grad_custom_pass
    pre_grad_fusion_options pre_grad_pass_timing precompilation_timeout_seconds profile_bandwidth profile_bandwidth_output
    profile_bandwidth_regex profile_bandwidth_with_do_bench_using_profiling profiler_mark_wrapper_call prologue_fusion
    quiesce_async_compile_pool quiesce_async_compile_time realize_acc_reads_size_threshold realize_acc_reads_threshold
    realize_cpu_acc_reads_threshold realize_cpu_opcount_threshold realize_opcount_threshold realize_opusers_threshold
    realize_reads_threshold remote_gemm_autotune_cache remove_pre_grad_passes reorder_for_compute_comm_overlap
    reorder_for_compute_comm_overlap_passes reorder_for_locality reorder_for_locality_in_training reorder_for_peak_memory
    reorder_for_peak_memory_debug reorder_prefetch_limit run_jit_post_compile_hook runtime_estimations_mms_benchmark
    runtime_triton_nan_asserts save_args scalar_asserts score_fusion_memory_threshold search_autotune_cache selective_decompose
    shape_padding size_asserts size_threshold_for_succ_based_strategy sleep_sec_TESTING_ONLY small_memory_access_threshold
    split_cat_fx_passes split_reductions static_launch_user_defined_triton_kernels static_weight_shapes strict_output_strides
    strict_signed_zero strict_static_cuda_launcher strict_static_triton_launcher torchinductor_worker_logpath tpu_backend
    triton_disable_device_detection triton_kernel_default_layout_constraint unbacked_symint_fallback unroll_reductions_threshold
    unsafe_ignore_unsupported_triton_autotune_args unsafe_marked_cacheable_functions unsafe_skip_cache_dynamic_shape_guards
    unsafe_skip_scalar_range_asserts use_dce use_experimental_benchmarker use_fast_math use_fast_triton_launcher use_joint_graph_passes
    use_launch_metadata_schema use_mixed_mm use_post_grad_passes use_pre_grad_passes use_rand4x use_static_cuda_launcher
    use_static_triton_launcher use_torch_profiler_benchmarker var_std_reduction_dedup verbose_progress warn_mix_layout worker_log_path
    worker_start_method worker_suppress_logging wrap_inductor_compiled_regions write_are_deterministic_algorithms_enabled xpu_backend
""".split())

# Options of DYNAMO that ask for something to be seen, or for an error.
_SHOWN = frozenset("""
    cprofile dynamo_profiler error_on_recompile fail_on_cache_limit_hit fail_on_recompile_limit_hit log_compilation_metrics
    log_file_name log_graph_in_out_metadata record_runtime_overhead replay_record_enabled report_guard_failures repro_after verbose
    verify_correctness
""".split())


class _Options(types.ModuleType):
    """A module whose public attributes are options."""

    def __setattr__(self, name, value):
        if not name.startswith("_") and not isinstance(value, types.ModuleType):
            self._check(name)
            if value and (name in _SHOWN or shows(name)):
                warn_ignored(self._public, name, value, "no code is generated that could be shown, checked or changed")
        super().__setattr__(name, value)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
        self._check(name)
        raise AttributeError(f"{self._public}.{name} was not set, and nobody reads it: there is no compiler")

    def _check(self, name):
        if name not in self._names:
            raise AttributeError(f"{self._public}.{name} does not exist")


def make_options(module, names):
    """Makes the attributes of the module of this name options; its patch() gives some other values for a scope."""
    options = sys.modules[module]
    options._names, options._public = names | {"patch"}, f"torch.{short(module)}"
    options.patch = lambda *args, **values: _patch(options, *args, **values)
    options.__class__ = _Options


@contextlib.contextmanager
def _patch(options, *args, **values):
    """A scope with other options: by name, in a dict, or one as name and value."""
    values = {**(args[0] if args and isinstance(args[0], dict) else dict([args] if args else [])), **values}
    before = {name: vars(options)[name] for name in values if name in vars(options)}
    try:
        for name, value in values.items():
            setattr(options, name, value)
        yield
    finally:
        for name in values.keys() & vars(options).keys():
            delattr(options, name)
        vars(options).update(before)
