#include "argand/exec/slice_draws.h"

#include <algorithm>
#include <mutex>

#include "argand/exec/copy.h"
#include "argand/exec/invoke.h"

namespace argand::exec {
namespace {

// The number of elements from the first one of the tensor to the last one, in memory.
int64_t span_of(IntArrayRef sizes, IntArrayRef strides) {
  int64_t span = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0) return 0;
    span += (sizes[d] - 1) * strides[d];
  }
  return span;
}

Dims with_slices(int64_t first, IntArrayRef rest) {
  Dims all{first};
  for (const int64_t n : rest) all.push_back(n);
  return all;
}

Tensor slice_of(const Tensor& all, int64_t i) {
  const Dims &sizes = all.impl().sizes, &strides = all.impl().strides;
  return alias(all, Dims(sizes.begin() + 1, sizes.end()), Dims(strides.begin() + 1, strides.end()),
               all.storage_offset() + i * strides[0]);
}

bool is_slice_like(const Tensor& all, const Tensor& t) {
  return all.dim() == t.dim() + 1 && all.dtype() == t.dtype() && all.device() == t.device() &&
         std::equal(t.sizes().begin(), t.sizes().end(), all.sizes().begin() + 1);
}

}  // namespace

SliceDraws::SliceDraws(Randomness randomness, const SlicesScope* slices, int64_t count, std::vector<Mapped> mapped)
    : randomness_(randomness), slices_(slices), count_(count), mapped_(std::move(mapped)) {
  for (Mapped& m : mapped_) m.version = m.tensor.is_inference() ? 0 : m.tensor._version();
  for (const DrawWatch* watch = outer(); watch; watch = watch->outer()) outer_draws_.push_back(watch->next_draw());
}

void SliceDraws::next_slice() {
  ++slice_;
  next_ = 0;
  if (randomness_ != Randomness::kSame) return;
  for (const State& s : before_) {
    const std::lock_guard lock(s.generator->mutex_);
    s.generator->set_state(s.state);
  }
  size_t i = 0;
  for (DrawWatch* watch = outer(); watch; watch = watch->outer()) watch->set_next_draw(outer_draws_[i++]);
}

void SliceDraws::refuse() const {
  ARGAND_CHECK(Error, randomness_ != Randomness::kError,
               "vmap: called random operation while in randomness error mode. Please either use the 'same' or "
               "'different' randomness flags on vmap or perform the randomness operation out of vmap");
}

void SliceDraws::note(std::vector<State>& states, GeneratorImpl& generator) {
  if (std::ranges::any_of(states, [&](const State& s) { return s.generator.get() == &generator; })) return;
  const std::lock_guard lock(generator.mutex_);
  states.push_back({intrusive_ptr<GeneratorImpl>(&generator), generator.state()});
}

void SliceDraws::before_draw(GeneratorImpl& generator) {
  refuse();
  if (randomness_ == Randomness::kSame) note(before_, generator);
  if (drawing_) drawing_->push_back(&generator);
}

void SliceDraws::check_parameters(std::span<const Tensor> parameters) {
  refuse();
  if (randomness_ != Randomness::kSame || !slices_) return;
  ARGAND_CHECK(Error, std::ranges::none_of(parameters, [&](const Tensor& t) { return slices_->differs(t); }),
               "Vmap does not currently support same randomness with a batched tensor input: the same numbers for "
               "parameters of a distribution that differ between the slices");
}

void SliceDraws::fill(const Tensor& out, const DrawCall& call, const Draw& draw) {
  check_parameters(call.parameters);
  if (randomness_ == Randomness::kSame) return fill_same(out, call, draw);
  if (!slices_ || count_ <= 1) return draw(out, call);
  const size_t place = next_++;
  if (place >= kept_.size() && slice_ == 0) {
    Kept kept{call.kind, {}, {}};
    draw_all(kept, out, call, draw);
    kept_.push_back(std::move(kept));
    if (!kept_.back().all.defined()) return;
  }
  if (place >= kept_.size()) return draw(out, call);
  const Kept& kept = kept_[place];
  if (!kept.all.defined() || kept.kind != call.kind || !is_slice_like(kept.all, out)) return draw(out, call);
  copy_elements(out, slice_of(kept.all, slice_));
  // An inner scope that draws the same numbers once more has set the generators back.
  if (slice_ != 0) return;
  for (const State& s : kept.after) {
    const std::lock_guard lock(s.generator->mutex_);
    s.generator->set_state(s.state);
  }
}

