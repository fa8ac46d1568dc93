// A recurrent layer in one direction over a whole sequence, as one call: blocks::recurrence and its gradient.
#pragma once
#include <cstdint>

#include "argand/core/dtype.h"

namespace argand {

enum class RnnKind { kTanh, kRelu, kGru, kLstm };

// The number of rows of the weights, in units of the hidden size.
constexpr int64_t gates_of(RnnKind kind) { return kind == RnnKind::kLstm ? 4 : kind == RnnKind::kGru ? 3 : 1; }
// The number of values per unit and step that the gradient needs in addition to the outputs (kernels/recurrent_cell.h).
constexpr int64_t saved_of(RnnKind kind) { return kind == RnnKind::kLstm ? 5 : kind == RnnKind::kGru ? 4 : 0; }

// All arrays are dense and of `type`, except `saved`, which has the arithmetic type: float for float16 and bfloat16.
// The CPU supports only float and double.
struct Recurrence {
  RnnKind kind;
  ScalarType type;
  int64_t steps, batch, hidden;
  bool reverse;       // from the last step to the first
  const void *h, *c;  // [batch, hidden] before the first step; c for LSTM only
};

struct RecurrenceForward {
  const void* gates;       // [steps, batch, gates * hidden]: the input's part
  const void* transposed;  // the state's weights as [hidden, gates * hidden]
  const void* bias;        // [gates * hidden] of the state's part, or null
  void* output;            // [steps, batch, hidden]
  void* last_c;            // [batch, hidden] of an LSTM
  void* saved;             // [steps, batch, saved * hidden]
};

struct RecurrenceBackward {
  const void* weight;  // of the state, [gates * hidden, hidden]
  const void *output, *saved;
  const void* grad_output;  // [steps, batch, hidden]
  const void* grad_last_c;  // or null
  void* grad_gates;         // of the input's part
  void* grad_state_gates;   // of the state's part for GRU; null for others, where it equals grad_gates
  void *grad_h, *grad_c;
};

using RunRecurrence = void(const Recurrence& call, const RecurrenceForward& forward);
using RunRecurrenceBackward = void(const Recurrence& call, const RecurrenceBackward& backward);

}  // namespace argand
