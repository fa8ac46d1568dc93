// Random numbers within a function that runs once for each slice, or once for all (without a SlicesScope): the Python
// package's vmap does the latter and uses it to refuse draws.
//
// Note [Draws of slices]
// Where PyTorch's vmap draws different numbers for the slices, an op draws once, into a tensor of all slices.  The same
// numbers come out here: when the first slice draws, the numbers of all slices are drawn at once, and the later slices
// take theirs from what was kept.  A slice's draws are told apart by their order.  A slice that draws something else at
// a place, because its values made it take another way, draws by itself.  So does every slice if a parameter of the
// distribution is a tensor whose elements are not known for all slices when the first one runs; the numbers are then
// different ones for each slice, but not PyTorch's if the function draws more than once.
//
// Where all slices get the same numbers, the generators are set back before each slice.
#pragma once
#include <optional>
#include <vector>

#include "argand/base/shared.h"
#include "argand/core/draw_watch.h"
#include "argand/exec/slices.h"

namespace argand::exec {

class ARGAND_SHARED SliceDraws final : public DrawWatch {
 public:
  enum class Randomness : uint8_t { kError, kSame, kDifferent };
  // A tensor that the function gets slices of, along `dim`.
  struct Mapped {
    Tensor tensor;
    int64_t dim;
    uint32_t version = 0;
  };
  // `slices` tells which tensors differ between the slices; it outlives the object.  Null: the function runs once.
  SliceDraws(Randomness randomness, const SlicesScope* slices, int64_t count, std::vector<Mapped> mapped);

  // Call it before each call of the function except the first.
  void next_slice();

  void before_draw(GeneratorImpl& generator) override;
  void check_parameters(std::span<const Tensor> parameters) override;
  void fill(const Tensor& out, const DrawCall& call, const Draw& draw) override;
  size_t next_draw() const override { return next_; }
  void set_next_draw(size_t n) override { next_ = n; }

 private:
  struct State {
    intrusive_ptr<GeneratorImpl> generator;
    std::vector<uint8_t> state;
  };
  struct Kept {
    DrawCall::Kind kind;
    Tensor all;                // of all slices; undefined: each slice drew by itself
    std::vector<State> after;  // of the generators that it was drawn from
  };
  void refuse() const;
  void note(std::vector<State>& states, GeneratorImpl& generator);
  void fill_same(const Tensor& out, const DrawCall& call, const Draw& draw);
  void draw_all(Kept& kept, const Tensor& out, const DrawCall& call, const Draw& draw);
  std::optional<Tensor> all_of(const Tensor& t, bool elements) const;
  Tensor new_all(const Tensor& out, const Tensor& like, bool in_place) const;

  const Randomness randomness_;
  const SlicesScope* const slices_;
  const int64_t count_;
  std::vector<Mapped> mapped_;
  int64_t slice_ = 0;
  // kSame: the generators before the first draw, and where the outer scopes were.
  std::vector<State> before_;
  std::vector<size_t> outer_draws_;
  // kDifferent
  std::vector<Kept> kept_;
  size_t next_ = 0;
  std::vector<GeneratorImpl*>* drawing_ = nullptr;  // those that numbers of all slices are drawn from
};

}  // namespace argand::exec
