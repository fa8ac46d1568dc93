// Observers of random draws by ops.  vmap uses one to forbid draws, or to give each slice the same numbers.
#pragma once
#include "argand/core/generator.h"

namespace argand {

// While an object lives, each draw of an op on the thread that made it is announced to it.  The objects are scopes: the
// last one made is destroyed first.
class DrawWatch {
 public:
  DrawWatch();
  virtual ~DrawWatch();
  DrawWatch(const DrawWatch&) = delete;
  DrawWatch& operator=(const DrawWatch&) = delete;
  // Called before the numbers are taken, without the generator's mutex.  What it throws, the op throws.
  virtual void before_draw(GeneratorImpl& generator) = 0;

 private:
  friend void announce_draw(GeneratorImpl& generator);
  DrawWatch* outer_;
};

// Ops call this when the calling thread is about to take numbers from the generator.
void announce_draw(GeneratorImpl& generator);

}  // namespace argand
