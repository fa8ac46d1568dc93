#include "argand/nn/modules/rnn.h"

#include <cmath>

#include "argand/base/log.h"
#include "argand/nn/init.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::nn {
namespace detail {
namespace {

int64_t gates_of(const RNNOptionsBase::rnn_options_base_mode_t& mode) {
  if (std::holds_alternative<enumtype::kLSTM>(mode)) return 4;
  return std::holds_alternative<enumtype::kGRU>(mode) ? 3 : 1;
}

void reset_uniform(const std::vector<Tensor>& parameters, int64_t hidden_size) {
  const double bound = hidden_size > 0 ? 1 / std::sqrt(static_cast<double>(hidden_size)) : 0;
  for (const Tensor& p : parameters) init::uniform_(p, -bound, bound);
}

// "argand::nn::LSTMImpl" is printed as "torch::nn::LSTM", by whatever name users include it.
std::string printed_name(const std::string& name) {
  const size_t begin = name.rfind(':') + 1;
  return "torch::nn::" + name.substr(begin, name.size() - begin - 4);
}

}  // namespace

template <class Derived>
RNNImplBase<Derived>::RNNImplBase(const RNNOptionsBase& options_) : options_base(options_) {
  reset();
}

template <class Derived>
void RNNImplBase<Derived>::reset() {
  const RNNOptionsBase& o = options_base;
  ARGAND_CHECK(ValueError, o.input_size() >= 0, "input_size must be at least 0, got ", o.input_size());
  ARGAND_CHECK(ValueError, o.hidden_size() > 0, "hidden_size must be greater than zero, got ", o.hidden_size());
  ARGAND_CHECK(ValueError, o.num_layers() > 0, "num_layers must be greater than zero, got ", o.num_layers());
  ARGAND_CHECK(
      ValueError, o.dropout() >= 0 && o.dropout() <= 1,
      "dropout should be a number in range [0, 1] representing the probability of an element being zeroed, got ",
      o.dropout());
  ARGAND_CHECK(ValueError, o.proj_size() >= 0,
               "proj_size should be a positive integer or zero to disable projections, got ", o.proj_size());
  ARGAND_CHECK(ValueError, o.proj_size() < o.hidden_size(), "proj_size has to be smaller than hidden_size, got ",
               o.proj_size(), " and ", o.hidden_size());
  if (o.dropout() > 0 && o.num_layers() == 1)
    warn(
        "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers "
        "greater than 1, but got dropout=",
        o.dropout(), " and num_layers=", o.num_layers());
  const int64_t rows = gates_of(o.mode()) * o.hidden_size(), directions = o.bidirectional() ? 2 : 1;
  for (int64_t layer = 0; layer < o.num_layers(); ++layer) {
    for (int64_t direction = 0; direction < directions; ++direction) {
      const std::string suffix = str("_l", layer, direction == 1 ? "_reverse" : "");
      const int64_t in = layer == 0 ? o.input_size() : output_features() * directions;
      this->register_parameter("weight_ih" + suffix, empty({rows, in}));
      this->register_parameter("weight_hh" + suffix, empty({rows, output_features()}));
      if (o.bias()) {
        this->register_parameter("bias_ih" + suffix, empty({rows}));
        this->register_parameter("bias_hh" + suffix, empty({rows}));
      }
      if (o.proj_size() > 0) this->register_parameter("weight_hr" + suffix, empty({o.proj_size(), o.hidden_size()}));
    }
  }
  reset_parameters();
}

template <class Derived>
void RNNImplBase<Derived>::reset_parameters() {
  reset_uniform(this->parameters(), options_base.hidden_size());
}

template <class Derived>
void RNNImplBase<Derived>::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << printed_name(this->name()) << "(input_size=" << options_base.input_size()
         << ", hidden_size=" << options_base.hidden_size() << ", num_layers=" << options_base.num_layers()
         << ", bias=" << options_base.bias() << ", batch_first=" << options_base.batch_first()
         << ", dropout=" << options_base.dropout() << ", bidirectional=" << options_base.bidirectional();
  if (options_base.proj_size() > 0) stream << ", proj_size=" << options_base.proj_size();
  stream << ")";
}

