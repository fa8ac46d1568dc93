// Advanced indexing: index and index_put, by index tensors and masks.
#include <cstring>

#include "argand/base/log.h"
#include "argand/exec/overlap.h"
#include "argand/kernels/blocks.h"
#include "argand/kernels/cpu/gather.h"
#include "argand/kernels/cpu/rows.h"
#include "argand/kernels/cpu/runs.h"
#include "argand/ops/define.h"
#include "argand/ops/index/advanced.h"
#include "argand/ops/index/args.h"
#include "argand/ops/index/bounds.h"
#include "argand/ops/node_name.h"
#include "argand/runtime/cpu/thread_pool.h"

namespace argand::ops {
namespace {

constexpr int64_t kGrain = 1 << 15;

// Index tensors alone, where self is: masks become those of their true elements, one for each of their dimensions, and
// what is elsewhere is moved.
std::vector<Tensor> index_tensors(const char* op, const Tensor& self, TensorList indices) {
  std::vector<Tensor> out;
  for (size_t i = 0; i < indices.size(); ++i) {
    const Tensor& t = indices[i];
    if (!t.defined()) {
      out.push_back(t);
      continue;
    }
    if (t.dtype() != kBool && t.dtype() != kByte) {
      out.push_back(t.device() == self.device() ? t : t.to(self.device()));
      continue;
    }
    if (t.dtype() == kByte)
      warn("indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.");
    for (int64_t d = 0; d < t.dim(); ++d) {
      const size_t at = out.size() + static_cast<size_t>(d);
      ARGAND_CHECK(IndexError, at < self.sizes().size() && t.sizes()[d] == self.sizes()[at], op,
                   ": The shape of the mask ", t.sizes(), " at index ", d,
                   " does not match the shape of the indexed tensor ", self.sizes(), " at index ", at);
    }
    const std::vector<Tensor> columns = t.nonzero().to(self.device()).unbind(1);
    out.insert(out.end(), columns.begin(), columns.end());
  }
  return out;
}

bool any_defined(const std::vector<Tensor>& indices) {
  return std::any_of(indices.begin(), indices.end(), [](const Tensor& t) { return t.defined(); });
}

void check_values_fit(const Tensor& values, const Dims& result) {
  bool fits = values.dim() <= static_cast<int64_t>(result.size());
  for (int64_t d = 0; d < values.dim() && fits; ++d) {
    const int64_t size = values.sizes()[values.dim() - 1 - d];
    fits = size == 1 || size == result[result.size() - 1 - static_cast<size_t>(d)];
  }
  ARGAND_CHECK(ShapeError, fits, "index_put_: shape mismatch: value tensor of shape ", values.sizes(),
               " cannot be broadcast to indexing result of shape ", result);
}

// On a GPU, self is seen as [before, indexed, after] (Note [Advanced indexing]), and the indexed dimensions as one of
// rows.
struct IndexedRows : IndexedShape {
  IndexedRows(const char* op, const Tensor& self, const std::vector<Tensor>& indices)
      : IndexedShape(op, self, indices) {
    Dims sizes, strides;
    const auto take = [&](const std::vector<int64_t>& dims) {
      int64_t n = 1;
      for (const int64_t d : dims) {
        sizes.push_back(self.sizes()[d]);
        strides.push_back(self.strides()[d]);
        n *= self.sizes()[d];
      }
      return n;
    };
    block.outer = take(before);
    block.rows = take(indexed);
    block.inner = take(after);
    ordered = exec::alias(self, std::move(sizes), std::move(strides), self.storage_offset());
    for (const int64_t d : indexed) {
      const Tensor index = checked_index(op, indices[static_cast<size_t>(d)], self.sizes()[d], d, true);
      rows = rows.defined() ? rows * self.sizes()[d] + index : index;
    }
    rows = exec::dense(rows);
  }
  const int64_t* numbers() const { return static_cast<const int64_t*>(rows.impl().data()); }
  RowBlock block;
  Tensor ordered;  // self
  Tensor rows;     // one number per element of B
};

}  // namespace

struct IndexLong : Kernel<IndexLongArgs> {
  static constexpr auto schema = "_index(Tensor self, Tensor?[] indices) -> Tensor";
  static constexpr auto doc = "index with index tensors only.";
  static constexpr int variants = kFunction;
  static TensorMeta infer(const Args& a) { return {IndexedShape("index", a.self, a.indices).result, a.self.dtype()}; }
  static void run(const Args& a, Tensor& out) {
    if (!out.is_cpu()) {
      const IndexedRows plan("index", a.self, a.indices);
      if (out.numel() == 0) return;
      const Tensor from = exec::dense(plan.ordered);
      return blocks::take_rows.on(out.device())(from.impl().data(), plan.block, out.itemsize(), plan.numbers(),
                                                plan.rows.numel(), out.impl().data());
    }
    const IndexedPlan plan("index", a.self, a.indices);
    if (out.numel() == 0) return;
    const auto picks = static_cast<int64_t>(plan.pick.size()), slices = static_cast<int64_t>(plan.outer.size()) * picks;
    cpu::with_block_type(out.itemsize(), [&](auto block) {
      using T = decltype(block);
      const T* from = raw<T>(a.self);
      T* to = raw<T>(out);
      parallel_for(0, slices, std::max<int64_t>(1, kGrain / plan.inner), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const T* p = from + plan.outer[static_cast<size_t>(i / picks)] + plan.pick[static_cast<size_t>(i % picks)];
          if (plan.inner == 1)
            to[i] = *p;
          else if (plan.inner_is_block)
            std::memcpy(to + i * plan.inner, p, static_cast<size_t>(plan.inner) * sizeof(T));
          else
            cpu::gather(p, plan.inner_sizes, plan.inner_strides, sizeof(T), 0, plan.inner, to + i * plan.inner);
        }
      });
    });
  }
  static Grads grad(const Ctx& c, const Tensor& g) {
    Grads out(c.num_tensors());
    if (c.needs(0)) {
      const Tensor whole = g.new_zeros(c.sizes(0));
      out[0] = whole._index_put_(c.indices, g, true);
    }
    return out;
  }
  static void samples(S& s) {
    s.add({s->real({4, 3}), {s->integer({5}, -4, 4)}});
    s.add({s->real({4, 3, 5}), {s->integer({2, 2}, 0, 4), Tensor(), s->integer({2}, 0, 5)}});
    s.add({s->real({4, 3, 5}), {Tensor(), s->integer({2}, 0, 3), s->integer({2}, 0, 5)}});
    s.add({s->real({4, 3}), {Tensor(), s->integer({}, 0, 3)}});
    s.add({s->real({4, 3}), {s->integer({0}, 0, 3)}});
    s.fails({s->real({4, 3}), {s->integer({2}, 4, 5)}}, "index: index 4 is out of bounds for dimension 0 with size 4");
    s.fails({s->real({4, 3}), {s->integer({2}, -5, -4)}},
            "index: index -5 is out of bounds for dimension 0 with size 4");
    s.fails({s->real({4}), {s->integer({2}, 0, 4), s->integer({2}, 0, 4)}},
            "index: too many indices for tensor of dimension 1");
    s.fails({s->real({4, 3}), {s->integer({2}, 0, 4), s->integer({3}, 0, 3)}},
            "index: shape mismatch: indexing tensors could not be broadcast together with shapes [2], [3]");
    s.fails({s->real({4, 3}), {s->real({2})}},
            "index: tensors used as indices must be long, int, byte or bool tensors, got float64");
  }
};
ARGAND_OP(IndexLong)

