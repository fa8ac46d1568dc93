// Do all ranks make the same call?
#pragma once
#include <string>

#include "argand/parallel/channel.h"

namespace argand::parallel {

// A call of a rank: "all_reduce(SUM, float32 [2, 3])", the line it stands in, and its number among the group's calls.
struct Call {
  std::string text;  // the same on all ranks, or the call is wrong
  std::string site;  // "train.py:12", or empty
  uint64_t number = 0;
};
std::string to_string(const Call& call);  // "all_reduce(...) at train.py:12, call 7 of the group"

// Tells the next rank of this one's call and compares that of the one before: where any two ranks differ, two
// neighbours do.  The others may go on, so messages of different calls must have different tags.
class CallCheck {
 public:
  // On its way.  `channel` is of the number of the call alone.
  CallCheck(Channel& channel, const Call& call);
  // ValueError with both calls.
  void finish();

 private:
  // The message that two neighbours exchange.  Its size does not depend on the call.
  struct Letter {
    uint64_t hash = 0;
    char text[504] = {};  // ends with 0; a long one is cut
  };
  static_assert(sizeof(Letter) == 512);

  const int rank_, before_;
  Letter mine_, theirs_;
  Transfers transfers_;
};
uint64_t hash_of(const Call& call);

}  // namespace argand::parallel
