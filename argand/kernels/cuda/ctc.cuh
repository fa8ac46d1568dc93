// Connectionist temporal classification (kernels/api/ctc.h): a block takes a sequence through all its steps, the states
// of the last step in shared memory; then the gradient of each step is a block of its own.
//
// Nothing is summed by atomics: the value of a class is the sum over its states in their order.
#pragma once
#include "argand/kernels/cuda/arguments.cuh"
#include "argand/kernels/cuda/block.cuh"
#include "argand/kernels/cuda/error_slot.cuh"
#include "argand/kernels/cuda/types.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

template <class T>
__device__ __forceinline__ T ctc_never() {
  return -math::detail::kInfinity<T>;
}

// log(e^a + e^b + e^c)
template <class T>
__device__ __forceinline__ T log_sum(T a, T b, T c) {
  const T top = math::max(math::max(a, b), c), shift = top == ctc_never<T>() ? T(0) : top;
  return math::log(math::exp(a - shift) + math::exp(b - shift) + math::exp(c - shift)) + shift;
}

// The sequence of this block: two rows of states, the log-probabilities of blank and labels for some steps ahead, so
// that few steps wait for memory, and the labels.
template <class T>
struct CtcSequence {
  const T* log_probs;
  int64_t length, probs_step;  // elements from one step to the next
  int count, states, slots;    // labels; slots: of a step's log-probabilities
  int64_t blank;
  T *rows, *probs;
  int* labels;

  __device__ __forceinline__ CtcSequence(const CtcArrays& q, unsigned char* memory)
      : log_probs(static_cast<const T*>(q.log_probs) + int64_t{blockIdx.x} * q.classes),
        length(q.lengths[blockIdx.x]),
        probs_step(q.batch * q.classes),
        count(static_cast<int>(q.counts[blockIdx.x])),
        states(2 * count + 1),
        slots(q.most_labels + 1),
        blank(q.blank),
        rows(reinterpret_cast<T*>(memory)),
        probs(rows + 2 * q.width),
        labels(reinterpret_cast<int*>(probs + q.ahead * slots)) {
    const int64_t* given = q.labels + q.begins[blockIdx.x];
    for (int i = threadIdx.x; i < count; i += blockDim.x)
      labels[i] = static_cast<int>(checked_index(given[i], q.classes, false, static_cast<ErrorSlot*>(q.slot), q.op, 0));
    __syncthreads();
  }
  // Reads the log-probabilities of steps first, first + by, ...; no thread may still be reading the earlier ones.
  __device__ __forceinline__ void read_ahead(int64_t first, int by, int steps) {
    const int each = count + 1;
    for (int e = threadIdx.x; e < steps * each; e += blockDim.x) {
      const int r = e / each, i = e - r * each;
      const int64_t c = i == 0 ? blank : labels[i - 1];
      probs[r * slots + i] = log_probs[(first + int64_t{r} * by) * probs_step + c];
    }
    __syncthreads();
  }
  __device__ __forceinline__ T prob(int r, int s) const { return probs[r * slots + (s % 2 == 0 ? 0 : s / 2 + 1)]; }
  // Whether a path may go from state s - 2 to s: a blank must stand between equal labels.
  __device__ __forceinline__ bool skips(int s) const {
    return s % 2 == 1 && s >= 3 && labels[s / 2] != labels[s / 2 - 1];
  }
};

template <class T>
__global__ void __launch_bounds__(1024) ctc_loss(CtcArrays q, T* alpha, T* losses) {
  await_earlier_work();
  extern __shared__ __align__(16) unsigned char ctc_memory[];
  CtcSequence<T> l(q, ctc_memory);
  const int width = q.width;
  alpha += blockIdx.x * q.steps * width;
  for (int64_t first = 0; first < l.length; first += q.ahead) {
    const int steps = static_cast<int>(l.length - first < q.ahead ? l.length - first : q.ahead);
    l.read_ahead(first, 1, steps);
    for (int r = 0; r < steps; ++r) {
      const int64_t t = first + r;
      const T* before = l.rows + (t % 2 == 0 ? width : 0);
      T* now = l.rows + (t % 2 == 0 ? 0 : width);
      for (int s = threadIdx.x; s < width; s += blockDim.x) {
        T a = ctc_never<T>();
        if (s < l.states) {
          if (t > 0)
            a = log_sum(before[s], s > 0 ? before[s - 1] : a, l.skips(s) ? before[s - 2] : a) + l.prob(r, s);
          else if (s < 2)
            a = l.prob(r, s);
          now[s] = a;
        }
        alpha[t * width + s] = a;
      }
      __syncthreads();
    }
  }
  for (int64_t e = l.length * width + threadIdx.x; e < q.steps * width; e += blockDim.x) alpha[e] = ctc_never<T>();
  if (threadIdx.x > 0) return;
  const T never = ctc_never<T>();
  const T* last = l.rows + (l.length % 2 == 0 ? width : 0);
  if (l.length == 0)
    losses[blockIdx.x] = l.count == 0 ? T(0) : -never;
  else
    losses[blockIdx.x] = -log_sum(last[l.states - 1], l.count > 0 ? last[l.states - 2] : never, never);
}