struct IndexPutLong : Kernel<IndexPutLongArgs> {
  static constexpr auto schema =
      "_index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor";
  static constexpr auto doc = "index_put with index tensors only.";
  static constexpr int variants = kFunction | kMethod | kInplace;
  static constexpr bool starts_from_self = true;
  static TensorMeta infer(const Args& a) {
    const IndexedShape shape("index_put_", a.self, a.indices);
    ARGAND_CHECK(DtypeError, a.self.dtype() == a.values.dtype(),
                 "index_put_: Index put requires the source and destination dtypes match, got ", a.self.dtype(),
                 " for the destination and ", a.values.dtype(), " for the source.");
    check_values_fit(a.values, shape.result);
    return {a.self.impl().sizes, a.self.dtype()};
  }

  static void run(const Args& a, Tensor& out) {
    if (!out.is_cpu()) return run_on_device(a, out);
    const IndexedPlan plan("index_put_", out, a.indices);
    if (numel_of(plan.result) == 0) return;
    const Tensor wide =
        exec::alias(a.values, plan.result, expanded_strides(a.values.sizes(), a.values.strides(), plan.result),
                    a.values.storage_offset());
    const Tensor values = exec::dense(wide);
    if (a.accumulate)
      add(plan, values, out);
    else
      write(plan, values, out);
  }
  static void run_on_device(const Args& a, const Tensor& out) {
    const IndexedRows plan("index_put_", out, a.indices);
    if (numel_of(plan.result) == 0) return;
    const Tensor given = a.values;
    const Tensor values = exec::dense(exec::alias(
        given, plan.result, expanded_strides(given.sizes(), given.strides(), plan.result), given.storage_offset()));
    const Tensor to = exec::dense(plan.ordered);
    if (a.accumulate)
      blocks::add_rows.on(out.device())(to.impl().data(), plan.block, out.dtype(), plan.numbers(), plan.rows.numel(),
                                        values.impl().data());
    else
      blocks::put_rows.on(out.device())(to.impl().data(), plan.block, out.itemsize(), plan.numbers(), plan.rows.numel(),
                                        values.impl().data());
    if (!to.is_same(plan.ordered)) exec::copy_elements(plan.ordered, to);
  }
  // In order: of equal indices the last one counts.
  static void write(const IndexedPlan& plan, const Tensor& values, const Tensor& out) {
    cpu::with_block_type(out.itemsize(), [&](auto block) {
      using T = decltype(block);
      const T* from = raw<T>(values);
      T* to = raw<T>(out);
      for (const int64_t outer : plan.outer) {
        for (const int64_t pick : plan.pick) {
          T* p = to + outer + pick;
          if (plan.inner == 1)
            *p = *from;
          else if (plan.inner_is_block)
            std::memcpy(p, from, static_cast<size_t>(plan.inner) * sizeof(T));
          else
            cpu::scatter(p, plan.inner_sizes, plan.inner_strides, sizeof(T), 0, plan.inner, from);
          from += plan.inner;
        }
      }
    });
  }
  static void add(const IndexedPlan& plan, const Tensor& values, const Tensor& out) {
    dispatch<kAllTypes>(out.dtype(), "index_put_", [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* from = raw<T>(values);
      T* to = raw<T>(out);
      if (plan.indexed.size() == 1 && plan.inner_is_block && out.is_contiguous()) {
        const DimSplit split(out.sizes(), plan.indexed[0]);
        std::vector<int64_t> rows(plan.pick);
        for (int64_t& r : rows) r /= split.inner;
        return cpu::add_rows(to, {split.outer, split.size, split.inner}, out.dtype(), rows.data(),
                             static_cast<int64_t>(rows.size()), from);
      }
      for (const int64_t outer : plan.outer) {
        for (const int64_t pick : plan.pick) {
          T* base = to + outer + pick;
          cpu::for_each_run(
              plan.inner_sizes, plan.inner_strides, 0, plan.inner, [&](int64_t offset, int64_t stride, int64_t length) {
                for (int64_t k = 0; k < length; ++k) {
                  T& slot = base[offset + k * stride];
                  slot = static_cast<T>(static_cast<op_math_t<T>>(slot) + static_cast<op_math_t<T>>(*from++));
                }
              });
        }
      }
    });
  }
  static Grads grad(const Ctx& c, const Tensor& g) {
    Grads out(c.num_tensors());
    const size_t values = out.size() - 1;
    if (c.needs(0)) out[0] = c.accumulate ? g : _index_put(g, c.indices, zeros({}, g.options()), false);
    if (c.needs(values)) out[values] = _index(g, c.indices);
    return out;
  }
  static void samples(S& s) {
    s.add({s->real({4, 3}), {s->integer({5}, -4, 4)}, s->real({5, 3}), true});
    s.add({s->real({4, 3}), {s->integer({1}, 0, 4)}, s->real({3})});
    s.add({s->real({4, 3}), {Tensor(), s->integer({4}, 0, 3)}, s->real({4, 4}), true});
    s.add({s->real({4, 3, 5}), {s->integer({2}, 0, 4), Tensor(), s->integer({2}, 0, 5)}, s->real({2, 3}), true});
    s.add({s->real({4, 3}), {s->integer({0}, 0, 3)}, s->real({})});
    s.fails({s->real({4, 3}), {s->integer({2}, 4, 5)}, s->real({})},
            "index_put_: index 4 is out of bounds for dimension 0 with size 4");
    s.fails(
        {s->real({4, 3}), {s->integer({2}, 0, 4)}, s->real({2})},
        "index_put_: shape mismatch: value tensor of shape [2] cannot be broadcast to indexing result of shape [2, 3]");
    s.fails({s->real({4}), {s->integer({2}, 0, 4)}, s->integer({2}, 0, 4)},
            "index_put_: Index put requires the source and destination dtypes match");
  }
};
ARGAND_OP(IndexPutLong)

