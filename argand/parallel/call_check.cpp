#include "argand/parallel/call_check.h"

#include <algorithm>
#include <cstring>

#include "argand/base/hash.h"
#include "argand/parallel/tags.h"

namespace argand::parallel {
namespace {

constexpr int kStep = kMostSteps - 1;  // of the channel; the steps of collectives count from 0

// What is sent: of one size, whatever the call.
struct Letter {
  uint64_t hash = 0;
  char text[504] = {};  // ends with 0; a long one is cut
};
static_assert(sizeof(Letter) == 512);

}  // namespace

std::string to_string(const Call& call) {
  return str(call.text, call.site.empty() ? "" : " at ", call.site, ", call ", call.number, " of the group");
}

void check_call(Channel& channel, const Call& call) {
  const int size = channel.size(), next = (channel.rank() + 1) % size, before = (channel.rank() + size - 1) % size;
  Letter mine, theirs;
  mine.hash = hash_of(call.text);
  const std::string text = to_string(call);
  std::memcpy(mine.text, text.data(), std::min(text.size(), sizeof mine.text - 1));
  Transfers transfers;
  transfers.add(channel.receive(&theirs, sizeof theirs, before, kStep));
  transfers.add(channel.send(&mine, sizeof mine, next, kStep));
  transfers.wait();
  theirs.text[sizeof theirs.text - 1] = 0;
  ARGAND_CHECK(ValueError, theirs.hash == mine.hash, "the ranks of the group call different things: rank ",
               channel.rank(), " calls ", mine.text, "; rank ", before, " calls ", theirs.text);
}

}  // namespace argand::parallel
