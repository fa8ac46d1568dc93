#include "argand/runtime/cuda/cudnn_plan.h"

#if ARGAND_CUDNN

#include <algorithm>

#include "argand/core/float32_precision.h"

namespace argand::cuda::cudnn {
namespace {

constexpr int64_t kMostWorkspace = int64_t{1} << 30;  // bytes; engines that want more are passed over
constexpr int64_t kSum = 's', kBiased = 't';          // tensors within an engine

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

cudnnDataType_t compute_type(ScalarType t) { return t == kDouble ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT; }

// A leading spatial dimension that does nothing is left out: two dimensions have more engines than three.
size_t first_dimension(const ConvProblem& p) {
  return p.in[0] == 1 && p.kernel[0] == 1 && p.padding[0] == 0 && p.out[0] == 1 ? 1 : 0;
}
std::vector<int64_t> spatial(const ConvProblem& p, const std::array<int64_t, 3>& values) {
  return {values.begin() + static_cast<ptrdiff_t>(first_dimension(p)), values.end()};
}

std::vector<int64_t> strides_of(const std::vector<int64_t>& dims, bool channels_last) {
  std::vector<int64_t> strides(dims.size());
  int64_t next = 1;
  const auto place = [&](size_t i) {
    strides[i] = next;
    next *= dims[i];
  };
  if (channels_last) place(1);
  for (size_t i = dims.size() - 1; i > 1; --i) place(i);
  if (!channels_last) place(1);
  place(0);
  return strides;
}

// `data`: null for one that is only within the engine.
Descriptor tensor(const ConvProblem& p, int64_t id, int64_t n, int64_t c, const std::array<int64_t, 3>& size,
                  const void* data) {
  std::vector<int64_t> dims{n, c};
  for (const int64_t s : spatial(p, size)) dims.push_back(s);
  const std::vector<int64_t> strides = strides_of(dims, p.channels_last);
  Descriptor t(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  t.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, data ? type_of(p.dtype) : compute_type(p.dtype));
  t.set(CUDNN_ATTR_TENSOR_DIMENSIONS, dims);
  t.set(CUDNN_ATTR_TENSOR_STRIDES, strides);
  t.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, id);
  t.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, data ? alignment(data) : int64_t{16});
  t.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, data == nullptr);
  t.finalize();
  return t;
}

// Numbers of the attributes of the three operations.
struct Names {
  cudnnBackendDescriptorType_t operation;
  cudnnBackendAttributeName_t x, w, y, conv, alpha, beta;
};
Names names_of(ConvKind kind) {
  switch (kind) {
    case ConvKind::kForward:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
    case ConvKind::kInputGrad:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
    default:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
  }
}

Descriptor pointwise(const ConvProblem& p, cudnnPointwiseMode_t mode, const Descriptor& in, const Descriptor* other,
                     const Descriptor& out, std::vector<Descriptor>& parts) {
  Descriptor what(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  what.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode);
  what.set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, compute_type(p.dtype));
  if (mode == CUDNN_POINTWISE_RELU_FWD)
    what.set(CUDNN_ATTR_POINTWISE_NAN_PROPAGATION, CUDNN_TYPE_NAN_PROPOGATION, CUDNN_PROPAGATE_NAN);
  what.finalize();
  Descriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, what);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, in);
  if (other) operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *other);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, out);
  operation.finalize();
  parts.push_back(std::move(what));
  return operation;
}

// The graph of the convolution, of a bias if there is one, and of relu.
Descriptor operation_graph(cudnnHandle_t handle, const ConvProblem& p, bool relu, std::vector<Descriptor>& parts) {
  const std::vector<int64_t> padding = spatial(p, p.padding);
  Descriptor conv(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  conv.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, compute_type(p.dtype));
  conv.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, CUDNN_CROSS_CORRELATION);
  conv.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, static_cast<int64_t>(padding.size()));
  conv.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, spatial(p, p.dilation));
  conv.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, spatial(p, p.stride));
  conv.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, padding);
  conv.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, padding);
  conv.finalize();
  Descriptor x = tensor(p, kX, p.n, p.c, p.in, p.x), w = tensor(p, kW, p.o, p.c / p.groups, p.kernel, p.w),
             y = tensor(p, kY, p.n, p.o, p.out, p.y);
  const auto within = [&](int64_t id) { return tensor(p, id, p.n, p.o, p.out, nullptr); };
  std::vector<Descriptor> operations, between;
  if (p.bias) between.push_back(within(kSum));
  const Names names = names_of(p.kind);
  Descriptor& operation = operations.emplace_back(names.operation);
  operation.set(names.x, x);
  operation.set(names.w, w);
  operation.set(names.y, p.bias ? between[0] : y);
  operation.set(names.conv, conv);
  if (p.dtype == kDouble) {
    operation.set(names.alpha, CUDNN_TYPE_DOUBLE, 1.0);
    operation.set(names.beta, CUDNN_TYPE_DOUBLE, 0.0);
  } else {
    operation.set(names.alpha, CUDNN_TYPE_FLOAT, 1.0f);
    operation.set(names.beta, CUDNN_TYPE_FLOAT, 0.0f);
  }
  operation.finalize();
  if (p.bias) {
    Descriptor bias = tensor(p, kBias, 1, p.o, {1, 1, 1}, p.bias);
    if (relu) between.push_back(within(kBiased));
    operations.push_back(pointwise(p, CUDNN_POINTWISE_ADD, between[0], &bias, relu ? between[1] : y, parts));
    if (relu) operations.push_back(pointwise(p, CUDNN_POINTWISE_RELU_FWD, between[1], nullptr, y, parts));
    parts.push_back(std::move(bias));
  }
  Descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operations);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, handle);
  graph.finalize();
  for (Descriptor* d : {&conv, &x, &w, &y}) parts.push_back(std::move(*d));
  for (auto* all : {&operations, &between})
    for (Descriptor& d : *all) parts.push_back(std::move(d));
  return graph;
}

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

}  // namespace

int64_t alignment(const void* p) {
  const auto address = reinterpret_cast<uintptr_t>(p);
  return static_cast<int64_t>(std::min<uintptr_t>(address & (~address + 1), 16));
}

// Engines that are compiled when first used cost a second: they come last.
Plan make_plan(cudnnHandle_t handle, const ConvProblem& p) {
  Plan out;
  try {
    Descriptor graph = operation_graph(handle, p, false, out.parts);
    for (const bool may_compile : {false, true})
      for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK})
        for (Descriptor& config : offered(graph, mode))
          if (try_config(handle, p.dtype, config, may_compile, out)) {
            out.parts.push_back(std::move(graph));
            return out;
          }
  } catch (const Refused&) {
  }
  return {};
}

static std::vector<Descriptor> same_knobs(const Descriptor& config) {
  std::vector<Descriptor> knobs;
  // How many there are is told only of those asked for.
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

Plan add_relu(cudnnHandle_t handle, const ConvProblem& p, const Plan& plan) {
  Plan out;
  try {
    Descriptor graph = operation_graph(handle, p, true, out.parts);
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
    out.parts.push_back(std::move(graph));
    for (Descriptor& k : knobs) out.parts.push_back(std::move(k));
    return out;
  } catch (const Refused&) {
  }
  return {};
}

}  // namespace argand::cuda::cudnn

#endif
