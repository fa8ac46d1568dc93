#include "argand/runtime/cuda/cudnn_plan.h"

#if ARGAND_CUDNN

#include <algorithm>

#include "argand/core/float32_precision.h"

namespace argand::cuda::cudnn {
namespace {

constexpr int64_t kMostWorkspace = int64_t{1} << 30;  // bytes; engines that want more are passed over

// Engine configurations, the ones expected to be fastest first.
std::vector<Descriptor> offered(const Descriptor& graph, cudnnBackendHeurMode_t mode) {
  Descriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode);
  heuristics.finalize();
  const int64_t count = heuristics.get(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, nullptr);
  return heuristics.get_descriptors(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, count);
}

bool compiles_at_run_time(const Descriptor& engine) {
  cudnnBackendBehaviorNote_t notes[CUDNN_BEHAVIOR_NOTE_TYPE_COUNT];
  const int64_t n =
      engine.get(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE, CUDNN_BEHAVIOR_NOTE_TYPE_COUNT, notes);
  return std::find(notes, notes + n, CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION) != notes + n;
}

bool is_exact(const Descriptor& engine, ScalarType dtype) {
  cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
  const int64_t n =
      engine.get(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT, notes);
  const bool reduced = dtype == kHalf || dtype == kBFloat16;
  return std::none_of(notes, notes + n, [&](cudnnBackendNumericalNote_t note) {
    switch (note) {
      case CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC:
      case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS:
      case CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION:
      case CUDNN_NUMERICAL_NOTE_FFT:
      case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6:
      case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13:
        return true;
      case CUDNN_NUMERICAL_NOTE_TENSOR_CORE:  // of float32: TF32
        return dtype == kFloat && !allow_tf32_cudnn();
      case CUDNN_NUMERICAL_NOTE_WINOGRAD:
        return reduced;
      default:
        return false;
    }
  });
}

// Whether `config` makes a plan that needs no more than `most_workspace`; it is then in `out`.
bool finish(cudnnHandle_t handle, Descriptor& engine, Descriptor& config, int64_t most_workspace, Plan& out) {
  Descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, handle);
  plan.finalize();
  plan.get(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &out.workspace);
  if (out.workspace > most_workspace) return false;
  out.engine.push_back(std::move(engine));
  out.config.push_back(std::move(config));
  out.plan.push_back(std::move(plan));
  return true;
}

bool try_config(cudnnHandle_t handle, ScalarType dtype, Descriptor& config, bool may_compile, Plan& out) {
  try {
    Descriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    cudnnBackendDescriptor_t engine_handle = engine.handle();
    config.get(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &engine_handle);
    return is_exact(engine, dtype) && compiles_at_run_time(engine) == may_compile &&
           finish(handle, engine, config, kMostWorkspace, out);
  } catch (const Refused&) {
    return false;
  }
}

std::vector<Descriptor> same_knobs(const Descriptor& config) {
  std::vector<Descriptor> knobs;
  // The returned count is at most the number asked for, so this asks for the largest possible number.
  for (const Descriptor& had : config.get_descriptors(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                                                      CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, CUDNN_KNOB_TYPE_COUNTS)) {
    cudnnBackendKnobType_t type{};
    int64_t value = 0;
    had.get(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &type);
    had.get(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1, &value);
    Descriptor& knob = knobs.emplace_back(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    knob.set(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, type);
    knob.set(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, value);
    knob.finalize();
  }
  return knobs;
}

}  // namespace

int64_t alignment(const void* p) {
  const auto address = reinterpret_cast<uintptr_t>(p);
  return static_cast<int64_t>(std::min<uintptr_t>(address & (~address + 1), 16));
}

cudnnDataType_t type_of(ScalarType t) {
  switch (t) {
    case kHalf:
      return CUDNN_DATA_HALF;
    case kBFloat16:
      return CUDNN_DATA_BFLOAT16;
    case kFloat:
      return CUDNN_DATA_FLOAT;
    case kDouble:
      return CUDNN_DATA_DOUBLE;
    default:
      throw Refused{CUDNN_STATUS_NOT_SUPPORTED};
  }
}

Descriptor tensor(int64_t id, cudnnDataType_t type, const Sizes& dims, const Sizes& strides,
                  std::optional<int64_t> alignment) {
  Descriptor t(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  t.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type);
  t.set(CUDNN_ATTR_TENSOR_DIMENSIONS, dims);
  t.set(CUDNN_ATTR_TENSOR_STRIDES, strides);
  t.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, id);
  t.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, alignment.value_or(16));
  t.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, !alignment.has_value());
  t.finalize();
  return t;
}

Descriptor pointwise(const Pointwise& p, std::vector<Descriptor>& parts) {
  Descriptor what(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  what.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, p.mode);
  what.set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, p.compute);
  if (p.axis) what.set(CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, *p.axis);
  if (p.mode == CUDNN_POINTWISE_RELU_FWD)
    what.set(CUDNN_ATTR_POINTWISE_NAN_PROPAGATION, CUDNN_TYPE_NAN_PROPOGATION, CUDNN_PROPAGATE_NAN);
  what.finalize();
  Descriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, what);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, p.x);
  if (p.b) operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *p.b);
  if (p.t) operation.set(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, *p.t);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, p.y);
  operation.finalize();
  parts.push_back(std::move(what));
  return operation;
}

Descriptor graph_of(cudnnHandle_t handle, const std::vector<Descriptor>& operations) {
  Descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operations);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, handle);
  graph.finalize();
  return graph;
}

Plan first_plan(cudnnHandle_t handle, Descriptor graph, ScalarType dtype, std::vector<Descriptor> parts) {
  Plan out;
  for (const bool may_compile : {false, true})
    for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
      std::vector<Descriptor> configs;
      try {
        configs = offered(graph, mode);
      } catch (const Refused&) {
      }
      for (Descriptor& config : configs)
        if (try_config(handle, dtype, config, may_compile, out)) {
          out.parts = std::move(parts);
          out.parts.push_back(std::move(graph));
          return out;
        }
    }
  return out;
}

Plan same_plan(cudnnHandle_t handle, Descriptor graph, const Plan& plan, std::vector<Descriptor> parts) {
  Plan out;
  int64_t index = 0;
  plan.engine[0].get(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &index);
  Descriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR), config(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  engine.set(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph);
  engine.set(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, index);
  engine.finalize();
  config.set(CUDNN_ATTR_ENGINECFG_ENGINE, engine);
  std::vector<Descriptor> knobs = same_knobs(plan.config[0]);
  if (!knobs.empty()) config.set(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, knobs);
  config.finalize();
  finish(handle, engine, config, plan.workspace, out);
  out.parts = std::move(parts);
  out.parts.push_back(std::move(graph));
  for (Descriptor& k : knobs) out.parts.push_back(std::move(k));
  return out;
}

}  // namespace argand::cuda::cudnn

#endif
