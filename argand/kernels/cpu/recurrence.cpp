#include "argand/kernels/cpu/recurrence.h"

#include <algorithm>

#include "argand/core/dispatch.h"
#include "argand/kernels/cpu/gemm.h"
#include "argand/kernels/cpu/multiversion.h"
#include "argand/kernels/cpu/scratch.h"
#include "argand/kernels/recurrent_cell.h"
#include "argand/runtime/cpu/thread_pool.h"

namespace argand::cpu {
namespace {

// One sequence in one step; arrays hold one number of every unit after the other.
template <class T>
struct Row {
  int64_t hidden;
  const T *x, *y;            // gates
  const T *saved, *before;   // backward: before is c before of an LSTM, h before of others
  const T *h, *grad_h;       // backward
  T *grad_x, *grad_y;        // backward
  T *out_h, *c, *out_saved;  // forward; c before and after.  Backward: out_h is `direct`, c its gradient
};

template <class T, int kKind>
struct ForwardRow {
  ARGAND_INLINE static void run(const Row<T>* row) {
    using Cell = RecurrentCell<kKind>;
    const Row<T> r = *row;
    ARGAND_VECTORIZE
    for (int64_t u = 0; u < r.hidden; ++u) {
      T x[Cell::kGates], y[Cell::kGates], saved[Cell::kSaved + 1], c = Cell::kHasCell ? r.c[u] : T(0), h = r.h[u];
      for (int g = 0; g < Cell::kGates; ++g) {
        x[g] = r.x[g * r.hidden + u];
        y[g] = r.y[g * r.hidden + u];
      }
      Cell::forward(x, y, h, c, saved);
      for (int s = 0; s < Cell::kSaved; ++s) r.out_saved[s * r.hidden + u] = saved[s];
      if (Cell::kHasCell) r.c[u] = c;
      r.out_h[u] = h;
    }
  }
};

template <class T, int kKind>
struct BackwardRow {
  ARGAND_INLINE static void run(const Row<T>* row) {
    using Cell = RecurrentCell<kKind>;
    const Row<T> r = *row;
    ARGAND_VECTORIZE
    for (int64_t u = 0; u < r.hidden; ++u) {
      T x[Cell::kGates], y[Cell::kGates], saved[Cell::kSaved + 1], c = Cell::kHasCell ? r.c[u] : T(0), direct;
      for (int s = 0; s < Cell::kSaved; ++s) saved[s] = r.saved[s * r.hidden + u];
      Cell::backward(r.grad_h[u], c, saved, r.before[u], r.h[u], x, y, direct);
      for (int g = 0; g < Cell::kGates; ++g) {
        r.grad_x[g * r.hidden + u] = x[g];
        if (Cell::kSplitGates) r.grad_y[g * r.hidden + u] = y[g];
      }
      if (Cell::kHasCell) r.c[u] = c;
      r.out_h[u] = direct;
    }
  }
};

template <class T, int kKind>
class Runner {
  using Cell = RecurrentCell<kKind>;

 public:
  explicit Runner(const Recurrence& call)
      : call_(call),
        states_(call.batch * call.hidden),
        gates_(states_ * Cell::kGates),
        saved_(states_ * Cell::kSaved) {}

  void forward(const RecurrenceForward& f) const {
    T *output = static_cast<T*>(f.output), *c = static_cast<T*>(f.last_c);
    if (Cell::kHasCell) std::copy_n(static_cast<const T*>(call_.c), states_, c);
    ScratchBuffer<T> y(gates_);
    const T* before = static_cast<const T*>(call_.h);
    for (int64_t i = 0; i < call_.steps; ++i) {
      const int64_t t = call_.reverse ? call_.steps - 1 - i : i;
      GemmArgs<T> product{call_.batch,
                          width(),
                          call_.hidden,
                          {before, call_.hidden, 1},
                          {static_cast<const T*>(f.transposed), width(), 1},
                          y.data(),
                          width()};
      product.bias = static_cast<const T*>(f.bias);
      gemm(product);
      T *h = output + t * states_, *saved = static_cast<T*>(f.saved) + t * saved_;
      const T* x = static_cast<const T*>(f.gates) + t * gates_;
      each_row<ForwardRow<T, kKind>>([&](int64_t row, int64_t state) {
        Row<T> r{};
        r.hidden = call_.hidden;
        r.x = x + row * width();
        r.y = y.data() + row * width();
        r.h = before + state;
        r.out_h = h + state;
        r.c = Cell::kHasCell ? c + state : nullptr;
        r.out_saved = saved + state * Cell::kSaved;
        return r;
      });
      before = h;
    }
  }