// through: alpha + beta, beta[t][s] being the log-probability of all paths from state s at step t to the end, with that
// of the step itself.  labels: checked.  links: for each label the place of the next equal one (`count` behind the
// last), as ~place if it is not the first or equals blank.
template <class T>
__global__ void __launch_bounds__(1024) ctc_paths(CtcArrays q, const T* alpha, T* through, int* labels, int* links) {
  await_earlier_work();
  extern __shared__ __align__(16) unsigned char ctc_memory[];
  CtcSequence<T> l(q, ctc_memory);
  const int width = q.width;
  for (int i = threadIdx.x; i < l.count; i += blockDim.x) {
    int next = i + 1, before = i - 1;
    while (next < l.count && l.labels[next] != l.labels[i]) ++next;
    while (before >= 0 && l.labels[before] != l.labels[i]) --before;
    const int64_t at = blockIdx.x * int64_t{q.most_labels} + i;
    labels[at] = l.labels[i];
    links[at] = before >= 0 || l.labels[i] == q.blank ? ~next : next;
  }
  alpha += blockIdx.x * q.steps * width;
  through += blockIdx.x * q.steps * width;
  for (int64_t done = 0; done < l.length; done += q.ahead) {
    const int steps = static_cast<int>(l.length - done < q.ahead ? l.length - done : q.ahead);
    l.read_ahead(l.length - 1 - done, -1, steps);
    for (int r = 0; r < steps; ++r) {
      const int64_t t = l.length - 1 - done - r;
      const T* after = l.rows + (t % 2 == 0 ? width : 0);
      T* now = l.rows + (t % 2 == 0 ? 0 : width);
      for (int s = threadIdx.x; s < l.states; s += blockDim.x) {
        const T never = ctc_never<T>();
        T sum = s >= l.states - 2 ? T(0) : never;
        if (t + 1 < l.length)
          sum = log_sum(after[s], s + 1 < l.states ? after[s + 1] : never,
                        s + 2 < l.states && l.skips(s + 2) ? after[s + 2] : never);
        const T beta = sum + l.prob(r, s);
        now[s] = beta;
        through[t * width + s] = alpha[t * width + s] + beta;
      }
      __syncthreads();
    }
  }
}

// Block t * batch + n: the gradient of step t of sequence n.
template <class T>
__global__ void __launch_bounds__(256)
    ctc_gradient(CtcArrays q, const T* through, const int* labels, const int* links, const T* losses,
                 const T* grad_losses, T* grad, bool zero_infinity) {
  await_earlier_work();
  const int64_t t = blockIdx.x / q.batch, n = blockIdx.x % q.batch;
  const T* p = static_cast<const T*>(q.log_probs) + blockIdx.x * q.classes;
  grad += blockIdx.x * q.classes;
  const T never = ctc_never<T>(), loss = losses[n], grad_loss = grad_losses[n];
  if (t >= q.lengths[n] || (zero_infinity && loss == -never)) {
    for (int64_t c = threadIdx.x; c < q.classes; c += blockDim.x) grad[c] = T(0);
    return;
  }
  // `sum`: of all paths through states of the class.
  const auto set = [&](int64_t c, T sum) { grad[c] = (math::exp(p[c]) - math::exp(sum + loss - p[c])) * grad_loss; };
  for (int64_t c = threadIdx.x; c < q.classes; c += blockDim.x) set(c, never);
  through += (n * q.steps + t) * q.width;
  labels += n * q.most_labels;
  links += n * q.most_labels;
  const int count = static_cast<int>(q.counts[n]), states = 2 * count + 1;
  const auto is_blank = [&](int s) { return s % 2 == 0 || labels[s / 2] == q.blank; };
  T top = never, sum = T(0);
  for (int s = threadIdx.x; s < states; s += blockDim.x)
    if (is_blank(s)) top = math::max(top, through[s]);
  top = block_reduce(top, Max(), never);
  const T shift = top == never ? T(0) : top;
  for (int s = threadIdx.x; s < states; s += blockDim.x)
    if (is_blank(s)) sum += math::exp(through[s] - shift);
  sum = block_reduce(sum, Add(), T(0));  // waits for the elements that are set again now
  if (threadIdx.x == 0) set(q.blank, math::log(sum) + shift);
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    if (links[i] < 0) continue;
    T most = never, total = T(0);
    for (int k = i; k < count; k = links[k] < 0 ? ~links[k] : links[k]) most = math::max(most, through[2 * k + 1]);
    const T from = most == never ? T(0) : most;
    for (int k = i; k < count; k = links[k] < 0 ? ~links[k] : links[k]) total += math::exp(through[2 * k + 1] - from);
    set(labels[i], math::log(total) + from);
  }
}

}  // namespace argand
