// The graph is the one that cuDNN recognises as attention: product, scale, mask, the parts of a softmax, product.
#include "argand/runtime/cuda/cudnn.h"

#if ARGAND_CUDNN

#include <algorithm>
#include <limits>

#include "argand/runtime/cuda/cudnn_device.h"
#include "argand/runtime/cuda/scratch.h"
#include "argand/runtime/process_end.h"

namespace argand::cuda {
namespace cudnn {
namespace {

// Names in the graph; tensors that exist only within it have names from kWithin on.
enum Name : int64_t { kQuery = 1, kKey, kValue, kOut, kLogSum, kScale, kNever, kWithin };

class AttentionGraph {
 public:
  AttentionGraph(cudnnHandle_t handle, const AttentionProblem& p) : handle_(handle), p_(p) {}

  Plan plan() {
    try {
      return first_plan(handle_, graph(), p_.dtype, std::move(parts_));
    } catch (const Refused&) {
      return {};
    }
  }

 private:
  using Part = size_t;  // of parts_

  Part keep(Descriptor d) {
    parts_.push_back(std::move(d));
    return parts_.size() - 1;
  }
  Part operand(int64_t name, int64_t heads, int64_t rows, int64_t columns, const AttentionProblem::Operand& o,
               bool transposed = false) {
    Sizes sizes{p_.batch, heads, rows, columns}, strides{o.strides.begin(), o.strides.end()};
    strides.push_back(1);
    if (transposed) {
      std::swap(sizes[2], sizes[3]);
      std::swap(strides[2], strides[3]);
    }
    return keep(tensor(name, type_of(p_.dtype), sizes, strides, alignment(o.data)));
  }
  static Sizes packed(const Sizes& s) { return {s[1] * s[2] * s[3], s[2] * s[3], s[3], 1}; }
  Part within(int64_t columns, cudnnDataType_t type = CUDNN_DATA_FLOAT) {
    const Sizes sizes{p_.batch, p_.heads, p_.queries, columns};
    return keep(tensor(next_name_++, type, sizes, packed(sizes)));
  }
  Part number(int64_t name) {
    const Sizes one{1, 1, 1, 1};
    Descriptor t(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    t.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    t.set(CUDNN_ATTR_TENSOR_DIMENSIONS, one);
    t.set(CUDNN_ATTR_TENSOR_STRIDES, one);
    t.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, name);
    t.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, int64_t{4});
    t.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, true);
    t.finalize();
    return keep(std::move(t));
  }

