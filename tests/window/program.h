// Programs of the fuzz: lists of calls over numbered slots, which can be replayed and printed.
#pragma once
#include <string>
#include <vector>

#include "argand/core/tensor.h"

namespace argand::fuzz {

// A pointwise op in the forms that a program uses.
struct Op {
  const char* name;
  int inputs;  // tensors, the first of which the in-place form writes
  bool takes_number, takes_complex;
  Tensor (*call)(const Tensor* in, double x);
  void (*inplace)(const Tensor& self, const Tensor* in, double x);  // null: there is none
};
const std::vector<Op>& ops();

struct Call {
  enum Kind {
    kNew,        // a tensor of its own, filled with a pattern
    kBlob,       // from_blob: memory that the program owns
    kSlice,      // slice(dim a, from b to c, step d)
    kSelect,     // select(dim a, index b)
    kTranspose,  // transpose(a, b)
    kExpand,     // expand(sizes)
    kStrided,    // as_strided(sizes, strides, offset a)
    kCompute,    // op out of place
    kInplace,    // op in place on the first input
    kOut,        // add_out into the slot
    kCopy,       // copy_
    kFill,       // fill_
    kSum,        // a kernel (exact, whatever the layout): what it reads is issued first
    kDrop,       // the handle goes
    kExpose,     // data_ptr(), remembered
    kPoke,       // writes element b of exposed memory a from outside
    kPeek,       // reads exposed memory a from outside
    kRead,       // reads the bytes of a tensor
    kFlush,
  };
  Kind kind;
  int thread = 0;
  int out = -1;  // slot written
  int in[3] = {-1, -1, -1};
  int op = -1;  // in ops()
  ScalarType dtype = kFloat;
  Dims sizes = {}, strides = {};
  int64_t a = 0, b = 0, c = 0, d = 0;
  double x = 0;
};

inline constexpr int kThreads = 3;

struct Program {
  uint64_t seed = 0;
  std::vector<Call> calls;
  bool threaded() const;
};
std::string to_string(const Call& call);
std::string to_string(const Program& program);

// The observable results of a run: bytes read on the way and bytes of all storages at the end.
struct Seen {
  std::vector<std::string> label;
  std::vector<std::vector<char>> bytes;
  void add(std::string what, std::vector<char> value) {
    label.push_back(std::move(what));
    bytes.push_back(std::move(value));
  }
};
// "" if equal; else where they first differ.
std::string difference(const Seen& expected, const Seen& got);

// The i-th element of the pattern that fills new tensors: small numbers with fractions.
double pattern(int64_t i, double x);

}  // namespace argand::fuzz
