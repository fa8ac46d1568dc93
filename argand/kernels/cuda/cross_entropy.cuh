// Cross entropy of rows of logits with class indices, one pass over the logits each way.  float16 and bfloat16 compute
// in float.
#pragma once
#include "argand/kernels/cuda/arguments.cuh"
#include "argand/kernels/cuda/async_copy.cuh"
#include "argand/kernels/cuda/error_slot.cuh"
#include "argand/kernels/cuda/exp_sum.cuh"
#include "argand/kernels/cuda/row_vectors.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

// -log p = log_sum - (x - top), as log_softmax rounds it, of the target, times its weight; smoothed, also the mean of
// that of all classes: `total` is the sum of their weights, `weighted` of those times the logits.
template <bool kSmooth, class A>
__device__ __forceinline__ A loss_of_row(const CrossEntropyRows& c, A x, A factor, A top, A log_sum, A weighted,
                                         A total) {
  const A surprise = -(x - top - log_sum);
  if constexpr (!kSmooth) {
    return factor * surprise;
  } else {
    const A smoothing = static_cast<A>(c.smoothing);
    return (1 - smoothing) * factor * surprise +
           smoothing / static_cast<A>(c.classes) * (total * log_sum - (weighted - total * top));
  }
}

// A row's loss, its target's weight and log(sum(exp)); valid in the first thread of its group.
template <class A>
struct RowLoss {
  A loss, weight, log_sum;
};
template <class T, int W, bool kOneWarp, bool kSmooth>
__device__ __forceinline__ RowLoss<op_math_t<T>> row_loss(const CrossEntropyRows& c, int64_t row) {
  using A = op_math_t<T>;
  using Group = RowThreads<kOneWarp>;
  constexpr int U = W > 1 ? 4 : 8;
  const int64_t n = c.classes, target = c.targets[row];
  if (target == c.ignore_index || target < 0 || target >= n) return {0, 0, 0};  // out of range: it is reported
  const T* in = static_cast<const T*>(c.logits) + row * n;
  const A* w = static_cast<const A*>(c.weight);
  ExpSum<A> s;
  A weighted = 0, total = 0;
  const int64_t stride = int64_t{Group::count()} * W;
  for (int64_t i = int64_t{Group::rank()} * W; i < n; i += U * stride) {
    Vec<T, W> v[U];
    const int count = load_some<W>(v, in, i, stride, n);
    s.add(v, count);
    if constexpr (kSmooth) {
#pragma unroll
      for (int u = 0; u < U; ++u)
#pragma unroll
        for (int k = 0; k < W; ++k)
          if (u < count) {
            const A factor = w ? w[i + u * stride + k] : A(1);
            weighted += factor * convert<A>(v[u][k]);
            total += factor;
          }
    }
  }
  s = kOneWarp ? warp_total(s) : block_total(s);
  if constexpr (kSmooth) {
    weighted = Group::reduce(weighted, Add(), A(0));
    total = Group::reduce(total, Add(), A(0));
  }
  const A log_sum = math::log(s.sum), factor = w ? w[target] : A(1);
  return {loss_of_row<kSmooth>(c, convert<A>(in[target]), factor, s.top, log_sum, weighted, total), factor,
          s.top + log_sum};
}

// One row per group of threads.
template <class T, int W, bool kOneWarp, bool kSmooth>
__global__ void __launch_bounds__(512)
    cross_entropy_rows(CrossEntropyRows c, op_math_t<T>* losses, op_math_t<T>* weights, op_math_t<T>* log_sums) {
  await_earlier_work();
  using Group = RowThreads<kOneWarp>;
  const int64_t row = Group::row();
  if (row >= c.rows) return;
  const RowLoss<op_math_t<T>> r = row_loss<T, W, kOneWarp, kSmooth>(c, row);
  if (Group::rank() > 0) return;
  losses[row] = r.loss;
  weights[row] = r.weight;
  log_sums[row] = r.log_sum;
}

