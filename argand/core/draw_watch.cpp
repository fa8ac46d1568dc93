#include "argand/core/draw_watch.h"

namespace argand {

static thread_local DrawWatch* innermost = nullptr;
// While an op draws, further draws that it is made of are not draws of their own.
static thread_local bool drawing = false;

DrawWatch::DrawWatch() : outer_(innermost) { innermost = this; }
DrawWatch::~DrawWatch() { innermost = outer_; }
bool DrawWatch::active() { return innermost && !drawing; }

void announce_draw(GeneratorImpl& generator) {
  for (DrawWatch* watch = innermost; watch; watch = watch->outer_) watch->before_draw(generator);
}

void announce_parameters(std::span<const Tensor> parameters) {
  for (DrawWatch* watch = innermost; watch; watch = watch->outer_) watch->check_parameters(parameters);
}

void DrawWatch::fill_within(DrawWatch* watch, const Tensor& out, const DrawCall& call, const Draw& draw) {
  if (!watch) {
    struct Scope {
      Scope() { drawing = true; }
      ~Scope() { drawing = false; }
    } const scope;
    return draw(out, call);
  }
  watch->fill(out, call, [&](const Tensor& t, const DrawCall& c) { fill_within(watch->outer_, t, c, draw); });
}

void fill_watched(const Tensor& out, const DrawCall& call, const DrawWatch::Draw& draw) {
  DrawWatch::fill_within(innermost, out, call, draw);
}

}  // namespace argand
