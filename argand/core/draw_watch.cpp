#include "argand/core/draw_watch.h"

namespace argand {

static thread_local DrawWatch* innermost = nullptr;

DrawWatch::DrawWatch() : outer_(innermost) { innermost = this; }
DrawWatch::~DrawWatch() { innermost = outer_; }

void announce_draw(GeneratorImpl& generator) {
  for (DrawWatch* watch = innermost; watch; watch = watch->outer_) watch->before_draw(generator);
}

}  // namespace argand