struct IndexTensors : Composite<IndexTensorsArgs> {
  static constexpr auto schema = "index(Tensor self, Tensor?[] indices) -> Tensor";
  static constexpr auto doc =
      "self[indices]: index tensors (int32 or int64, negative ones count from the end) and masks (bool) for the first "
      "dimensions of self, undefined where a dimension is taken whole. NumPy's rules for the shape.";
  static Tensor compose(const Args& a) {
    for (const Tensor& t : a.indices)
      ARGAND_CHECK(DeviceError, !t.defined() || t.is_cpu() || t.device() == a.self.device(),
                   "index: indices should be either on cpu or on the same device as the indexed tensor (",
                   a.self.device(), "), got one on ", t.device());
    const std::vector<Tensor> indices = index_tensors("index", a.self, a.indices);
    return any_defined(indices) ? _index(a.self, indices) : alias(a.self);
  }
  static void samples(S& s) {
    s.add({s->real({4, 3}), {s->boolean({4})}});
    s.add({s->real({4, 3}), {s->boolean({4, 3})}});
    s.add({s->real({4, 3, 2}), {s->integer({2}, 0, 4), Tensor(), s->integer({2}, 0, 2)}});
    s.fails({s->real({4, 3}), {s->boolean({3})}},
            "index: The shape of the mask [3] at index 0 does not match the shape of the indexed tensor [4, 3]");
  }
};
ARGAND_OP(IndexTensors)