template <class Derived>
typename RNNImplBase<Derived>::Input RNNImplBase<Derived>::padded_input(const Tensor& input) const {
  ARGAND_CHECK(ShapeError, input.dim() == 2 || input.dim() == 3, "input must have 2 or 3 dimensions, got ",
               input.sizes());
  ARGAND_CHECK(ShapeError, input.size(-1) == options_base.input_size(),
               "input.size(-1) must be equal to input_size. Expected ", options_base.input_size(), ", got ",
               input.size(-1));
  const bool has_batch = input.dim() == 3;
  return {has_batch ? input : input.unsqueeze(options_base.batch_first() ? 0 : 1), {}, {}, {}, has_batch};
}

template <class Derived>
typename RNNImplBase<Derived>::Input RNNImplBase<Derived>::packed_input(
    const utils::rnn::PackedSequence& sequence) const {
  ARGAND_CHECK(ShapeError, sequence.data().dim() == 2, "packed input must have 2 dimensions, got ",
               sequence.data().sizes());
  ARGAND_CHECK(ShapeError, sequence.data().size(1) == options_base.input_size(),
               "input.size(-1) must be equal to input_size. Expected ", options_base.input_size(), ", got ",
               sequence.data().size(1));
  ARGAND_CHECK(ShapeError, sequence.batch_sizes().numel() > 0, "Expected sequence length to be larger than 0 in RNN");
  return {sequence.data(), sequence.batch_sizes(), sequence.sorted_indices(), sequence.unsorted_indices(), true};
}

template <class Derived>
Tensor RNNImplBase<Derived>::starting_state(const Input& in, const Tensor& hx, int64_t features) const {
  const int64_t batch = in.batch_sizes.defined() ? in.batch_sizes.select(0, 0).template item<int64_t>()
                                                 : in.data.size(options_base.batch_first() ? 0 : 1);
  const Dims expected{options_base.num_layers() * (options_base.bidirectional() ? 2 : 1), batch, features};
  if (!hx.defined()) return zeros(expected, in.data.options());
  ARGAND_CHECK(ShapeError, hx.dim() == (in.has_batch ? 3 : 2),
               in.has_batch ? "For batched 3-D input" : "For unbatched 2-D input", ", hx should also be ",
               in.has_batch ? "3-D" : "2-D", " but got ", hx.dim(), "-D tensor");
  const Tensor state = in.has_batch ? hx : hx.unsqueeze(1);
  ARGAND_CHECK(ShapeError, state.sizes() == IntArrayRef(expected), "Expected hidden size ", expected, ", got ",
               state.sizes());
  return in.sorted_indices.defined() ? state.index_select(1, in.sorted_indices) : state;
}

template <class Derived>
Tensor RNNImplBase<Derived>::ended_state(const Input& in, const Tensor& state) const {
  if (!in.has_batch) return state.squeeze(1);
  return in.unsorted_indices.defined() ? state.index_select(1, in.unsorted_indices) : state;
}

template <class Derived>
Tensor RNNImplBase<Derived>::padded_output(const Input& in, const Tensor& output) const {
  return in.has_batch ? output : output.squeeze(options_base.batch_first() ? 0 : 1);
}

template <class Derived>
utils::rnn::PackedSequence RNNImplBase<Derived>::packed_output(const Input& in, const Tensor& output) const {
  return utils::rnn::PackedSequence(output, in.batch_sizes, in.sorted_indices, in.unsorted_indices);
}

template class RNNImplBase<RNNImpl>;
template class RNNImplBase<LSTMImpl>;
template class RNNImplBase<GRUImpl>;

}  // namespace detail

namespace {

detail::RNNOptionsBase base_of(const RNNOptions& o) {
  const bool tanh = std::holds_alternative<enumtype::kTanh>(o.nonlinearity());
  using Mode = detail::RNNOptionsBase::rnn_options_base_mode_t;
  return {tanh ? Mode(kRNN_TANH) : Mode(kRNN_RELU),
          o.input_size(),
          o.hidden_size(),
          o.num_layers(),
          o.bias(),
          o.batch_first(),
          o.dropout(),
          o.bidirectional()};
}

}  // namespace

RNNImpl::RNNImpl(const RNNOptions& o) : RNNImplBase(base_of(o)), options(o) {}

