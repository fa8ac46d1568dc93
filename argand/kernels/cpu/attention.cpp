#include "argand/kernels/cpu/attention.h"

#include <algorithm>
#include <limits>

#include "argand/core/dispatch.h"
#include "argand/kernels/cpu/gemm.h"
#include "argand/kernels/cpu/row_loops.h"
#include "argand/kernels/cpu/scratch.h"
#include "argand/runtime/cpu/thread_pool.h"

namespace argand::cpu {
namespace {

// A block of scores (128 kB of floats) stays in the second-level cache while it is made, weighted and used.
constexpr int64_t kQueries = 64, kKeys = 512;

template <class T>
constexpr T kNever = -std::numeric_limits<T>::infinity();

// One head of an operand.
template <class T>
ConstMatrix<T> head_of(const AttentionOperand& t, int64_t batch, int64_t head) {
  return {static_cast<const T*>(t.data) + batch * t.strides[0] + head * t.strides[1], t.strides[2], t.strides[3]};
}
// One head of a result, whose columns lie one after the other.
template <class T>
struct Rows {
  T* data;
  int64_t stride;
  T* operator[](int64_t row) const { return data + row * stride; }
  void clear(int64_t rows, int64_t columns) const {
    for (int64_t i = 0; i < rows; ++i) std::fill((*this)[i], (*this)[i] + columns, T(0));
  }
};
template <class T>
Rows<T> rows_of(const AttentionResult& t, int64_t batch, int64_t head) {
  return {static_cast<T*>(t.data) + batch * t.strides[0] + head * t.strides[1], t.strides[2]};
}
template <class T>
ConstMatrix<T> rows_from(const ConstMatrix<T>& m, int64_t row) {
  return {m.data + row * m.row_stride, m.row_stride, m.col_stride};
}
template <class T>
ConstMatrix<T> dense_rows(const T* data, int64_t columns) {
  return {data, columns, 1};
}

// C = alpha A B + beta C
template <class T>
void multiply(int64_t m, int64_t n, int64_t k, const ConstMatrix<T>& a, const ConstMatrix<T>& b, T* c,
              int64_t c_row_stride, T alpha, T beta) {
  GemmArgs<T> g{m, n, k, a, b, c, c_row_stride};
  g.alpha = alpha;
  g.beta = beta;
  gemm(g);
}

// A block of scores: rows are queries from `query` on, columns keys from `key` on.
struct Block {
  int64_t query, queries, key, keys;
};

int64_t kv_head(const Attention& a, int64_t head) { return head / (a.heads / a.kv_heads); }

// scores = scale Q K^T + mask
template <class T>
void make_scores(const Attention& a, int64_t batch, int64_t head, const Block& b, T* scores) {
  multiply(b.queries, b.keys, a.width, rows_from(head_of<T>(a.query, batch, head), b.query),
           rows_from(head_of<T>(a.key, batch, kv_head(a, head)), b.key).transposed(), scores, kKeys,
           static_cast<T>(a.scale), T(0));
  if (a.mask.data) {
    const ConstMatrix<T> mask = head_of<T>(a.mask, batch, head);
    for (int64_t i = 0; i < b.queries; ++i) {
      const T* from = mask.data + (b.query + i) * mask.row_stride + b.key * mask.col_stride;
      for (int64_t j = 0; j < b.keys; ++j) scores[i * kKeys + j] += from[j * mask.col_stride];
    }
  }
  if (!a.causal) return;
  for (int64_t i = 0; i < b.queries; ++i) {
    const int64_t seen = std::clamp<int64_t>(b.query + i + 1 - b.key, 0, b.keys);
    std::fill(scores + i * kKeys + seen, scores + i * kKeys + b.keys, kNever<T>);
  }
}

// The keys that any query of a block sees.
int64_t keys_seen(const Attention& a, int64_t query, int64_t queries) {
  return a.causal ? std::min(a.keys, query + queries) : a.keys;
}

template <class T>
struct RunningSoftmax {
  T* scores;  // become exponentials, relative to the new maximum
  T* out;
  int64_t keys, value_width;
  T *top, *sum;  // of this query, so far
};
template <class T>
struct AddKeys {
  ARGAND_INLINE static void run(const RunningSoftmax<T>* r) {
    T* x = r->scores;
    const int64_t n = r->keys;
    const T before = *r->top, top = MaxOp<T>::combine(before, reduce_run<MaxOp<T>>(x, n, T{}));
    if (top == kNever<T>) {  // no key to see so far
      std::fill(x, x + n, T(0));
      return;
    }
    ARGAND_VECTORIZE
    for (int64_t j = 0; j < n; ++j) x[j] = math::exp(x[j] - top);
    const T fade = math::exp(before - top);
    *r->sum = *r->sum * fade + reduce_run<SumOp<T>>(x, n, T{});
    *r->top = top;
    if (fade == T(1)) return;
    T* out = r->out;
    ARGAND_VECTORIZE
    for (int64_t j = 0; j < r->value_width; ++j) out[j] *= fade;
  }
};

template <class T>
void attend(const Attention& a, int64_t batch, int64_t head, int64_t query, const Rows<T>& out, T* logsumexp,
            T* scores) {
  const int64_t queries = std::min(kQueries, a.queries - query), seen = keys_seen(a, query, queries);
  T top[kQueries], sum[kQueries];
  std::fill(top, top + queries, kNever<T>);
  std::fill(sum, sum + queries, T(0));
  out.clear(queries, a.value_width);
  for (int64_t key = 0; key < seen; key += kKeys) {
    const Block b{query, queries, key, std::min(kKeys, seen - key)};
    make_scores(a, batch, head, b, scores);
    for (int64_t i = 0; i < queries; ++i) {
      const RunningSoftmax<T> row{scores + i * kKeys, out[i], b.keys, a.value_width, top + i, sum + i};
      on_vector_unit<AddKeys<T>>(&row);
    }
    multiply(queries, a.value_width, b.keys, dense_rows<T>(scores, kKeys),
             rows_from(head_of<T>(a.value, batch, kv_head(a, head)), key), out.data, out.stride, T(1), T(1));
  }
  for (int64_t i = 0; i < queries; ++i) {
    logsumexp[i] = sum[i] == T(0) ? kNever<T> : top[i] + math::log(sum[i]);
    const T factor = sum[i] == T(0) ? T(0) : 1 / sum[i];
    for (int64_t j = 0; j < a.value_width; ++j) out[i][j] *= factor;
  }
}

// The gradients of one head of queries; those of keys and values are added to what is there.
template <class T>
class HeadBackward {
 public:
  HeadBackward(const Attention& a, const AttentionBackward& b, int64_t batch, int64_t head, T* scratch)
      : a_(a),
        batch_(batch),
        head_(head),
        grad_out_(head_of<T>(b.grad_out, batch, head)),
        out_(head_of<T>(b.out, batch, head)),
        logsumexp_(static_cast<const T*>(b.logsumexp) + (batch * a.heads + head) * a.queries),
        grad_query_(rows_of<T>(b.grad_query, batch, head)),
        grad_key_(rows_of<T>(b.grad_key, batch, kv_head(a, head))),
        grad_value_(rows_of<T>(b.grad_value, batch, kv_head(a, head))),
        weights_(scratch),
        slopes_(scratch + kQueries * kKeys) {}