struct IndexPut : Composite<IndexPutArgs> {
  static constexpr auto schema =
      "index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor";
  static constexpr auto doc =
      "A copy of self with self[indices] = values (broadcast), or += with accumulate, which counts equal indices in "
      "order. "
      "Without accumulate the last of equal indices counts.";
  static constexpr auto autocast = Autocast::kPromote, autocast_cpu = Autocast::kNone;
  static Tensor compose(const Args& a) {
    const std::vector<Tensor> indices = index_tensors("index_put_", a.self, a.indices);
    if (any_defined(indices)) return _index_put(a.self, indices, a.values, a.accumulate);
    check_values_fit(a.values, a.self.impl().sizes);
    return a.accumulate ? a.self + a.values : a.values.expand(a.self.sizes()).clone();
  }
  static void samples(S& s) {
    s.add({s->real({4, 3}), {s->boolean({4})}, s->real({3})});
    s.add({s->real({4, 3}), {s->integer({5}, 0, 4)}, s->real({5, 3}), true});
    s.fails({s->real({}), {}, s->real({1}), true},
            "index_put_: shape mismatch: value tensor of shape [1] cannot be broadcast to indexing result of shape []");
  }
};
ARGAND_OP(IndexPut)

struct IndexPutInplace : Composite<IndexPutInplaceArgs> {
  static constexpr auto schema =
      "index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor(a!)";
  static constexpr auto doc =
      "self[indices] = values (broadcast), or += with accumulate, which counts equal indices in order.";
  static Tensor compose(const Args& a) {
    const std::vector<Tensor> indices = index_tensors("index_put_", a.self, a.indices);
    if (any_defined(indices)) return a.self._index_put_(indices, a.values, a.accumulate);
    check_values_fit(a.values, a.self.impl().sizes);
    return a.accumulate ? a.self.add_(a.values) : a.self.copy_(a.values);
  }
  static void samples(S& s) {
    s.add({s->real({4, 3}), {s->boolean({4})}, s->real({3})});
    s.fails({s->real({4, 3}), {s->integer({2}, 4, 5)}, s->real({})},
            "index_put_: index 4 is out of bounds for dimension 0 with size 4");
  }
};
ARGAND_OP(IndexPutInplace)