std::tuple<Tensor, Tensor> RNNImpl::run(const Input& in, const Tensor& hx) {
  const detail::RNNOptionsBase& o = options_base;
  const Tensor start = starting_state(in, hx, o.hidden_size());
  const std::vector<Tensor> weights = all_weights();
  const bool tanh = std::holds_alternative<enumtype::kRNN_TANH>(o.mode());
  if (in.batch_sizes.defined()) {
    const auto call = [&](auto op) {
      return op(in.data, in.batch_sizes, start, TensorList(weights), o.bias(), o.num_layers(), o.dropout(),
                is_training(), o.bidirectional());
    };
    return tanh ? call([](auto&&... a) { return rnn_tanh(a...); }) : call([](auto&&... a) { return rnn_relu(a...); });
  }
  const auto call = [&](auto op) {
    return op(in.data, start, TensorList(weights), o.bias(), o.num_layers(), o.dropout(), is_training(),
              o.bidirectional(), o.batch_first());
  };
  return tanh ? call([](auto&&... a) { return rnn_tanh(a...); }) : call([](auto&&... a) { return rnn_relu(a...); });
}

std::tuple<Tensor, Tensor> RNNImpl::forward(const Tensor& input, Tensor hx) {
  const Input in = padded_input(input);
  const auto [output, state] = run(in, hx);
  return {padded_output(in, output), ended_state(in, state)};
}

std::tuple<utils::rnn::PackedSequence, Tensor> RNNImpl::forward_with_packed_input(
    const utils::rnn::PackedSequence& sequence, Tensor hx) {
  const Input in = packed_input(sequence);
  const auto [output, state] = run(in, hx);
  return {packed_output(in, output), ended_state(in, state)};
}

LSTMImpl::LSTMImpl(const LSTMOptions& o)
    : RNNImplBase({kLSTM, o.input_size(), o.hidden_size(), o.num_layers(), o.bias(), o.batch_first(), o.dropout(),
                   o.bidirectional(), o.proj_size()}),
      options(o) {}

std::tuple<Tensor, LSTMImpl::State> LSTMImpl::run(const Input& in, const std::optional<State>& hx) {
  const detail::RNNOptionsBase& o = options_base;
  const auto [h, c] = hx.value_or(State());
  const std::vector<Tensor> start{starting_state(in, h, output_features()), starting_state(in, c, o.hidden_size())},
      weights = all_weights();
  const auto [output, h_n, c_n] = in.batch_sizes.defined()
                                      ? lstm(in.data, in.batch_sizes, start, weights, o.bias(), o.num_layers(),
                                             o.dropout(), is_training(), o.bidirectional())
                                      : lstm(in.data, start, weights, o.bias(), o.num_layers(), o.dropout(),
                                             is_training(), o.bidirectional(), o.batch_first());
  return {output, State(ended_state(in, h_n), ended_state(in, c_n))};
}

std::tuple<Tensor, LSTMImpl::State> LSTMImpl::forward(const Tensor& input, const std::optional<State>& hx_opt) {
  const Input in = padded_input(input);
  const auto [output, state] = run(in, hx_opt);
  return {padded_output(in, output), state};
}

std::tuple<utils::rnn::PackedSequence, LSTMImpl::State> LSTMImpl::forward_with_packed_input(
    const utils::rnn::PackedSequence& sequence, const std::optional<State>& hx_opt) {
  const Input in = packed_input(sequence);
  const auto [output, state] = run(in, hx_opt);
  return {packed_output(in, output), state};
}

GRUImpl::GRUImpl(const GRUOptions& o)
    : RNNImplBase({kGRU, o.input_size(), o.hidden_size(), o.num_layers(), o.bias(), o.batch_first(), o.dropout(),
                   o.bidirectional()}),
      options(o) {}

std::tuple<Tensor, Tensor> GRUImpl::run(const Input& in, const Tensor& hx) {
  const detail::RNNOptionsBase& o = options_base;
  const Tensor start = starting_state(in, hx, o.hidden_size());
  const std::vector<Tensor> weights = all_weights();
  return in.batch_sizes.defined() ? gru(in.data, in.batch_sizes, start, weights, o.bias(), o.num_layers(), o.dropout(),
                                        is_training(), o.bidirectional())
                                  : gru(in.data, start, weights, o.bias(), o.num_layers(), o.dropout(), is_training(),
                                        o.bidirectional(), o.batch_first());
}

std::tuple<Tensor, Tensor> GRUImpl::forward(const Tensor& input, Tensor hx) {
  const Input in = padded_input(input);
  const auto [output, state] = run(in, hx);
  return {padded_output(in, output), ended_state(in, state)};
}

std::tuple<utils::rnn::PackedSequence, Tensor> GRUImpl::forward_with_packed_input(
    const utils::rnn::PackedSequence& sequence, Tensor hx) {
  const Input in = packed_input(sequence);
  const auto [output, state] = run(in, hx);
  return {packed_output(in, output), ended_state(in, state)};
}

// ---- cells

