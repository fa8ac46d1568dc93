// Recurrent networks and their cells: RNN, LSTM, GRU, RNNCell, LSTMCell, GRUCell.
#pragma once
#include <tuple>

#include "argand/nn/modules/container/any.h"
#include "argand/nn/options/rnn.h"
#include "argand/nn/utils/rnn.h"

namespace argand::nn {

namespace detail {

// Layers of cells over sequences [T, N, input_size] ([N, T, input_size] with batch_first), or one sequence [T,
// input_size].  Outputs have directions * hidden_size (or proj_size) features; states are
// [num_layers * directions, N, features], zeros if not given.  Parameters are weight_ih_l0, weight_hh_l0, bias_ih_l0,
// bias_hh_l0, with projections weight_hr_l0, then those of the other direction ("_reverse") and of the next layers; all
// start uniform in +-1/sqrt(hidden_size).
template <class Derived>
class RNNImplBase : public Cloneable<Derived> {
 public:
  explicit RNNImplBase(const RNNOptionsBase& options_);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  // Does nothing: the kernels read parameters from any memory layout.
  void flatten_parameters() {}
  std::vector<Tensor> all_weights() const { return this->parameters(); }

  RNNOptionsBase options_base;

 protected:
  // A sequence as the ops take it: batched or packed; its states are in the order of the rows.
  struct Input {
    Tensor data, batch_sizes, sorted_indices, unsorted_indices;
    bool has_batch = true;
  };
  Input padded_input(const Tensor& input) const;
  Input packed_input(const utils::rnn::PackedSequence& sequence) const;
  // The initial state: the user's, checked and reordered, or zeros.
  Tensor starting_state(const Input& in, const Tensor& hx, int64_t features) const;
  Tensor ended_state(const Input& in, const Tensor& state) const;
  Tensor padded_output(const Input& in, const Tensor& output) const;
  utils::rnn::PackedSequence packed_output(const Input& in, const Tensor& output) const;
  int64_t output_features() const {
    return options_base.proj_size() > 0 ? options_base.proj_size() : options_base.hidden_size();
  }
};

}  // namespace detail

class RNNImpl : public detail::RNNImplBase<RNNImpl> {
 public:
  RNNImpl(int64_t input_size, int64_t hidden_size) : RNNImpl(RNNOptions(input_size, hidden_size)) {}
  explicit RNNImpl(const RNNOptions& options_);
  // Outputs and last states.
  std::tuple<Tensor, Tensor> forward(const Tensor& input, Tensor hx = {});
  std::tuple<utils::rnn::PackedSequence, Tensor> forward_with_packed_input(
      const utils::rnn::PackedSequence& packed_input, Tensor hx = {});

  RNNOptions options;

 protected:
  ARGAND_FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())})

 private:
  std::tuple<Tensor, Tensor> run(const Input& in, const Tensor& hx);
};
ARGAND_LIBRARY_MODULE(RNN);

class LSTMImpl : public detail::RNNImplBase<LSTMImpl> {
 public:
  using State = std::tuple<Tensor, Tensor>;  // h and c
  LSTMImpl(int64_t input_size, int64_t hidden_size) : LSTMImpl(LSTMOptions(input_size, hidden_size)) {}
  explicit LSTMImpl(const LSTMOptions& options_);
  std::tuple<Tensor, State> forward(const Tensor& input, const std::optional<State>& hx_opt = {});
  std::tuple<utils::rnn::PackedSequence, State> forward_with_packed_input(
      const utils::rnn::PackedSequence& packed_input, const std::optional<State>& hx_opt = {});

  LSTMOptions options;

 protected:
  ARGAND_FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(std::optional<std::tuple<Tensor, Tensor>>())})

 private:
  std::tuple<Tensor, State> run(const Input& in, const std::optional<State>& hx);
};
ARGAND_LIBRARY_MODULE(LSTM);

class GRUImpl : public detail::RNNImplBase<GRUImpl> {
 public:
  GRUImpl(int64_t input_size, int64_t hidden_size) : GRUImpl(GRUOptions(input_size, hidden_size)) {}
  explicit GRUImpl(const GRUOptions& options_);
  std::tuple<Tensor, Tensor> forward(const Tensor& input, Tensor hx = {});
  std::tuple<utils::rnn::PackedSequence, Tensor> forward_with_packed_input(
      const utils::rnn::PackedSequence& packed_input, Tensor hx = {});

  GRUOptions options;

 protected:
  ARGAND_FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())})

 private:
  std::tuple<Tensor, Tensor> run(const Input& in, const Tensor& hx);
};
ARGAND_LIBRARY_MODULE(GRU);

namespace detail {

// One step for [N, input_size] or [input_size]; a state that is not given is zeros.
template <class Derived>
class RNNCellImplBase : public Cloneable<Derived> {
 public:
  explicit RNNCellImplBase(const RNNCellOptionsBase& options_);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;

  RNNCellOptionsBase options_base;
  Tensor weight_ih, weight_hh;  // [num_chunks * hidden_size, input_size or hidden_size]
  Tensor bias_ih, bias_hh;      // [num_chunks * hidden_size], or undefined

 protected:
  void check_input(const Tensor& input) const;
  Tensor state_or_zeros(const Tensor& input, const Tensor& hx) const;
  virtual std::string nonlinearity() const { return ""; }
};

}  // namespace detail

class RNNCellImpl : public detail::RNNCellImplBase<RNNCellImpl> {
 public:
  RNNCellImpl(int64_t input_size, int64_t hidden_size) : RNNCellImpl(RNNCellOptions(input_size, hidden_size)) {}
  explicit RNNCellImpl(const RNNCellOptions& options_);
  Tensor forward(const Tensor& input, const Tensor& hx = {});

  RNNCellOptions options;

 protected:
  std::string nonlinearity() const override;
  ARGAND_FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())})
};
ARGAND_LIBRARY_MODULE(RNNCell);

class LSTMCellImpl : public detail::RNNCellImplBase<LSTMCellImpl> {
 public:
  LSTMCellImpl(int64_t input_size, int64_t hidden_size) : LSTMCellImpl(LSTMCellOptions(input_size, hidden_size)) {}
  explicit LSTMCellImpl(const LSTMCellOptions& options_);
  std::tuple<Tensor, Tensor> forward(const Tensor& input, const std::optional<std::tuple<Tensor, Tensor>>& hx_opt = {});

  LSTMCellOptions options;

 protected:
  ARGAND_FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(std::optional<std::tuple<Tensor, Tensor>>())})
};
ARGAND_LIBRARY_MODULE(LSTMCell);

class GRUCellImpl : public detail::RNNCellImplBase<GRUCellImpl> {
 public:
  GRUCellImpl(int64_t input_size, int64_t hidden_size) : GRUCellImpl(GRUCellOptions(input_size, hidden_size)) {}
  explicit GRUCellImpl(const GRUCellOptions& options_);
  Tensor forward(const Tensor& input, const Tensor& hx = {});

  GRUCellOptions options;

 protected:
  ARGAND_FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())})
};
ARGAND_LIBRARY_MODULE(GRUCell);

}  // namespace argand::nn