// Slices that are written in place get the numbers of a tensor of their own, which is contiguous.
void SliceDraws::fill_same(const Tensor& out, const DrawCall& call, const Draw& draw) {
  if (!call.in_place || out.is_contiguous() || !slices_ || !slices_->differs(call.like)) return draw(out, call);
  const Tensor own = new_tensor({out.impl().sizes, out.dtype()}, out.device());
  draw(own, {call.kind, call.parameters});
  copy_elements(out, own);
}

// Draws for all slices, or for this one alone if a parameter is not known for all of them.
void SliceDraws::draw_all(Kept& kept, const Tensor& out, const DrawCall& call, const Draw& draw) {
  std::vector<Tensor> parameters;
  for (const Tensor& t : call.parameters) {
    const std::optional<Tensor> all = all_of(t, true);
    if (!all) return draw(out, call);
    parameters.push_back(*all);
  }
  DrawCall of_all{call.kind, parameters};
  if (call.like.defined() && slices_->differs(call.like)) of_all.like = all_of(call.like, false).value_or(Tensor());
  of_all.in_place = call.in_place && of_all.like.defined();
  kept.all = new_all(out, of_all.like, call.in_place);
  std::vector<GeneratorImpl*> drawn_from;
  std::vector<GeneratorImpl*>* const outer_drawing = std::exchange(drawing_, &drawn_from);
  try {
    draw(kept.all, of_all);
  } catch (...) {
    drawing_ = outer_drawing;
    throw;
  }
  drawing_ = outer_drawing;
  for (GeneratorImpl* const g : drawn_from) note(kept.after, *g);
}

// All slices of a tensor as a view, if it is the same part of each slice of one tensor, or the same for all slices.
std::optional<Tensor> SliceDraws::all_of(const Tensor& t, bool elements) const {
  const Dims sizes = with_slices(count_, t.sizes());
  if (!slices_->differs(t)) return alias(t, sizes, with_slices(0, t.strides()), t.storage_offset());
  const Mapped* found = nullptr;
  for (const Mapped& m : mapped_) {
    if (!m.tensor.is_alias_of(t) || m.tensor.dtype() != t.dtype()) continue;
    if (found) return std::nullopt;  // there is no telling of which it is a slice
    found = &m;
  }
  if (!found) return std::nullopt;
  // The function may have changed this slice alone, so that the elements of the others are not known.
  if (elements && (found->tensor.is_inference() || found->tensor._version() != found->version)) return std::nullopt;
  const Dims strides = with_slices(found->tensor.strides()[found->dim], t.strides());
  const int64_t offset = t.storage_offset() - slice_ * strides[0];
  const int64_t end = (offset + span_of(sizes, strides)) * static_cast<int64_t>(t.itemsize());
  if (offset < 0 || end > static_cast<int64_t>(t.storage()->nbytes())) return std::nullopt;
  return alias(t, sizes, strides, offset);
}

// A tensor of all slices of `out`, laid out as that of `like` or, where there is none, slice by slice.
Tensor SliceDraws::new_all(const Tensor& out, const Tensor& like, bool in_place) const {
  const Dims sizes = with_slices(count_, out.sizes());
  Dims strides = with_slices(span_of(out.sizes(), out.strides()), out.strides());
  if (like.defined())
    strides = in_place ? with_slices(like.strides()[0], out.strides()) : strides_like(like.sizes(), like.strides());
  if (may_overlap_itself(sizes, strides)) strides = contiguous_strides(sizes);
  const Tensor memory = new_tensor({{span_of(sizes, strides)}, out.dtype()}, out.device());
  return alias(memory, sizes, strides, 0);
}

}  // namespace argand::exec
