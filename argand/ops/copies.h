// The parts of the generated definitions of permute_copy and similar ops (tools/generate/emit.py).
#pragma once
#include "argand/ops/node_name.h"

namespace argand::ops {

inline Tensor copied(const Tensor& view) { return view.clone(MemoryFormat::Contiguous); }
inline std::vector<Tensor> copied(std::vector<Tensor> views) {
  for (Tensor& view : views) view = copied(view);
  return views;
}

// Sample calls made from another op's samples; `convert` turns its arguments into this op's.
template <class From, class Args, class F>
void each_sample(const OpInfo& op, Samples<Args>& samples, F convert) {
  SampleSink theirs(op.name.c_str());
  op.samples(theirs);
  samples->traits_of(theirs);
  for (Sample& sample : theirs.samples()) {
    Args args = convert(*static_cast<From*>(sample.args->get()));
    if (!sample.error.empty())
      samples.fails(std::move(args), sample.error);
    else if (sample.gradient)
      samples.add(std::move(args));
    else
      samples.add_without_gradient(std::move(args));
  }
}

}  // namespace argand::ops
