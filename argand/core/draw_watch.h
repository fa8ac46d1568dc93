// Who wants to know when ops draw random numbers: vmap, which may refuse it or give each slice the same.
#pragma once
#include "argand/core/generator.h"

namespace argand {

// While one is there, the thread that made it tells it of each draw that an op makes on that thread.  Scopes: the last
// one made goes first.
class DrawWatch {
 public:
  DrawWatch();
  virtual ~DrawWatch();
  DrawWatch(const DrawWatch&) = delete;
  DrawWatch& operator=(const DrawWatch&) = delete;
  // Before the numbers are taken.  The mutex of the generator is not held.  What it throws, the op throws.
  virtual void before_draw(GeneratorImpl& generator) = 0;

 private:
  friend void announce_draw(GeneratorImpl& generator);
  DrawWatch* outer_;
};

// For ops: the calling thread is about to take numbers from this generator.
void announce_draw(GeneratorImpl& generator);

}  // namespace argand
