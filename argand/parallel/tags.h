// The tags of messages: 31 bits, as many as MPI has.
//
//   collectives   0 | group 12 | call 14 | step 4    a hash of the call; its number where calls are compared.  Messages
//   of
//                                                    one tag between two ranks stay in order, and so do the calls of a
//                                                    group, so two calls may have one tag
//   messages      1 | hash of group and tag 29 | 0   their headers, which hold group and tag in full
//                 1 | number of the message 29 | 1   their contents
#pragma once
#include <cstdint>

#include "argand/base/hash.h"

namespace argand::parallel {

constexpr uint64_t kMostGroups = 1 << 12;
constexpr int kMostSteps = 1 << 4;

constexpr uint32_t collective_tag(uint64_t group, uint64_t call) {
  return static_cast<uint32_t>((group % kMostGroups) << 18 | (call % (1 << 14)) << 4);
}
inline uint32_t header_tag(uint64_t group, int tag) {
  const uint64_t hash = hash_combine(group, static_cast<uint32_t>(tag));
  return 1u << 30 | static_cast<uint32_t>(hash % (1 << 29)) << 1;
}
constexpr uint32_t content_tag(uint64_t number) {
  return 1u << 30 | static_cast<uint32_t>(number % (1 << 29)) << 1 | 1;
}

}  // namespace argand::parallel
