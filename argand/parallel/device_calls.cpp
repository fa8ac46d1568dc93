#include "argand/parallel/device_calls.h"

namespace argand::parallel::device_calls {
namespace {

using Kind = CommunicatorCall::Kind;

CommunicatorCall call(Kind kind, const Tensor& in, const Tensor& out, int64_t count, int peer = 0,
                      CollectiveReduce reduce = CollectiveReduce::kSum) {
  return {kind, in.impl().data(), out.impl().data(), static_cast<size_t>(count), in.dtype(), peer, reduce};
}
void send(Calls& calls, const Tensor& t, int to) {
  if (t.numel() > 0) calls.push_back(call(Kind::kSend, t, t, t.numel(), to));
}
void receive(Calls& calls, const Tensor& t, int from) {
  if (t.numel() > 0) calls.push_back(call(Kind::kReceive, t, t, t.numel(), from));
}

}  // namespace

Calls all_reduce(const Tensors& tensors, const ReduceOp& op) {
  Calls calls;
  for (const Tensor& t : tensors) calls.push_back(call(Kind::kAllReduce, t, t, t.numel(), 0, op.kind));
  return calls;
}

Calls reduce(const Tensors& tensors, int root, const ReduceOp& op) {
  Calls calls;
  for (const Tensor& t : tensors) calls.push_back(call(Kind::kReduce, t, t, t.numel(), root, op.kind));
  return calls;
}

Calls broadcast(const Tensors& tensors, int root) {
  Calls calls;
  for (const Tensor& t : tensors) calls.push_back(call(Kind::kBroadcast, t, t, t.numel(), root));
  return calls;
}

Calls all_gather(const Tensor& input, const Tensors& outputs, int rank) {
  Calls calls;
  for (int r = 0; r < static_cast<int>(outputs.size()); ++r) {
    const Tensor& out = outputs[static_cast<size_t>(r)];
    calls.push_back(call(Kind::kBroadcast, r == rank ? input : out, out, out.numel(), r));
  }
  return calls;
}

Calls all_gather_into(const Tensor& input, const Tensor& output) {
  return {call(Kind::kAllGather, input, output, input.numel())};
}

Calls gather(const Tensor& input, const Tensors& outputs, int root) {
  Calls calls;
  send(calls, input, root);
  for (size_t r = 0; r < outputs.size(); ++r) receive(calls, outputs[r], static_cast<int>(r));
  return calls;
}

Calls scatter(const Tensors& inputs, const Tensor& output, int root) {
  Calls calls;
  for (size_t r = 0; r < inputs.size(); ++r) send(calls, inputs[r], static_cast<int>(r));
  receive(calls, output, root);
  return calls;
}

Calls reduce_scatter(const Tensors& inputs, const Tensor& output, int rank, const ReduceOp& op) {
  Calls calls;
  for (int r = 0; r < static_cast<int>(inputs.size()); ++r) {
    const Tensor& in = inputs[static_cast<size_t>(r)];
    calls.push_back(call(Kind::kReduce, in, r == rank ? output : in, in.numel(), r, op.kind));
  }
  return calls;
}

Calls reduce_scatter_from(const Tensor& input, const Tensor& output, const ReduceOp& op) {
  return {call(Kind::kReduceScatter, input, output, output.numel(), 0, op.kind)};
}

Calls all_to_all(const Tensors& inputs, const Tensors& outputs) {
  Calls calls;
  for (size_t r = 0; r < inputs.size(); ++r) send(calls, inputs[r], static_cast<int>(r));
  for (size_t r = 0; r < outputs.size(); ++r) receive(calls, outputs[r], static_cast<int>(r));
  return calls;
}

}  // namespace argand::parallel::device_calls