struct Put : Composite<PutArgs> {
  static constexpr auto schema = "put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor";
  static constexpr auto doc =
      "A copy of self whose elements index, counted in row-major order, are those of source, or with accumulate the "
      "sums "
      "with them.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(DtypeError, a.index.dtype() == kLong, "put_(): Expected a long tensor for index, but got ",
                 a.index.dtype());
    ARGAND_CHECK(DtypeError, a.self.dtype() == a.source.dtype(),
                 "put_(): self and source expected to have the same dtype, but got self.dtype = ", a.self.dtype(),
                 " and source.dtype = ", a.source.dtype());
    ARGAND_CHECK(ShapeError, a.index.numel() == a.source.numel(),
                 "put_(): Expected source and index to have the same number of elements, but got source.numel() = ",
                 a.source.numel(), ", index.numel() = ", a.index.numel());
    ARGAND_CHECK(IndexError, a.self.numel() > 0 || a.index.numel() == 0,
                 "put_(): Expected self to be non-empty when index is not");
    const std::vector<Tensor> flat{a.index.reshape({-1})};
    return a.self.reshape({-1}).index_put(flat, a.source.reshape({-1}), a.accumulate).reshape(a.self.sizes());
  }
  static void samples(S& s) {
    s.add({s->real({2, 3}), s->integer({4}, 0, 6), s->real({4}), true});
    s.fails({s->real({2}), s->integer({2}, 0, 2), s->real({3})}, "put_(): Expected source and index to have the same");
  }
};
ARGAND_OP(Put)
ARGAND_NODE(Put)

struct PutInplace : Composite<PutInplaceArgs> {
  static constexpr auto schema =
      "put_(Tensor(a!) self, Tensor index, Tensor source, bool accumulate=False) -> Tensor(a!)";
  static constexpr auto doc = "Sets the elements index of self, counted in row-major order; see put.";
  static Tensor compose(const Args& a) {
    Tensor read[] = {a.index, a.source};
    TensorSlots slots;
    for (Tensor& t : read) slots.push_back({&t, 0});
    exec::check_overlap("put_", a.self, slots, 0, true);
    return a.self.copy_(a.self.put(a.index, a.source, a.accumulate));
  }
  static void samples(S& s) {
    s.add({s->real({2, 3}), s->integer({4}, 0, 6), s->real({4}), true});
    const Tensor self = s->real({4});
    s.fails({self, s->integer({2}, 0, 4), self.narrow(0, 0, 2)}, "put_: unsupported operation: some elements of the");
  }
};
ARGAND_OP(PutInplace)

}  // namespace argand::ops