  static constexpr int64_t kScratch = 2 * kQueries * kKeys;

  // Each sum is added up in the order of the blocks.
  void run() {
    grad_query_.clear(a_.queries, a_.width);
    for (int64_t query = 0; query < a_.queries; query += kQueries) {
      const int64_t queries = std::min(kQueries, a_.queries - query), seen = keys_seen(a_, query, queries);
      for (int64_t i = 0; i < queries; ++i) {
        // The sum of weight * slope over all keys.
        const T *g = rows_from(grad_out_, query + i).data, *out = rows_from(out_, query + i).data;
        T dot = 0;
        for (int64_t j = 0; j < a_.value_width; ++j) dot += g[j] * out[j];
        dots_[i] = dot;
      }
      for (int64_t key = 0; key < seen; key += kKeys) add({query, queries, key, std::min(kKeys, seen - key)});
    }
  }

 private:
  struct Row {
    T *weights, *slopes;
    int64_t keys;
    T logsumexp, dot;
  };
  struct Weigh {
    ARGAND_INLINE static void run(const Row* r) {
      T *w = r->weights, *s = r->slopes;
      const int64_t n = r->keys;
      const T top = r->logsumexp, dot = r->dot;
      if (top == kNever<T>) {
        std::fill(w, w + n, T(0));
        std::fill(s, s + n, T(0));
        return;
      }
      ARGAND_VECTORIZE
      for (int64_t j = 0; j < n; ++j) {
        w[j] = math::exp(w[j] - top);
        s[j] = w[j] * (s[j] - dot);
      }
    }
  };

