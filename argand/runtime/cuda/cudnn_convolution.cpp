#include "argand/runtime/cuda/cudnn.h"

#if ARGAND_CUDNN

#include <utility>

#include "argand/core/float32_precision.h"
#include "argand/runtime/cuda/cudnn_device.h"
#include "argand/runtime/cuda/cudnn_plan.h"
#include "argand/runtime/cuda/scratch.h"
#include "argand/runtime/cuda/stream_tapes.h"
#include "argand/runtime/process_end.h"

namespace argand::cuda {
namespace cudnn {
namespace {

constexpr int64_t kX = 'x', kW = 'w', kY = 'y', kBias = 'b', kSum = 's', kBiased = 't';  // names in a graph

cudnnDataType_t compute_type(ScalarType t) { return t == kDouble ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT; }

// A leading spatial dimension without effect is left out: there are more engines for two dimensions than for three.
size_t first_dimension(const ConvProblem& p) {
  return p.in[0] == 1 && p.kernel[0] == 1 && p.padding[0] == 0 && p.out[0] == 1 ? 1 : 0;
}
Sizes spatial(const ConvProblem& p, const std::array<int64_t, 3>& values) {
  return {values.begin() + static_cast<ptrdiff_t>(first_dimension(p)), values.end()};
}

Sizes strides_of(const Sizes& dims, bool channels_last) {
  Sizes strides(dims.size());
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
Descriptor tensor_of(const ConvProblem& p, int64_t id, int64_t n, int64_t c, const std::array<int64_t, 3>& size,
                     const void* data) {
  Sizes dims{n, c};
  for (const int64_t s : spatial(p, size)) dims.push_back(s);
  const Sizes strides = strides_of(dims, p.channels_last);
  return data ? tensor(id, type_of(p.dtype), dims, strides, alignment(data))
              : tensor(id, compute_type(p.dtype), dims, strides);
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

// The graph of the convolution, of a bias if there is one, and of relu.
Descriptor operation_graph(cudnnHandle_t handle, const ConvProblem& p, bool relu, std::vector<Descriptor>& parts) {
  const Sizes padding = spatial(p, p.padding);
  Descriptor conv(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  conv.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, compute_type(p.dtype));
  conv.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, CUDNN_CROSS_CORRELATION);
  conv.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, static_cast<int64_t>(padding.size()));
  conv.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, spatial(p, p.dilation));
  conv.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, spatial(p, p.stride));
  conv.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, padding);
  conv.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, padding);
  conv.finalize();
  Descriptor x = tensor_of(p, kX, p.n, p.c, p.in, p.x), w = tensor_of(p, kW, p.o, p.c / p.groups, p.kernel, p.w),
             y = tensor_of(p, kY, p.n, p.o, p.out, p.y);
  const auto within = [&](int64_t id) { return tensor_of(p, id, p.n, p.o, p.out, nullptr); };
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
    Descriptor bias = tensor_of(p, kBias, 1, p.o, {1, 1, 1}, p.bias);
    if (relu) between.push_back(within(kBiased));
    const cudnnDataType_t compute = compute_type(p.dtype);
    operations.push_back(pointwise({CUDNN_POINTWISE_ADD, compute, between[0], relu ? between[1] : y, &bias}, parts));
    if (relu) operations.push_back(pointwise({CUDNN_POINTWISE_RELU_FWD, compute, between[1], y}, parts));
    parts.push_back(std::move(bias));
  }
  Descriptor graph = graph_of(handle, operations);
  for (Descriptor* d : {&conv, &x, &w, &y}) parts.push_back(std::move(*d));
  for (auto* all : {&operations, &between})
    for (Descriptor& d : *all) parts.push_back(std::move(d));
  return graph;
}

Plan plan_of(cudnnHandle_t handle, const ConvProblem& p) {
  try {
    std::vector<Descriptor> parts;
    Descriptor graph = operation_graph(handle, p, false, parts);
    return first_plan(handle, std::move(graph), p.dtype, std::move(parts));
  } catch (const Refused&) {
    return {};
  }
}
// The same engine with the same knobs for the problem with relu; no plan if that does not work, or needs more
// workspace.
Plan with_relu(cudnnHandle_t handle, const ConvProblem& p, const Plan& plan) {
  try {
    std::vector<Descriptor> parts;
    Descriptor graph = operation_graph(handle, p, true, parts);
    return same_plan(handle, std::move(graph), plan, std::move(parts));
  } catch (const Refused&) {
    return {};
  }
}

