// Running one pointwise call at once, and the choice between that and waiting in the window.
#include <algorithm>

#include "argand/exec/bytes_read.h"
#include "argand/exec/copy.h"
#include "argand/exec/place.h"
#include "argand/exec/program_runner.h"
#include "argand/exec/recover.h"
#include "argand/exec/window.h"
#include "argand/kernels/cpu/gather.h"
#include "argand/kernels/cpu/tile.h"
#include "argand/runtime/cpu/thread_pool.h"
#include "argand/runtime/current_op.h"

namespace argand::exec {
namespace {

// ---- overlap

struct ByteRange {
  int64_t begin, end;
};

ByteRange bytes_of(const Tensor& t) {
  int64_t last = t.storage_offset();
  for (size_t d = 0; d < t.sizes().size(); ++d) last += (t.sizes()[d] - 1) * t.strides()[d];
  return {t.storage_offset() * t.itemsize(), (last + 1) * t.itemsize()};
}

// Whether writing `out` element by element could change an element of `in` that is read later.
bool partly_overlaps(const Tensor& out, const Tensor& in) {
  if (out.storage() != in.storage() || out.numel() == 0 || in.numel() == 0) return false;
  const ByteRange a = bytes_of(out), b = bytes_of(in);
  if (a.end <= b.begin || b.end <= a.begin) return false;
  const bool same_place = out.storage_offset() == in.storage_offset() && out.dtype() == in.dtype() &&
                          out.sizes() == in.sizes() && out.strides() == in.strides();
  return !same_place;
}

// ---- the path of contiguous tensors: no plan, no allocation

struct Tiles {
  static constexpr int64_t kBytes = cpu::kTile * 16;
  alignas(64) char bytes[kMaxInputs + 1][kBytes];
};
Tiles& thread_tiles() {
  thread_local std::unique_ptr<Tiles> tiles = std::make_unique<Tiles>();
  return *tiles;
}

class ContiguousRun {
 public:
  // False if an operand is neither contiguous over the whole shape nor a single element.
  bool prepare(const PointwiseCall& call) {
    call_ = &call;
    const Tensor& out = *call.out;
    if (!out.impl().contiguous) return false;
    compute_ = call.compute;
    for (int i = 0; i < call.num_inputs; ++i) {
      const TensorImpl& in = call.inputs[i]->impl();
      constant_[i] = in.numel() == 1 && out.numel() != 1;
      if (!constant_[i] && !(in.contiguous && in.numel() == out.numel())) return false;
      direct_ &= !constant_[i] && in.dtype == compute_;
      in_[i] = static_cast<const char*>(in.data());
    }
    direct_ &= out.dtype() == compute_;
    out_ = static_cast<char*>(out.impl().data());
    pack_scalars(call.scalars, call.info->num_scalars, compute_, params_);
    return true;
  }

  void run() const {
    const int64_t n = call_->out->numel();
    if (n <= cpu::kTileGrain) return range(0, n);
    parallel_for(0, n, cpu::kTileGrain, [this](int64_t begin, int64_t end) { range(begin, end); });
  }

 private:
  void range(int64_t begin, int64_t end) const {
    const cpu::LoopFn loop = call_->info->loops[compute_index(compute_)];
    const int64_t item = element_size(compute_);
    const void* ins[kMaxInputs];
    if (direct_) {
      for (int i = 0; i < call_->num_inputs; ++i) ins[i] = in_[i] + begin * item;
      return loop(out_ + begin * item, ins, params_, end - begin);
    }
    Tiles& tiles = thread_tiles();
    fill_constants(tiles, std::min(cpu::kTile, end - begin));
    const ScalarType out_type = call_->out->dtype();
    for (int64_t at = begin; at < end; at += cpu::kTile) {
      const int64_t n = std::min(cpu::kTile, end - at);
      for (int i = 0; i < call_->num_inputs; ++i) ins[i] = input_tile(i, at, n, tiles);
      char* place = out_ + at * element_size(out_type);
      char* result = out_type == compute_ ? place : tiles.bytes[kMaxInputs];
      loop(result, ins, params_, n);
      if (result != place) cpu::convert_elements(result, compute_, place, out_type, n);
    }
  }

  const void* input_tile(int i, int64_t at, int64_t n, Tiles& tiles) const {
    if (constant_[i]) return tiles.bytes[i];
    const ScalarType type = call_->inputs[i]->dtype();
    const char* from = in_[i] + at * element_size(type);
    if (type == compute_) return from;
    cpu::convert_elements(from, type, tiles.bytes[i], compute_, n);
    return tiles.bytes[i];
  }

  void fill_constants(Tiles& tiles, int64_t n) const {
    for (int i = 0; i < call_->num_inputs; ++i) {
      if (!constant_[i]) continue;
      alignas(16) char one[16];
      cpu::convert_elements(in_[i], call_->inputs[i]->dtype(), one, compute_, 1);
      const int64_t stride = 0;
      cpu::gather(one, n, stride, element_size(compute_), 0, n, tiles.bytes[i]);
    }
  }

  const PointwiseCall* call_ = nullptr;
  ScalarType compute_ = kFloat;
  bool direct_ = true;
  bool constant_[kMaxInputs];
  const char* in_[kMaxInputs];
  char* out_ = nullptr;
  alignas(16) char params_[kMaxScalars * 16];
};

// ---- the general path

void run_program(const PointwiseCall& call) {
  const Tensor& out = *call.out;
  const CurrentOp current(call.info->name, {&out, 1});
  PointwiseProgram p;
  p.sizes = out.impl().sizes;
  ProgramStep step;
  step.body = call.info;
  step.compute = call.compute;
  pack_scalars(call.scalars, call.info->num_scalars, call.compute, step.scalars);
  for (int i = 0; i < call.num_inputs; ++i) {
    const Tensor& in = *call.inputs[i];
    step.ins.push_back(i);
    p.values.push_back({in.dtype(), in.impl().data(), expanded_strides(in.sizes(), in.strides(), out.sizes()), true,
                        false, in.is_cpu() && !out.is_cpu()});
  }
  step.out = call.num_inputs;
  p.values.push_back({out.dtype(), out.impl().data(), out.impl().strides, false, true});
  p.steps.push_back(step);
  const PlaceScope scope{Place(out.device())};
  program_runner(out.device().type())(p);
}

bool reads_its_output(const PointwiseCall& call) {
  return std::any_of(call.inputs, call.inputs + call.num_inputs,
                     [&](const Tensor* in) { return in->storage() == call.out->storage(); });
}

void start(const PointwiseCall& call) {
  if (!call.out->is_cpu()) return run_program(call);
  ContiguousRun run;
  if (run.prepare(call))
    run.run();
  else
    run_program(call);
}

void run_now(const PointwiseCall& call) {
  if (call.out->numel() == 0) return;
  if (call.out->storage()->lost() && !reads_its_output(call)) recover_overwritten(*call.out);
  start(call);
  check_bytes_read(
      [&](const auto& visit) {
        for (int i = 0; i < call.num_inputs; ++i) visit(*call.inputs[i]);
        visit(*call.out);
      },
      std::span(call.out, 1));
}

}  // namespace

void submit_pointwise(const PointwiseCall& given) {
  PointwiseCall call = given;
  Tensor copies[kMaxInputs];
  for (int i = 0; i < call.num_inputs; ++i) {
    if (!partly_overlaps(*call.out, *call.inputs[i])) continue;
    copies[i] = dense_clone(*call.inputs[i]);
    call.inputs[i] = &copies[i];
  }
  if (!window_takes(call)) run_now(call);
}

}  // namespace argand::exec
