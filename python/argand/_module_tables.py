"""The tables that _named_modules.py makes modules from: names of PyTorch that packages import, by module, without "torch.".

The reason of a refusal stands beside its names.  A name that Argand comes to have is removed here.
"""

# {module: the module here that has its names; "" is argand itself}
SHOWN = {
    "_C._fft": "fft",
    "_C._linalg": "linalg",
    "_C._special": "special",
    "_C._profiler": "autograd.profiler",
    "_C._distributed_c10d": "distributed.distributed_c10d",
    "_dynamo.decorators": "_dynamo",
    "_higher_order_ops.while_loop": "",
    "_library": "library",
    "_library.custom_ops": "library",
    "_linalg_utils": "",
    "_lobpcg": "",
    "accelerator.memory": "accelerator",
    "ao.quantization.fake_quantize": "ao.quantization",
    "ao.quantization.fuse_modules": "ao.quantization",
    "ao.quantization.observer": "ao.quantization",
    "ao.quantization.qconfig": "ao.quantization",
    "ao.quantization.qconfig_mapping": "ao.quantization",
    "ao.quantization.quantize": "ao.quantization",
    "ao.quantization.stubs": "ao.quantization",
    "cpu.amp.autocast_mode": "cpu.amp",
    "cpu.amp.grad_scaler": "cpu.amp",
    "distributed._composable.fsdp": "distributed.fsdp",
    "distributed._tensor": "distributed.tensor",
    "distributed._tensor.api": "distributed.tensor",
    "distributed._tensor.experimental": "distributed.tensor.experimental",
    "distributed._tensor.placement_types": "distributed.tensor",
    "distributed.fsdp.api": "distributed.fsdp",
    "distributed.fsdp.fully_sharded_data_parallel": "distributed.fsdp",
    "distributed.optim.post_localSGD_optimizer": "distributed.optim",
    "distributed.optim.zero_redundancy_optimizer": "distributed.optim",
    "distributed.rpc.api": "distributed.rpc",
    "distributed.tensor.parallel.api": "distributed.tensor.parallel",
    "distributed.tensor.parallel.loss": "distributed.tensor.parallel",
    "distributed.tensor.parallel.style": "distributed.tensor.parallel",
    "distributed.tensor.placement_types": "distributed.tensor",
    "export.dynamic_shapes": "export",
    "export.exported_program": "export",
    "export.graph_signature": "export",
    "export.unflatten": "export",
    "jit._async": "jit",
    "jit._freeze": "jit",
    "jit._fuser": "jit",
    "jit._script": "jit",
    "jit._serialization": "jit",
    "jit._trace": "jit",
    "masked._ops": "masked",
    "masked.maskedtensor": "masked",
    "masked.maskedtensor.core": "masked",
    "masked.maskedtensor.creation": "masked",
    "nn.modules.linear_cross_entropy_options": "nn.modules.loss",
    "package.package_exporter": "package",
    "package.package_importer": "package",
    "signal.windows.windows": "signal.windows",
    "sparse.semi_structured": "sparse",
    "utils.data.datapipes._decorator": "utils.data",
    "utils.data.datapipes.datapipe": "utils.data",
}

_SEVERAL = "models and tensors in parts on several processes are not here yet"
_COMPILER = "there is no compiler; calls are fused and replayed as they are"
_SCRIPT = "there is no TorchScript"
_QUANTIZED = "there are no quantized tensors"
_ONNX = "there is no export to ONNX; save the state dict and export with PyTorch"
_EXPORT = "calls are not traced into programs; torch.fx.symbolic_trace makes graphs of modules"
_LAUNCH = "the launcher here has no such part: torch.distributed.run and torch.distributed.launcher start processes"
_XPU, _MPS = "there are no XPU devices", "there are no MPS devices"
_PIPES = "write a Dataset or an IterableDataset"
_SYMBOLS = "sizes are numbers: nothing is traced"

