// Checks that all ranks make the same call.
#pragma once
#include <string>

#include "argand/parallel/channel.h"

namespace argand::parallel {

// A call of a rank: "all_reduce(SUM, float32 [2, 3])", its line in the program, and its number among the group's calls.
struct Call {
  std::string text;  // the same on all ranks, or the call is wrong
  std::string site;  // "train.py:12", or empty
  uint64_t number = 0;
};
std::string to_string(const Call& call);  // "all_reduce(...) at train.py:12, call 7 of the group"

// Sends this rank's call to the next rank and compares the call from the rank before: if any two ranks differ, two
// neighbours differ.  The others may go on, so messages of different calls must have different tags.
class CallCheck {
 public:
  // Starts the exchange.  `channel` depends only on the number of the call.
  CallCheck(Channel& channel, const Call& call);
  // Throws ValueError with both calls if they differ.
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
