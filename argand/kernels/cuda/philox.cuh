// Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011).
#pragma once

namespace argand {

// As in runtime/cuda/graph.h.
struct PhiloxNumbers {
  unsigned long long seed, offset;
  const unsigned long long* state;

  // Writes where they begin, as a `state` for numbers that are drawn again.
  __device__ __forceinline__ void keep(unsigned long long* to) const {
    to[0] = state ? state[0] : seed;
    to[1] = offset + (state ? state[1] : 0);
  }
};

// The stream of one thread: its number is the upper half of the counter, the round the lower one.
class Philox {
 public:
  // Offsets count numbers, of which a round makes four.
  __device__ __forceinline__ Philox(const PhiloxNumbers& n, unsigned long long thread)
      : seed_(n.state ? n.state[0] : n.seed), thread_(thread), round_((n.offset + (n.state ? n.state[1] : 0)) / 4) {}

  // Four numbers of 32 bits.
  __device__ __forceinline__ uint4 next() {
    uint4 c = {unsigned(round_), unsigned(round_ >> 32), unsigned(thread_), unsigned(thread_ >> 32)};
    unsigned key0 = unsigned(seed_), key1 = unsigned(seed_ >> 32);
    ++round_;
#pragma unroll
    for (int i = 0; i < 10; ++i) {
      const unsigned high0 = __umulhi(0xD2511F53u, c.x), low0 = 0xD2511F53u * c.x;
      const unsigned high1 = __umulhi(0xCD9E8D57u, c.z), low1 = 0xCD9E8D57u * c.z;
      c = {high1 ^ c.y ^ key0, low1, high0 ^ c.w ^ key1, low0};
      key0 += 0x9E3779B9u;
      key1 += 0xBB67AE85u;
    }
    return c;
  }

 private:
  unsigned long long seed_, thread_, round_;
};

}  // namespace argand