# {module: [(why, names), ...]}
_TABLE = {
    "": [(_QUANTIZED, "_make_per_tensor_quantized_tensor _make_per_channel_quantized_tensor"),
         ("there are no float8 dtypes", "_scaled_mm"), ("matrices are multiplied in batches of one size", "_grouped_mm"),
         ("torch.optim.Adam(fused=True) takes such a step", "_fused_adam_ _fused_adamw_")],
    "_C": [(_SCRIPT, "Block Graph Value"), ("there is no dispatcher", "_dispatch_has_kernel_for_dispatch_key _dispatch_keys"),
           ("whether a forked process can use a GPU is not known", "_cuda_isInBadFork"),
           ("memory is counted by the library", "_storage_Use_Count")],
    "_dynamo.backends": [(_COMPILER, "")],
    "_dynamo.backends.registry": [(_COMPILER, "lookup_backend")],
    "_dynamo.backends.common": [(_COMPILER, "aot_autograd AotAutograd device_from_inputs")],
    "_dynamo.compiled_autograd": [(_COMPILER, "AutogradCompilerInstance _enable")],
    "_dynamo.exc": [(_COMPILER, "InternalTorchDynamoError RecompileError TorchRuntimeError UserError UserErrorType")],
    "_dynamo.external_utils": [(_COMPILER, "FakeBackwardCFunction wrap_inline")],
    "_dynamo.guards": [(_COMPILER, "GuardBuilder CheckFunctionManager")],
    "_dynamo.utils": [(_COMPILER, "to_fake_tensor CompileProfiler")],
    "_dynamo.variables": [(_COMPILER, "ConstantVariable TensorVariable UserDefinedObjectVariable VariableTracker")],
    "_functorch.aot_autograd": [(_COMPILER, "aot_function aot_module aot_module_simplified aot_export_module aot_export_joint_simple "
                                            "make_boxed_compiler make_boxed_func")],
    "_functorch.partitioners": [(_COMPILER, "default_partition min_cut_rematerialization_partition is_sym_node get_default_op_list")],
    "_functorch.compilers": [(_COMPILER, "memory_efficient_fusion ts_compile")],
    "_higher_order_ops.effects": [(_COMPILER, "WithEffects _EffectType _register_effectful_op with_effects")],
    "_inductor": [(_COMPILER, "compile cudagraph_mark_step_begin list_mode_options list_options")],
    "_inductor.cpp_builder": [(_COMPILER, "CppBuilder CppOptions CppTorchOptions get_cpp_compiler")],
    "_inductor.cpu_vec_isa": [(_COMPILER, "VecISA pick_vec_isa valid_vec_isa_list")],
    "_inductor.ir": [(_COMPILER, "ExternKernel FallbackKernel FlexibleLayout IRNode Pointwise Reduction TensorBox")],
    "_inductor.lowering": [(_COMPILER, "add_layout_constraint fallback_handler make_fallback register_lowering")],
    "_inductor.runtime": [(_COMPILER, "")],
    "_inductor.runtime.triton_heuristics": [(_COMPILER, "grid")],
    "_inductor.scheduler": [(_COMPILER, "BaseSchedulerNode Scheduler SchedulerNode")],
    "_inductor.virtualized": [(_COMPILER, "V ops")],
    "_ops": [("ops are functions and methods of the library", "HigherOrderOperator")],
    "_prims": [(_COMPILER, "TensorMeta")],
    "_prims_common": [(_COMPILER, "ELEMENTWISE_TYPE_PROMOTION_KIND TensorLikeType canonicalize_dims elementwise_dtypes")],
    "_subclasses.fake_tensor": [("use tensors of the device 'meta'", "FakeTensorConverter "
                                 "_is_tensor_constructor")],
    "ao.quantization": [(_QUANTIZED, "default_observer default_per_channel_weight_observer default_weight_observer "
                                     "get_default_qat_qconfig_mapping quantize_fx")],
    "ao.quantization.fx": [(_QUANTIZED, "")],
    "ao.quantization.fx._decomposed": [(_QUANTIZED, "")],
    "ao.quantization.quantize_fx": [(_QUANTIZED, "convert_fx convert_to_reference_fx fuse_fx prepare_fx prepare_qat_fx")],
    "cuda": [("whether a forked process can use a GPU is not known", "_is_in_bad_fork"),
             ("devices are set up with their first use: call the function", "_lazy_call")],
    "distributed._composable": [(_SEVERAL, "checkpoint contract fully_shard replicate")],
    "distributed._composable.replicate": [(_SEVERAL, "replicate DDP")],
    "distributed._functional_collectives": [(_SEVERAL, "AsyncCollectiveTensor all_gather_tensor all_gather_tensor_autograd all_reduce "
                                             "all_to_all_single all_to_all_single_autograd broadcast permute_tensor reduce_scatter_tensor "
                                             "reduce_scatter_tensor_autograd wait_tensor")],
    "distributed._symmetric_memory": [(_SEVERAL, "empty enable_symm_mem_for_group get_symm_mem_workspace rendezvous")],
    "distributed.algorithms._checkpoint": [(_SEVERAL, "")],
    "distributed.algorithms._checkpoint.checkpoint_wrapper": [(
        "wrap calls in torch.utils.checkpoint.checkpoint", "ActivationWrapper CheckpointImpl CheckpointWrapper OffloadWrapper "
        "apply_activation_checkpointing checkpoint_wrapper offload_wrapper")],
    "distributed.algorithms.ddp_comm_hooks.debugging_hooks": [(_SEVERAL, "noop_hook")],
    "distributed.algorithms.ddp_comm_hooks.optimizer_overlap_hooks": [(_SEVERAL, "_OptimizerHookState")],
    "distributed.algorithms.ddp_comm_hooks.post_localSGD_hook": [(_SEVERAL, "PostLocalSGDState post_localSGD_hook")],
    "distributed.algorithms.ddp_comm_hooks.powerSGD_hook": [(_SEVERAL, "PowerSGDState batched_powerSGD_hook powerSGD_hook")],
    "distributed.algorithms.model_averaging": [(_SEVERAL, "")],
    "distributed.algorithms.model_averaging.averagers": [(_SEVERAL, "ModelAverager PeriodicModelAverager")],
    "distributed.algorithms.model_averaging.hierarchical_model_averager": [(_SEVERAL, "HierarchicalModelAverager")],
    "distributed.algorithms.model_averaging.utils": [(_SEVERAL, "average_parameters average_parameters_or_parameter_groups "
                                                      "get_params_to_average")],
    "distributed.autograd": [(_SEVERAL, "backward context get_gradients")],
    "distributed.checkpoint": [("argand.checkpoint.DistributedCheckpointFolder keeps checkpoints of several processes",
                                "CheckpointException DefaultLoadPlanner "
                                "DefaultSavePlanner FileSystemReader FileSystemWriter LoadPlan LoadPlanner SavePlan SavePlanner "
                                "StorageReader StorageWriter async_save load load_state_dict save save_state_dict")],
    "distributed.checkpoint.default_planner": [(_SEVERAL, "DefaultLoadPlanner DefaultSavePlanner")],
    "distributed.checkpoint.filesystem": [(_SEVERAL, "FileSystemReader FileSystemWriter")],
    "distributed.checkpoint._consolidate_hf_safetensors": [(_SEVERAL, "consolidate_safetensors_files "
                                                                      "consolidate_safetensors_files_on_every_rank")],
    "distributed.checkpoint.hf_storage": [(_SEVERAL, "HuggingFaceStorageReader HuggingFaceStorageWriter")],
    "distributed.checkpoint.format_utils": [(_SEVERAL, "dcp_to_torch_save torch_save_to_dcp")],
    "distributed.checkpoint.metadata": [(_SEVERAL, "Metadata")],
    "distributed.checkpoint.optimizer": [(_SEVERAL, "load_sharded_optimizer_state_dict")],
    "distributed.checkpoint.state_dict": [(_SEVERAL, "StateDictOptions get_model_state_dict get_optimizer_state_dict get_state_dict "
                                           "set_model_state_dict set_optimizer_state_dict set_state_dict")],
    "distributed.checkpoint.stateful": [(_SEVERAL, "Stateful")],
    "distributed.elastic": [(_LAUNCH, "")],
    "distributed.elastic.agent": [(_LAUNCH, "")],
    "distributed.elastic.agent.server": [(_LAUNCH, "ElasticAgent WorkerSpec")],
    "distributed.elastic.rendezvous": [(_LAUNCH, "RendezvousHandler RendezvousParameters")],
    "distributed.elastic.utils": [(_LAUNCH, "get_socket_with_port")],
    "distributed.fsdp": [(_SEVERAL, "LocalOptimStateDictConfig OptimStateDictConfig OptimStateKeyType StateDictSettings UnshardHandle "
                                    "share_comm_ctx")],
    "distributed.fsdp._common_utils": [(_SEVERAL, "TrainingState _FSDPState _get_module_fsdp_state")],
    "distributed.fsdp._runtime_utils": [(_SEVERAL, "_lazy_init")],
    "distributed.fsdp._traversal_utils": [(_SEVERAL, "_get_fsdp_handles _get_fsdp_states _get_fsdp_states_with_modules")],
    "distributed.fsdp.sharded_grad_scaler": [(_SEVERAL, "ShardedGradScaler")],
    "distributed.fsdp.wrap": [(_SEVERAL, "CustomPolicy ModuleWrapPolicy _ConfigAutoWrap _Policy _module_wrap_policy _or_policy "
                               "_recursive_wrap always_wrap_policy enable_wrap lambda_auto_wrap_policy size_based_auto_wrap_policy "
                               "transformer_auto_wrap_policy wrap")],
    "distributed.pipelining": [(_SEVERAL, "Pipe PipelineStage Schedule1F1B ScheduleGPipe ScheduleInterleaved1F1B SplitPoint build_stage "
                                          "pipe_split pipeline")],
    "distributed.tensor._utils": [(_SEVERAL, "compute_local_shape_and_global_offset")],
    "distributed.tensor.experimental": [(_SEVERAL, "context_parallel implicit_replication local_map register_sharding")],
    "distributed.utils": [(_SEVERAL, "_p_assert _to_kwargs")],
    "export._trace": [(_EXPORT, "_export")],
    "export.decomp_utils": [(_EXPORT, "CustomDecompTable")],
    "fx.experimental.symbolic_shapes": [(_SYMBOLS, "DimDynamic GuardOnDataDependentSymNode ShapeEnv StatelessSymbolicContext "
                                         "SymbolicContext free_symbols free_unbacked_symbols guard_or_false guard_or_true "
                                         "guard_size_oblivious is_symbolic statically_known_true")],
    "fx.passes.fake_tensor_prop": [(_SYMBOLS, "FakeTensorProp")],
    "fx.passes.infra.partitioner": [("graphs are not cut into parts", "CapabilityBasedPartitioner Partition")],
    "jit": [(_SCRIPT, "_get_trace_graph")],
    "mps": [(_MPS, "Event compile_shader load_metallib")],
    "nn.functional": [("there are no float8 dtypes", "ScalingType SwizzleType scaled_mm scaled_grouped_mm"),
                      ("matrices are multiplied in batches of one size", "grouped_mm")],
    "nn.quantized": [(_QUANTIZED, "")],
    "nn.quantized.dynamic": [(_QUANTIZED, "Linear LSTM GRU")],
    "nn.quantized.modules": [(_QUANTIZED, "Conv2d Linear")],
    "nn.utils._per_sample_grad": [("use torch.func.vmap of torch.func.grad", "call_for_per_sample_grads")],
    "numa": [(_LAUNCH, "")],
    "numa.binding": [(_LAUNCH, "AffinityMode NumaOptions")],
    "onnx": [(_ONNX, "ONNXProgram TensorProtoDataType ExportOptions JitScalarType dynamo_export")],
    "onnx.operators": [(_ONNX, "reshape_from_tensor_shape shape_as_tensor")],
    "onnx.symbolic_helper": [(_ONNX, "cast_pytorch_to_onnx _get_tensor_dim_size _get_tensor_sizes _maybe_get_const _unimplemented")],
    "onnx.symbolic_opset9": [(_ONNX, "")],
    "onnx.symbolic_opset11": [(_ONNX, "select squeeze unsqueeze")],
    "onnx.symbolic_opset12": [(_ONNX, "")],
    "sparse": [("there are no sparse tensors", "BFloat16Tensor HalfTensor")],
    "utils._sympy": [(_SYMBOLS, "")],
    "utils._sympy.functions": [(_SYMBOLS, "FloorDiv ModularIndexing")],
    "utils._sympy.value_ranges": [(_SYMBOLS, "ValueRanges")],
    "utils.data.datapipes": [(_PIPES, "")],
    "utils.data.datapipes.iter": [(_PIPES, "IterableWrapper")],
    "utils.data.graph_settings": [(_PIPES, "apply_random_seed apply_sharding apply_shuffle_seed apply_shuffle_settings")],
    "utils.module_tracker": [("torch.nn.Module's hooks tell which modules run", "ModuleTracker")],
    "utils.hipify": [("there is no HIP", "")],
    "utils.hipify.hipify_python": [("there is no HIP", "hipify get_hip_file_path")],
    "xpu": [(_XPU, "Event Stream StreamContext _lazy_call current_device current_stream device device_of get_device_capability "
                   "get_device_name get_device_properties get_rng_state get_rng_state_all get_stream_from_external init initial_seed "
                   "manual_seed_all max_memory_allocated max_memory_reserved mem_get_info memory_allocated memory_reserved memory_stats "
                   "reset_peak_memory_stats seed seed_all set_device set_rng_state set_rng_state_all set_stream stream")],
    "xpu.memory": [(_XPU, "max_memory_allocated memory_allocated")],
    "xpu.random": [(_XPU, "get_rng_state get_rng_state_all initial_seed seed seed_all set_rng_state set_rng_state_all")],
}

# {module: {name: why}}
REFUSED = {module: {name: why for why, names in groups for name in names.split()} for module, groups in _TABLE.items()}
