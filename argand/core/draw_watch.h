// Observers of random draws by ops.  vmap uses one to forbid draws, to give each slice the same numbers, or to draw the
// numbers of all slices at once.
#pragma once
#include <functional>
#include <span>

#include "argand/core/generator.h"
#include "argand/core/tensor.h"

namespace argand {

// Describes a draw: from which distribution an op draws, and into which kind of tensor.
struct DrawCall {
  // The distribution.  Two calls that are equal here and have no `parameters` draw the same numbers into tensors of the
  // same shape, dtype and layout from a generator in the same state.
  struct Kind {
    const char* name;
    double a = 0, b = 0;
    int64_t from = 0;
    uint64_t range = 0;
    const GeneratorImpl* generator = nullptr;  // null: the default one of the device
    friend bool operator==(const Kind&, const Kind&) = default;
  };
  Kind kind;
  // Tensors whose elements are parameters of the distributions.
  std::span<const Tensor> parameters = {};
  // The tensor that is written in place, or whose layout the result has.  Undefined for any other new tensor.
  Tensor like = {};
  bool in_place = false;
};

// While an object lives, each draw of an op on the thread that made it is announced to it.  The objects are scopes: the
// last one made is destroyed first.
class DrawWatch {
 public:
  DrawWatch();
  virtual ~DrawWatch();
  DrawWatch(const DrawWatch&) = delete;
  DrawWatch& operator=(const DrawWatch&) = delete;
  // Whether a draw is to go through fill_watched().
  static bool active();
  // Called before the numbers are taken, without the generator's mutex.  What it throws, the op throws.
  virtual void before_draw(GeneratorImpl& generator) = 0;
  // Called before an op draws from distributions that have these parameters, and before it checks its arguments.
  virtual void check_parameters(std::span<const Tensor>) {}
  // Fills `out`.  `draw` draws into any tensor, with the numbers of the generator that come next.
  using Draw = std::function<void(const Tensor& out, const DrawCall& call)>;
  virtual void fill(const Tensor& out, const DrawCall& call, const Draw& draw) { draw(out, call); }
  // For an inner scope that draws the same numbers again: which draw of this scope comes next.
  virtual size_t next_draw() const { return 0; }
  virtual void set_next_draw(size_t) {}
  DrawWatch* outer() const { return outer_; }

 private:
  friend void announce_draw(GeneratorImpl& generator);
  friend void announce_parameters(std::span<const Tensor> parameters);
  friend void fill_watched(const Tensor& out, const DrawCall& call, const Draw& draw);
  static void fill_within(DrawWatch* watch, const Tensor& out, const DrawCall& call, const Draw& draw);
  DrawWatch* outer_;
};

// Ops call this when the calling thread is about to take numbers from the generator.
void announce_draw(GeneratorImpl& generator);
// The tensors whose elements are parameters of an op that is about to draw.
void announce_parameters(std::span<const Tensor> parameters);
// Fills `out` as the scopes want it, the innermost first.
void fill_watched(const Tensor& out, const DrawCall& call, const DrawWatch::Draw& draw);

}  // namespace argand