  void add(const Block& b) {
    make_scores(a_, batch_, head_, b, weights_);
    const int64_t kv = kv_head(a_, head_);
    const ConstMatrix<T> g = rows_from(grad_out_, b.query);
    multiply(b.queries, b.keys, a_.value_width, g, rows_from(head_of<T>(a_.value, batch_, kv), b.key).transposed(),
             slopes_, kKeys, T(1), T(0));
    for (int64_t i = 0; i < b.queries; ++i) {
      const Row row{weights_ + i * kKeys, slopes_ + i * kKeys, b.keys, logsumexp_[b.query + i], dots_[i]};
      on_vector_unit<Weigh>(&row);
    }
    const ConstMatrix<T> weights = dense_rows<T>(weights_, kKeys), slopes = dense_rows<T>(slopes_, kKeys);
    const auto scale = static_cast<T>(a_.scale);
    multiply(b.keys, a_.value_width, b.queries, weights.transposed(), g, grad_value_[b.key], grad_value_.stride, T(1),
             T(1));
    multiply(b.queries, a_.width, b.keys, slopes, rows_from(head_of<T>(a_.key, batch_, kv), b.key),
             grad_query_[b.query], grad_query_.stride, scale, T(1));
    multiply(b.keys, a_.width, b.queries, slopes.transposed(), rows_from(head_of<T>(a_.query, batch_, head_), b.query),
             grad_key_[b.key], grad_key_.stride, scale, T(1));
  }

  const Attention& a_;
  int64_t batch_, head_;
  ConstMatrix<T> grad_out_, out_;
  const T* logsumexp_;
  Rows<T> grad_query_, grad_key_, grad_value_;
  T *weights_, *slopes_;
  T dots_[kQueries];
};

}  // namespace

bool takes_attention(ScalarType, int64_t, int64_t) { return true; }

void attention(const Attention& a, const AttentionForward& f) {
  dispatch<kFloatTypes>(a.type, "scaled_dot_product_attention", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t blocks = (a.queries + kQueries - 1) / kQueries;
    parallel_for(0, a.batch * a.heads * blocks, 1, [&](int64_t begin, int64_t end) {
      ScratchBuffer<T> scores(kQueries * kKeys);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t plane = i / blocks, query = i % blocks * kQueries, batch = plane / a.heads,
                      head = plane % a.heads;
        const Rows<T> out = rows_of<T>(f.out, batch, head);
        attend(a, batch, head, query, Rows<T>{out[query], out.stride},
               static_cast<T*>(f.logsumexp) + plane * a.queries + query, scores.data());
      }
    });
  });
}

void attention_backward(const Attention& a, const AttentionBackward& b) {
  dispatch<kFloatTypes>(a.type, "scaled_dot_product_attention", [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(0, a.batch * a.kv_heads, 1, [&](int64_t begin, int64_t end) {
      ScratchBuffer<T> scratch(HeadBackward<T>::kScratch);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t batch = i / a.kv_heads, kv = i % a.kv_heads, group = a.heads / a.kv_heads;
        rows_of<T>(b.grad_key, batch, kv).clear(a.keys, a.width);
        rows_of<T>(b.grad_value, batch, kv).clear(a.keys, a.value_width);
        for (int64_t head = kv * group; head < (kv + 1) * group; ++head)
          HeadBackward<T>(a, b, batch, head, scratch.data()).run();
      }
    });
  });
}

}  // namespace argand::cpu
