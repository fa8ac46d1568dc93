#include "argand/parallel/call_check.h"

#include <algorithm>
#include <cstring>

#include "argand/base/hash.h"
#include "argand/parallel/tags.h"

namespace argand::parallel {
static constexpr int kStep = kMostSteps - 1;  // a step of the channel; the steps of collectives count from 0

std::string to_string(const Call& call) {
  return str(call.text, call.site.empty() ? "" : " at ", call.site, ", call ", call.number, " of the group");
}

uint64_t hash_of(const Call& call) { return argand::hash_of(call.text, call.number); }

CallCheck::CallCheck(Channel& channel, const Call& call)
    : rank_(channel.rank()), before_((channel.rank() + channel.size() - 1) % channel.size()) {
  mine_.hash = hash_of(call);
  const std::string text = to_string(call);
  std::memcpy(mine_.text, text.data(), std::min(text.size(), sizeof mine_.text - 1));
  transfers_.add(channel.receive(&theirs_, sizeof theirs_, before_, kStep));
  transfers_.add(channel.send(&mine_, sizeof mine_, (channel.rank() + 1) % channel.size(), kStep));
}

void CallCheck::finish() {
  transfers_.wait();
  theirs_.text[sizeof theirs_.text - 1] = 0;
  ARGAND_CHECK(ValueError, theirs_.hash == mine_.hash, "the ranks of the group call different things: rank ", rank_,
               " calls ", mine_.text, "; rank ", before_, " calls ", theirs_.text);
}

}  // namespace argand::parallel