struct Entry {
  ConvProblem problem;
  Plan plan, with_relu;
  bool relu_tried = false;
};

Key key_of(const ConvProblem& p) {
  Key key{static_cast<int64_t>(p.kind),
          static_cast<int64_t>(p.dtype),
          int64_t{allow_tf32_cudnn()},
          p.n,
          p.c,
          p.o,
          p.groups,
          alignment(p.x),
          alignment(p.w),
          alignment(p.y),
          int64_t{p.channels_last},
          p.bias ? alignment(p.bias) : 0};
  for (const auto* sizes : {&p.in, &p.out, &p.kernel, &p.stride, &p.padding, &p.dilation})
    key.insert(key.end(), sizes->begin(), sizes->end());
  return key;
}

struct Call {
  PlanCall<4> call;
  Entry* entry;
};

constexpr double kLongConvolution = 1 << 28;  // multiplications: takes longer than a launch

double product(const std::array<int64_t, 3>& sizes) {
  return static_cast<double>(sizes[0]) * static_cast<double>(sizes[1]) * static_cast<double>(sizes[2]);
}

int64_t numel(int64_t n, int64_t c, const std::array<int64_t, 3>& size) { return n * c * size[0] * size[1] * size[2]; }
bool take_relu(void* data, const Epilogue<void>& epilogue) {
  if (epilogue.mask || epilogue.keep) return false;
  Call& c = *static_cast<Call*>(data);
  Entry& e = *c.entry;
  {
    const Handle::Lock handle(*c.call.handle);
    if (!std::exchange(e.relu_tried, true)) e.with_relu = with_relu(handle.get(), e.problem, e.plan);
  }
  if (e.with_relu.plan.empty()) return false;
  c.call.plan = &e.with_relu;
  c.call.data[2] = epilogue.out;
  return true;
}

EpilogueSlot slot_of(const ConvProblem& p, const MemoryRange& workspace) {
  const auto range = [&](const void* data, int64_t count) {
    return MemoryRange{data, static_cast<size_t>(count * element_size(p.dtype))};
  };
  return {p.y,
          numel(p.n, p.o, p.out),
          p.dtype,
          static_cast<size_t>(alignment(p.y)),
          {range(p.x, numel(p.n, p.c, p.in)), range(p.w, numel(p.o, p.c / p.groups, p.kernel)), range(p.bias, p.o),
           workspace},
          take_relu};
}

void issue(const void* data, void* stream) {
  constexpr std::array<int64_t, 4> kNames{kX, kW, kY, kBias};
  const Call& c = *static_cast<const Call*>(data);
  execute("convolution", *c.call.handle, *c.call.plan, c.call.data[3] ? 4 : 3, kNames.data(), c.call.data,
          c.call.workspace, stream);
}

}  // namespace
}  // namespace cudnn

bool cudnn_convolution(const ConvProblem& p) {
  using namespace cudnn;
  if (!has_cudnn()) return false;
  const DeviceCalls calls;
  Handle& handle = current_handle();
  static PlanCache<Entry>& plans = *new PlanCache<Entry>;
  Entry& entry = plans.find(handle, key_of(p), [&](cudnnHandle_t h) { return Entry{p, plan_of(h, p), {}}; });
  const Plan& plan = entry.plan;
  if (plan.plan.empty()) return false;
  const Scratch workspace(plan.workspace);
  const auto multiplications = static_cast<double>(p.n) * static_cast<double>(p.o) *
                               static_cast<double>(p.c / p.groups) * product(p.out) * product(p.kernel);
  const EpilogueSlot slot = slot_of(p, {workspace.data(), static_cast<size_t>(plan.workspace)});
  put_call(issue, Call{{&handle, &plan, {p.x, p.w, p.y, p.bias}, workspace.data()}, &entry},
           multiplications > kLongConvolution, p.bias ? &slot : nullptr);
  return true;
}

}  // namespace argand::cuda

#else

namespace argand::cuda {

bool cudnn_convolution(const ConvProblem&) { return false; }

}  // namespace argand::cuda

#endif