  void multiply(Part a, Part b, Part out) {
    Descriptor what(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
    what.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    what.finalize();
    Descriptor& operation = operations_.emplace_back(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, parts_[a]);
    operation.set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, parts_[b]);
    operation.set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, parts_[out]);
    operation.set(CUDNN_ATTR_OPERATION_MATMUL_DESC, what);
    operation.finalize();
    keep(std::move(what));
  }
  Part reduce(cudnnReduceTensorOp_t op, Part in) {
    const Part out = within(1);
    Descriptor what(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
    what.set(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, op);
    what.set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    what.finalize();
    Descriptor& operation = operations_.emplace_back(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, parts_[in]);
    operation.set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, parts_[out]);
    operation.set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, what);
    operation.finalize();
    keep(std::move(what));
    return out;
  }
  Part map(cudnnPointwiseMode_t mode, Part x, Part y) {
    operations_.push_back(pointwise({mode, CUDNN_DATA_FLOAT, parts_[x], parts_[y]}, parts_));
    return y;
  }
  Part map(cudnnPointwiseMode_t mode, Part x, Part b, Part y) {
    operations_.push_back(pointwise({mode, CUDNN_DATA_FLOAT, parts_[x], parts_[y], &parts_[b]}, parts_));
    return y;
  }

  // Scores of keys after a query's position become -inf.
  Part masked(Part scores) {
    Part index[2];
    for (const int axis : {0, 1}) {
      index[axis] = within(p_.keys, CUDNN_DATA_INT32);
      operations_.push_back(pointwise({.mode = CUDNN_POINTWISE_GEN_INDEX,
                                       .compute = CUDNN_DATA_INT32,
                                       .x = parts_[scores],
                                       .y = parts_[index[axis]],
                                       .axis = 2 + axis},
                                      parts_));
    }
    const Part seen = within(p_.keys, CUDNN_DATA_BOOLEAN), out = within(p_.keys), never = number(kNever);
    operations_.push_back(pointwise(
        {CUDNN_POINTWISE_CMP_GE, CUDNN_DATA_BOOLEAN, parts_[index[0]], parts_[seen], &parts_[index[1]]}, parts_));
    operations_.push_back(pointwise(
        {CUDNN_POINTWISE_BINARY_SELECT, CUDNN_DATA_FLOAT, parts_[scores], parts_[out], &parts_[never], &parts_[seen]},
        parts_));
    return out;
  }

  Descriptor graph() {
    parts_.reserve(64);  // operations are made from references to them
    const Part products = within(p_.keys);
    multiply(operand(kQuery, p_.heads, p_.queries, p_.width, p_.query),
             operand(kKey, p_.kv_heads, p_.keys, p_.width, p_.key, true), products);
    Part scores = map(CUDNN_POINTWISE_MUL, products, number(kScale), within(p_.keys));
    if (p_.causal) scores = masked(scores);
    const Part most = reduce(CUDNN_REDUCE_TENSOR_MAX, scores),
               below = map(CUDNN_POINTWISE_SUB, scores, most, within(p_.keys)),
               exponentials = map(CUDNN_POINTWISE_EXP, below, within(p_.keys)),
               sum = reduce(CUDNN_REDUCE_TENSOR_ADD, exponentials),
               logarithm = map(CUDNN_POINTWISE_LOG, sum, within(1));
    const Sizes rows{p_.batch, p_.heads, p_.queries, 1};
    map(CUDNN_POINTWISE_ADD, most, logarithm,
        keep(tensor(kLogSum, CUDNN_DATA_FLOAT, rows, packed(rows), alignment(p_.logsumexp))));
    const Part weights = map(CUDNN_POINTWISE_DIV, exponentials, sum, within(p_.keys, type_of(p_.dtype)));
    multiply(weights, operand(kValue, p_.kv_heads, p_.keys, p_.value_width, p_.value),
             operand(kOut, p_.heads, p_.queries, p_.value_width, p_.out));
    Descriptor graph = graph_of(handle_, operations_);
    for (Descriptor& d : operations_) parts_.push_back(std::move(d));
    return graph;
  }

  cudnnHandle_t handle_;
  const AttentionProblem& p_;
  std::vector<Descriptor> parts_, operations_;
  int64_t next_name_ = kWithin;
};

Key key_of(const AttentionProblem& p) {
  Key key{
      static_cast<int64_t>(p.dtype), p.batch, p.heads, p.kv_heads, p.queries, p.keys, p.width, p.value_width, p.causal,
      alignment(p.logsumexp)};
  for (const auto* o : {&p.query, &p.key, &p.value, &p.out}) {
    key.insert(key.end(), o->strides.begin(), o->strides.end());
    key.push_back(alignment(o->data));
  }
  return key;
}

struct Call {
  PlanCall<5> call;
  float scale;
  uint32_t causal;
};

void issue(const void* data, void* stream) {
  constexpr std::array<int64_t, 7> kNames{kQuery, kKey, kValue, kOut, kLogSum, kScale, kNever};
  constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
  const Call& c = *static_cast<const Call*>(data);
  const void* pointers[7] = {nullptr, nullptr, nullptr, nullptr, nullptr, &c.scale, &kMinusInfinity};
  std::copy(std::begin(c.call.data), std::end(c.call.data), pointers);
  execute("attention", *c.call.handle, *c.call.plan, c.causal ? 7 : 6, kNames.data(), pointers, c.call.workspace,
          stream);
}

}  // namespace
}  // namespace cudnn

bool cudnn_attention(const AttentionProblem& p) {
  using namespace cudnn;
  if (!has_cudnn()) return false;
  const DeviceCalls calls;
  Handle& handle = current_handle();
  static PlanCache<Plan>& plans = *new PlanCache<Plan>;
  const Plan& plan = plans.find(handle, key_of(p), [&](cudnnHandle_t h) { return AttentionGraph(h, p).plan(); });
  if (plan.plan.empty()) return false;
  const Scratch workspace(plan.workspace);
  put_call(issue,
           Call{{&handle, &plan, {p.query.data, p.key.data, p.value.data, p.out.data, p.logsumexp}, workspace.data()},
                p.scale,
                p.causal},
           true);
  return true;
}

}  // namespace argand::cuda

#else

namespace argand::cuda {

bool cudnn_attention(const AttentionProblem&) { return false; }

}  // namespace argand::cuda

#endif