namespace detail {

template <class Derived>
RNNCellImplBase<Derived>::RNNCellImplBase(const RNNCellOptionsBase& options_) : options_base(options_) {
  reset();
}

template <class Derived>
void RNNCellImplBase<Derived>::reset() {
  const int64_t hidden = options_base.hidden_size(), in = options_base.input_size();
  ARGAND_CHECK(ValueError, hidden >= 0 && in >= 0, "expected input_size and hidden_size of at least 0, got ", in,
               " and ", hidden);
  const int64_t rows = options_base.num_chunks() * hidden;
  const auto bias = [&](const char* name) {
    return this->register_parameter(name, options_base.bias() ? empty({rows}) : Tensor(), options_base.bias());
  };
  weight_ih = this->register_parameter("weight_ih", empty({rows, in}));
  weight_hh = this->register_parameter("weight_hh", empty({rows, hidden}));
  bias_ih = bias("bias_ih");
  bias_hh = bias("bias_hh");
  reset_parameters();
}

template <class Derived>
void RNNCellImplBase<Derived>::reset_parameters() {
  reset_uniform(this->parameters(), options_base.hidden_size());
}

template <class Derived>
void RNNCellImplBase<Derived>::pretty_print(std::ostream& stream) const {
  const std::string other = nonlinearity();
  stream << printed_name(this->name()) << "(" << options_base.input_size() << ", " << options_base.hidden_size();
  if (!options_base.bias()) stream << ", bias=" << std::boolalpha << false;
  if (!other.empty() && other != "kTanh") stream << ", nonlinearity=" << other;
  stream << ")";
}

template <class Derived>
void RNNCellImplBase<Derived>::check_input(const Tensor& input) const {
  ARGAND_CHECK(ShapeError, input.dim() == 1 || input.dim() == 2, "Expected input to be 1D or 2D, got ", input.dim(),
               "D instead");
  ARGAND_CHECK(ShapeError, input.size(-1) == options_base.input_size(), "input has inconsistent input_size: got ",
               input.size(-1), " expected ", options_base.input_size());
}

template <class Derived>
Tensor RNNCellImplBase<Derived>::state_or_zeros(const Tensor& input, const Tensor& hx) const {
  if (hx.defined()) return hx;  // the ops check it
  const int64_t hidden = options_base.hidden_size();
  return input.dim() == 2 ? zeros({input.size(0), hidden}, input.options()) : zeros({hidden}, input.options());
}

template class RNNCellImplBase<RNNCellImpl>;
template class RNNCellImplBase<LSTMCellImpl>;
template class RNNCellImplBase<GRUCellImpl>;

}  // namespace detail

RNNCellImpl::RNNCellImpl(const RNNCellOptions& o)
    : RNNCellImplBase({o.input_size(), o.hidden_size(), o.bias(), 1}), options(o) {}

std::string RNNCellImpl::nonlinearity() const { return enumtype::get_enum_name(options.nonlinearity()); }

Tensor RNNCellImpl::forward(const Tensor& input, const Tensor& hx) {
  check_input(input);
  const Tensor state = state_or_zeros(input, hx);
  const bool tanh = std::holds_alternative<enumtype::kTanh>(options.nonlinearity());
  return (tanh ? rnn_tanh_cell : rnn_relu_cell)(input, state, weight_ih, weight_hh, bias_ih, bias_hh);
}

LSTMCellImpl::LSTMCellImpl(const LSTMCellOptions& o)
    : RNNCellImplBase({o.input_size(), o.hidden_size(), o.bias(), 4}), options(o) {}

std::tuple<Tensor, Tensor> LSTMCellImpl::forward(const Tensor& input,
                                                 const std::optional<std::tuple<Tensor, Tensor>>& hx_opt) {
  check_input(input);
  const auto [h, c] = hx_opt.value_or(std::tuple<Tensor, Tensor>());
  return lstm_cell(input, {state_or_zeros(input, h), state_or_zeros(input, c)}, weight_ih, weight_hh, bias_ih, bias_hh);
}

GRUCellImpl::GRUCellImpl(const GRUCellOptions& o)
    : RNNCellImplBase({o.input_size(), o.hidden_size(), o.bias(), 3}), options(o) {}

Tensor GRUCellImpl::forward(const Tensor& input, const Tensor& hx) {
  check_input(input);
  return gru_cell(input, state_or_zeros(input, hx), weight_ih, weight_hh, bias_ih, bias_hh);
}

}  // namespace argand::nn