// e^(x - log_sum), as accurate as T holds.
template <class T>
struct SoftmaxTerm : ExpTerm<T> {
  using ExpTerm<T>::ExpTerm;
};
template <>
struct SoftmaxTerm<float> {
  float log_sum;
  __device__ __forceinline__ explicit SoftmaxTerm(float s) : log_sum(s) {}
  __device__ __forceinline__ float operator()(float x) const { return math::exp(x - log_sum); }
};

// One block computes all rows, with neighbouring lanes of a warp for each row, and the total.  Ignored rows are read
// like the others: a load that waits for its row's target would cost more.  `gradient`, if any, becomes that of the
// loss, with the bits of cross_entropy_backward(), for a call without weights and smoothing.
template <class T, class Loss, int U, bool kSmooth>
__global__ void __launch_bounds__(1024)
    small_cross_entropy(CrossEntropyRows c, int log_lanes, bool mean, ErrorSlot* slot, const char* op, Loss* loss_out,
                        op_math_t<T>* log_sums, op_math_t<T>* total_weight, T* gradient) {
  await_earlier_work();
  using A = op_math_t<T>;
  __shared__ A own_log_sums[kSmallCrossEntropyRows];
  const int rows = int(c.rows), n = int(c.classes), thread = int(threadIdx.x), lanes = 1 << log_lanes;
  const int lane = thread & (lanes - 1), own_row = thread >> log_lanes, together = int(blockDim.x) >> log_lanes;
  const A* w = static_cast<const A*>(c.weight);
  A loss = 0, weight = 0;
#pragma unroll 1
  for (int first = 0; first < rows; first += together) {  // all lanes of a warp take part
    const bool live = first + own_row < rows;
    const int row = live ? first + own_row : 0;
    const T* in = static_cast<const T*>(c.logits) + row * n;
    const int64_t target = c.targets[row];
    ExpSum<A> s;
    A weighted = 0, total = 0;
#pragma unroll 1
    for (int i = lane; i < n; i += U * lanes) {
      Vec<A, 1> x[U];
#pragma unroll
      for (int u = 0; u < U; ++u) x[u][0] = i + u * lanes < n ? convert<A>(in[i + u * lanes]) : ExpSum<A>::kLow;
      s.add(x, U);
      if constexpr (kSmooth) {
#pragma unroll
        for (int u = 0; u < U; ++u)
          if (i + u * lanes < n) {
            const A factor = w ? w[i + u * lanes] : A(1);
            weighted += factor * x[u][0];
            total += factor;
          }
      }
    }
    const bool counts = live && target != c.ignore_index && target >= 0 && target < n;
    const int picked = counts ? int(target) : 0;
    const A x = convert<A>(in[picked]), factor = w ? w[picked] : A(1);
    const auto over_row = [&](A value, auto combine) {
      for (int step = lanes >> 1; step > 0; step >>= 1)
        value = combine(value, __shfl_xor_sync(0xffffffffu, value, step));
      return value;
    };
    const A own_top = s.top;
    s.top = over_row(s.top, Max());
    s.sum = over_row(s.sum * math::exp(own_top - s.base()), Add());
    if constexpr (kSmooth) {
      weighted = over_row(weighted, Add());
      total = over_row(total, Add());
    }
    const A log_sum = math::log(s.sum);
    if (counts) {
      loss += loss_of_row<kSmooth>(c, x, factor, s.top, log_sum, weighted, total);
      weight += factor;
    }
    if (!live || lane > 0) continue;
    own_log_sums[row] = log_sums[row] = counts ? s.top + log_sum : A(0);
    if (!counts && target != c.ignore_index) report_bad_index(slot, op, target, n, 0);
  }
  // All lanes of a row get the same value.
  for (int step = kWarp / 2; step >= lanes; step >>= 1) {
    loss += __shfl_xor_sync(0xffffffffu, loss, step);
    weight += __shfl_xor_sync(0xffffffffu, weight, step);
  }
  __shared__ A losses[kWarp], weights[kWarp];  // of warps, a power of two
  const int warps = int(blockDim.x) / kWarp;
  if (thread % kWarp == 0) {
    losses[thread / kWarp] = loss;
    weights[thread / kWarp] = weight;
  }
  __syncthreads();
  loss = losses[thread & (warps - 1)];
  weight = weights[thread & (warps - 1)];
  for (int step = warps >> 1; step > 0; step >>= 1) {
    loss += __shfl_xor_sync(0xffffffffu, loss, step);
    weight += __shfl_xor_sync(0xffffffffu, weight, step);
  }
  if (thread == 0) {
    *loss_out = convert<Loss>(mean ? loss / weight : loss);
    *total_weight = weight;
  }
  if (!gradient) return;
  const A scale = mean ? A(1) / weight : A(1);
#pragma unroll 1
  for (int row = own_row; row < rows; row += together) {
    const T* in = static_cast<const T*>(c.logits) + row * n;
    const int64_t target = c.targets[row];
    const bool counts = target != c.ignore_index && target >= 0 && target < n;
    const SoftmaxTerm<T> p(own_log_sums[row]);
#pragma unroll 1
    for (int i = lane; i < n; i += lanes) {
      A g = scale * p(convert<A>(in[i]));
      if (i == target) g -= scale;
      gradient[row * n + i] = convert<T>(counts ? g : A(0));
    }
  }
}