  void backward(const RecurrenceBackward& b) const {
    const T* output = static_cast<const T*>(b.output);
    T *grad_h = static_cast<T*>(b.grad_h), *grad_c = static_cast<T*>(b.grad_c);
    ScratchBuffer<T> whole(states_);
    std::fill_n(grad_h, states_, T(0));
    if (Cell::kHasCell && b.grad_last_c)
      std::copy_n(static_cast<const T*>(b.grad_last_c), states_, grad_c);
    else if (Cell::kHasCell)
      std::fill_n(grad_c, states_, T(0));
    for (int64_t i = call_.steps; i-- > 0;) {
      const int64_t t = call_.reverse ? call_.steps - 1 - i : i, earlier = call_.reverse ? t + 1 : t - 1;
      const T* g = static_cast<const T*>(b.grad_output) + t * states_;
      for (int64_t k = 0; k < states_; ++k) whole.data()[k] = grad_h[k] + g[k];
      T *x = static_cast<T*>(b.grad_gates) + t * gates_,
        *y = Cell::kSplitGates ? static_cast<T*>(b.grad_state_gates) + t * gates_ : x;
      each_row<BackwardRow<T, kKind>>([&](int64_t row, int64_t state) {
        Row<T> r{};
        r.hidden = call_.hidden;
        const T* saved = static_cast<const T*>(b.saved);
        r.saved = saved + t * saved_ + state * Cell::kSaved;
        if (i == 0)
          r.before = static_cast<const T*>(Cell::kHasCell ? call_.c : call_.h) + state;
        else if (Cell::kHasCell)  // the last of what is saved
          r.before = saved + earlier * saved_ + state * Cell::kSaved + (Cell::kSaved - 1) * call_.hidden;
        else
          r.before = output + earlier * states_ + state;
        r.h = output + t * states_ + state;
        r.grad_h = whole.data() + state;
        r.grad_x = x + row * width();
        r.grad_y = y + row * width();
        r.out_h = grad_h + state;
        r.c = Cell::kHasCell ? grad_c + state : nullptr;
        return r;
      });
      GemmArgs<T> product{
          call_.batch, call_.hidden, width(), {y, width(), 1}, {static_cast<const T*>(b.weight), call_.hidden, 1},
          grad_h,      call_.hidden};
      product.beta = T(1);
      gemm(product);
    }
  }

 private:
  int64_t width() const { return call_.hidden * Cell::kGates; }

  template <class Body, class F>
  void each_row(F row_of) const {
    const int64_t grain = std::max<int64_t>(1, 4096 / std::max<int64_t>(1, call_.hidden));
    parallel_for(0, call_.batch, grain, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const Row<T> r = row_of(row, row * call_.hidden);
        on_vector_unit<Body>(&r);
      }
    });
  }

  Recurrence call_;
  int64_t states_, gates_, saved_;  // elements of a step
};

template <class F>
void with_runner(const Recurrence& call, F f) {
  dispatch<kFloatTypes>(call.type, "recurrence", [&](auto tag) {
    using T = typename decltype(tag)::type;
    switch (call.kind) {
      case RnnKind::kTanh:
        return f(Runner<T, static_cast<int>(RnnKind::kTanh)>(call));
      case RnnKind::kRelu:
        return f(Runner<T, static_cast<int>(RnnKind::kRelu)>(call));
      case RnnKind::kGru:
        return f(Runner<T, static_cast<int>(RnnKind::kGru)>(call));
      case RnnKind::kLstm:
        return f(Runner<T, static_cast<int>(RnnKind::kLstm)>(call));
    }
  });
}

}  // namespace

void recurrence(const Recurrence& call, const RecurrenceForward& forward) {
  with_runner(call, [&](const auto& runner) { runner.forward(forward); });
}

void recurrence_backward(const Recurrence& call, const RecurrenceBackward& backward) {
  with_runner(call, [&](const auto& runner) { runner.backward(backward); });
}

}  // namespace argand::cpu
