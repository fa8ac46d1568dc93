// The Mersenne Twister MT19937 of Matsumoto and Nishimura (ACM TOMACS 8, 1998), 32-bit output, seeded as in their 2002
// revision.  Not thread safe.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace argand {

class Mt19937 {
 public:
  static constexpr int kWords = 624;

  // The state of a saved engine.  `position` words of the current block are used; 0 means that the block is the seed,
  // from which the first block is still to be made.
  struct State {
    std::array<uint32_t, kWords> words;
    int position = 0;
  };

  explicit Mt19937(uint32_t seed) {
    uint32_t w = seed;
    for (int i = 0; i < kWords; ++i) {
      state_.words[static_cast<size_t>(i)] = w;
      w = 1812433253u * (w ^ (w >> 30)) + static_cast<uint32_t>(i) + 1u;
    }
  }
  explicit Mt19937(const State& state) : state_(state) {}
  const State& state() const { return state_; }

  uint32_t operator()() {
    if (block_is_used_up()) make_block();
    return temper(state_.words[static_cast<size_t>(state_.position++)]);
  }

  // The next `n` outputs: the same as `n` calls, several times faster.
  void fill(uint32_t* out, size_t n) {
    while (n > 0) {
      if (block_is_used_up()) make_block();
      const size_t take = std::min(n, static_cast<size_t>(kWords - state_.position));
      const uint32_t* words = state_.words.data() + state_.position;
      for (size_t i = 0; i < take; ++i) out[i] = temper(words[i]);
      state_.position += static_cast<int>(take);
      out += take;
      n -= take;
    }
  }

  // As `n` calls.
  void discard(uint64_t n) {
    while (n > 0) {
      if (block_is_used_up()) make_block();
      const uint64_t take = std::min(n, static_cast<uint64_t>(kWords - state_.position));
      state_.position += static_cast<int>(take);
      n -= take;
    }
  }

 private:
  static constexpr int kShift = 397;

  bool block_is_used_up() const { return state_.position == 0 || state_.position == kWords; }

  static uint32_t temper(uint32_t y) {
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }

  static uint32_t twist(uint32_t upper, uint32_t lower) {
    const uint32_t y = (upper & 0x80000000u) | (lower & 0x7fffffffu);
    return (y >> 1) ^ ((0u - (y & 1u)) & 0x9908b0dfu);
  }

  // The recurrence in three loops without index arithmetic modulo kWords, so that the compiler vectorises them.
  void make_block() {
    uint32_t* w = state_.words.data();
    for (int i = 0; i < kWords - kShift; ++i) w[i] = w[i + kShift] ^ twist(w[i], w[i + 1]);
    for (int i = kWords - kShift; i < kWords - 1; ++i) w[i] = w[i + kShift - kWords] ^ twist(w[i], w[i + 1]);
    w[kWords - 1] = w[kShift - 1] ^ twist(w[kWords - 1], w[0]);
    state_.position = 0;
  }

  State state_;
};

}  // namespace argand