__device__ __forceinline__ bool same_bits(float a, float b) { return __float_as_uint(a) == __float_as_uint(b); }
__device__ __forceinline__ bool same_bits(double a, double b) {
  return __double_as_longlong(a) == __double_as_longlong(b);
}

// The gradient: scale * (factor * softmax - uniform * w - picked at the target).  If `expected` has the bits of the one
// scale, `out` is the gradient already.
template <class T, int W, bool kOneWarp, bool kSmooth>
__global__ void __launch_bounds__(512)
    cross_entropy_backward(CrossEntropyRows c, const op_math_t<T>* log_sums, const op_math_t<T>* scales,
                           int64_t scale_stride, const op_math_t<T>* total_weight, const op_math_t<T>* expected,
                           T* out) {
  await_earlier_work();
  using A = op_math_t<T>;
  if (expected && same_bits(*expected, *scales)) return;
  using Group = RowThreads<kOneWarp>;
  constexpr int U = W > 1 ? 2 : 4;
  const int64_t row = Group::row(), n = c.classes;
  if (row >= c.rows) return;
  const int64_t target = c.targets[row];
  const T* in = static_cast<const T*>(c.logits) + row * n;
  const A* w = static_cast<const A*>(c.weight);
  out += row * n;
  const int64_t stride = int64_t{Group::count()} * W;
  if (target == c.ignore_index || target < 0 || target >= n) {
    Vec<T, W> zero{};
    for (int64_t i = int64_t{Group::rank()} * W; i < n; i += stride) *reinterpret_cast<Vec<T, W>*>(out + i) = zero;
    return;
  }
  const A smoothing = static_cast<A>(c.smoothing), uniform = smoothing / static_cast<A>(n);
  A total = static_cast<A>(n);
  if constexpr (kSmooth) {
    if (w) {
      total = 0;
      for (int64_t i = Group::rank(); i < n; i += Group::count()) total += w[i];
      total = Group::reduce(total, Add(), A(0));
    }
  }
  const A given = scales[row * scale_stride], scale = total_weight ? given / *total_weight : given;
  const A one = (1 - smoothing) * (w ? w[target] : A(1)), picked = scale * one;
  const A factor = scale * (kSmooth ? one + uniform * total : one), log_sum = log_sums[row];
  const SoftmaxTerm<T> p(log_sum);
  for (int64_t i = int64_t{Group::rank()} * W; i < n; i += U * stride) {
    Vec<T, W> v[U];
    const int count = load_some<W>(v, in, i, stride, n);
#pragma unroll
    for (int u = 0; u < U; ++u) {
      const int64_t at = i + u * stride;
      A g[W];
#pragma unroll
      for (int k = 0; k < W; ++k) {
        g[k] = factor * p(convert<A>(v[u][k]));
        if constexpr (kSmooth) g[k] -= scale * uniform * (w && u < count ? w[at + k] : A(1));
      }
      if (target >= at && target < at + W) {
#pragma unroll
        for (int k = 0; k < W; ++k) g[k] -= at + k == target ? picked : A(0);
      }
#pragma unroll
      for (int k = 0; k < W; ++k) v[u][k] = convert<T>(g[k]);
    }
    store_some(v, out, i, stride, count);
  }
}

