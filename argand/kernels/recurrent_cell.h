// One step of one unit of a recurrent cell, and its gradient.  Compiled for the CPU and, by NVRTC, for GPUs.
//
// x and y are the input's and the state's part of the unit's gates.  `saved` of an LSTM: the input, forget, cell and
// output gates and c; of a GRU: the reset and update gates, the new state and y of the latter.
#pragma once
#include "argand/kernels/math.h"

namespace argand {

// kKind: a RnnKind of kernels/api/recurrence.h, as a number.
template <int kKind>
struct RecurrentCell;

// tanh and relu
template <int kKind>
struct ElmanCell {
  static constexpr int kGates = 1, kSaved = 0;
  static constexpr bool kHasCell = false, kSplitGates = false;

  template <class A>
  ARGAND_MATH static void forward(const A* x, const A* y, A& h, A&, A*) {
    const A sum = y[0] + x[0];
    // A NaN stays one.
    h = kKind == 0 ? math::tanh(sum) : sum <= A(0) ? A(0) : sum;
  }
  template <class A>
  ARGAND_MATH static void backward(A grad_h, A&, const A*, A, A h, A* x, A*, A& direct) {
    x[0] = kKind == 0 ? grad_h * (A(1) - h * h) : h <= A(0) ? A(0) : grad_h;
    direct = A(0);
  }
};
template <>
struct RecurrentCell<0> : ElmanCell<0> {};
template <>
struct RecurrentCell<1> : ElmanCell<1> {};

// GRU
template <>
struct RecurrentCell<2> {
  static constexpr int kGates = 3, kSaved = 4;
  static constexpr bool kHasCell = false, kSplitGates = true;

  template <class A>
  ARGAND_MATH static void forward(const A* x, const A* y, A& h, A&, A* saved) {
    const A reset = math::sigmoid(x[0] + y[0]), update = math::sigmoid(x[1] + y[1]);
    const A fresh = math::tanh(x[2] + y[2] * reset);
    saved[0] = reset;
    saved[1] = update;
    saved[2] = fresh;
    saved[3] = y[2];
    h = (h - fresh) * update + fresh;
  }
  // `before` is the state before the step; `direct` is its gradient without the part that comes through y.
  template <class A>
  ARGAND_MATH static void backward(A grad_h, A&, const A* saved, A before, A, A* x, A* y, A& direct) {
    const A reset = saved[0], update = saved[1], fresh = saved[2];
    x[1] = y[1] = grad_h * (before - fresh) * update * (A(1) - update);
    x[2] = grad_h * (A(1) - update) * (A(1) - fresh * fresh);
    y[2] = x[2] * reset;
    x[0] = y[0] = x[2] * saved[3] * reset * (A(1) - reset);
    direct = grad_h * update;
  }
};

// LSTM
template <>
struct RecurrentCell<3> {
  static constexpr int kGates = 4, kSaved = 5;
  static constexpr bool kHasCell = true, kSplitGates = false;

  template <class A>
  ARGAND_MATH static void forward(const A* x, const A* y, A& h, A& c, A* saved) {
    const A in = math::sigmoid(y[0] + x[0]), forget = math::sigmoid(y[1] + x[1]), cell = math::tanh(y[2] + x[2]),
            out = math::sigmoid(y[3] + x[3]);
    c = forget * c + in * cell;
    h = out * math::tanh(c);
    saved[0] = in;
    saved[1] = forget;
    saved[2] = cell;
    saved[3] = out;
    saved[4] = c;
  }
  // `before` is c before the step; grad_c is the gradient of c, and becomes that of `before`.
  template <class A>
  ARGAND_MATH static void backward(A grad_h, A& grad_c, const A* saved, A before, A, A* x, A*, A& direct) {
    const A in = saved[0], forget = saved[1], cell = saved[2], out = saved[3], t = math::tanh(saved[4]);
    const A g = grad_c + grad_h * out * (A(1) - t * t);
    x[0] = g * cell * in * (A(1) - in);
    x[1] = g * before * forget * (A(1) - forget);
    x[2] = g * in * (A(1) - cell * cell);
    x[3] = grad_h * t * out * (A(1) - out);
    grad_c = g * forget;
    direct = A(0);
  }
};

}  // namespace argand