// Without weights and smoothing: losses and gradient in one pass.  A block goes from row to row; while it works on one
// in shared memory, the next one is copied.  Each thread reads only what it copied itself.
inline constexpr int kRowSteps = 4, kRowVectors = 2;  // of a thread: together at least vectors / blockDim.x
template <class T>
__global__ void __launch_bounds__(1024)
    cross_entropy_and_gradient(CrossEntropyRows c, op_math_t<T>* losses, op_math_t<T>* weights, op_math_t<T>* log_sums,
                               const op_math_t<T>* grad_loss, const op_math_t<T>* total_weight, T* out) {
  await_earlier_work();
  using A = op_math_t<T>;
  constexpr int W = 16 / sizeof(T);
  extern __shared__ uint4 rows[];  // two
  const int64_t n = c.classes;
  const int vectors = int(n / W), threads = int(blockDim.x), thread = int(threadIdx.x);
  const auto fetch = [&](int64_t row, uint4* to) {
    const T* in = static_cast<const T*>(c.logits) + row * n;
    if (row < c.rows)
#pragma unroll
      for (int j = 0; j < kRowSteps * kRowVectors; ++j) {
        const int i = j * threads + thread;
        if (i < vectors) copy_async(to + i, in + i * W);
      }
    end_copy_group();
  };
  const A scale = total_weight ? *grad_loss / *total_weight : *grad_loss;
  fetch(blockIdx.x, rows);
  int turn = 0;
  for (int64_t row = blockIdx.x; row < c.rows; row += gridDim.x, turn ^= 1) {
    fetch(row + gridDim.x, rows + (turn ^ 1) * vectors);
    const int64_t target = c.targets[row];
    const bool counts = target != c.ignore_index && target >= 0 && target < n;
    const int of_target = counts ? int(target) / W : 0;  // the vector
    const uint4* const current = rows + turn * vectors;
    wait_for_copies<1>();
    ExpSum<A> s;
#pragma unroll
    for (int step = 0; step < kRowSteps; ++step) {
      Vec<T, W> v[kRowVectors];
      int count = 0;
#pragma unroll
      for (int u = 0; u < kRowVectors; ++u) {
        const int i = (step * kRowVectors + u) * threads + thread;
        if (i < vectors) {
          v[u] = reinterpret_cast<const Vec<T, W>&>(current[i]);
          count = u + 1;
        }
      }
      if (count > 0) s.add(v, count);
    }
    s = block_total(s, turn);
    const A log_of_sum = math::log(s.sum), log_sum = s.top + log_of_sum;
    if (thread == of_target % threads) {
      const A x = convert<A>(reinterpret_cast<const T*>(current)[counts ? target : 0]);
      losses[row] = counts ? -(x - s.top - log_of_sum) : A(0);
      weights[row] = counts ? A(1) : A(0);
      log_sums[row] = counts ? log_sum : A(0);
    }
    const SoftmaxTerm<T> p(log_sum);
    T* const to = out + row * n;
#pragma unroll 2
    for (int i = thread; i < vectors; i += threads) {
      Vec<T, W> v = reinterpret_cast<const Vec<T, W>&>(current[i]);
      A g[W];
#pragma unroll
      for (int k = 0; k < W; ++k) g[k] = counts ? scale * p(convert<A>(v[k])) : A(0);
      if (i == of_target && counts) {
#pragma unroll
        for (int k = 0; k < W; ++k) g[k] -= k == int(target) % W ? scale : A(0);
      }
#pragma unroll
      for (int k = 0; k < W; ++k) v[k] = convert<T>(g[k]);
      store_vector(to + int64_t{i} * W, v);
    }
  }
  wait_for_copies<0>();
}

// The same losses alone: the row passes through registers, and each thread stands for kParts of those above.
template <class T, int kParts>
__global__ void __launch_bounds__(256)
    cross_entropy_losses(CrossEntropyRows c, op_math_t<T>* losses, op_math_t<T>* weights, op_math_t<T>* log_sums) {
  await_earlier_work();
  using A = op_math_t<T>;
  constexpr int W = 16 / sizeof(T);
  const int64_t row = blockIdx.x, n = c.classes;
  const int vectors = int(n / W), threads = int(blockDim.x), thread = int(threadIdx.x);
  const T* in = static_cast<const T*>(c.logits) + row * n;
  ExpSum<A> parts[kParts];
#pragma unroll 1
  for (int first = thread; first < vectors; first += kRowVectors * kParts * threads) {
    Vec<T, W> v[kParts][kRowVectors];
    int counts[kParts];
#pragma unroll
    for (int p = 0; p < kParts; ++p)
      counts[p] = load_some<W>(v[p], in, int64_t{first + p * threads} * W, int64_t{kParts * threads} * W, n);
#pragma unroll
    for (int p = 0; p < kParts; ++p)
      if (counts[p] > 0) parts[p].add(v[p], counts[p]);
  }
  const ExpSum<A> s = block_total(parts);
  if (thread > 0) return;
  const int64_t target = c.targets[row];
  const bool counts = target != c.ignore_index && target >= 0 && target < n;
  const A log_of_sum = math::log(s.sum);
  losses[row] = counts ? -(convert<A>(in[target]) - s.top - log_of_sum) : A(0);
  weights[row] = counts ? A(1) : A(0);
  log_sums[row] = counts ? s.top + log_of_sum : A(0);
}

// The number of targets that count, by one block; exact, because there are at most 2^24.
template <class A>
__global__ void __launch_bounds__(1024) count_targets(CrossEntropyRows c, A* total) {
  await_earlier_work();
  int count = 0;
  for (int64_t i = threadIdx.x; i < c.rows; i += blockDim.x) {
    const int64_t t = c.targets[i];
    count += t != c.ignore_index && t >= 0 && t < c.classes;
  }
  count = block_reduce(count, Add(), 0);
  if (threadIdx.x == 0) *total = static_cast<A>(count);
}

// The factor of each row: (1 - smoothing) w[t] + smoothing / C sum_c w[c], or 0 if the row is ignored.  Every block
// adds up all weights.
template <class A>
__global__ void cross_entropy_softmax_factors(CrossEntropyRows c, A* factors) {
  await_earlier_work();
  const A smoothing = static_cast<A>(c.smoothing);
  const A* w = static_cast<const A*>(c.weight);
  A total = static_cast<A>(c.classes);
  if (w) {
    total = 0;
    for (int64_t i = threadIdx.x; i < c.classes; i += blockDim.x) total += w[i];
    total = block_reduce(total, Add(), A(0));
  }
  const A rest = smoothing / static_cast<A>(c.classes) * total;
  const int64_t row = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (row >= c.rows) return;
  const int64_t t = c.targets[row];
  const bool counts = t != c.ignore_index && t >= 0 && t < c.classes;
  factors[row] = counts ? (1 - smoothing) * (w ? w[t] : A(1)) + rest : A(0);
}

}  // namespace argand
