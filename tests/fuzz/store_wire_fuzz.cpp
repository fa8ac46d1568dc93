// libFuzzer's entry for the messages of TCPStore and the server behind them.  A second reader, written from the rules
// in wire.h, judges requests and replies; the server must answer each request once, and all of them in the end.
#include <map>

#include "argand/parallel/store/server_core.h"
#include "tests/fuzz/fuzz.h"

namespace argand::fuzz {

namespace {

using namespace parallel;

// Takes numbers and texts off the front; `good` tells whether all were there.
struct Taker {
  std::string_view left;
  bool good = true;

  int64_t number(size_t bytes) {
    uint64_t value = 0;
    good = good && left.size() >= bytes;
    if (!good) return 0;
    for (size_t i = bytes; i-- > 0;) value = value << 8 | static_cast<uint8_t>(left[i]);
    left.remove_prefix(bytes);
    return static_cast<int64_t>(value);
  }
  std::vector<std::string> texts() {
    std::vector<std::string> all;
    for (int64_t count = number(4); good && count > 0; --count) {
      const auto bytes = static_cast<size_t>(number(4));
      good = good && left.size() >= bytes;
      if (!good) break;
      all.emplace_back(left.substr(0, bytes));
      left.remove_prefix(bytes);
    }
    return all;
  }
  bool done() const { return good && left.empty(); }
};

// The numbers of keys and values by op: -1 any number, -2 as many as keys.
const std::map<int64_t, std::pair<int, int>> kShapes = {
    {1, {1, 1}},  {2, {0, 1}},   {3, {1, 1}},    {4, {1, 0}},  {5, {1, 0}},  {6, {-1, 0}},
    {7, {-1, 0}}, {8, {1, 0}},   {9, {1, 2}},    {10, {1, 0}}, {11, {0, 0}}, {12, {0, 0}},
    {13, {1, 1}}, {14, {-1, 0}}, {15, {-1, -2}}, {16, {1, 1}}, {17, {1, 0}}, {18, {1, 0}}};

bool judge_request(std::string_view input) {
  Taker taker{input};
  const int64_t op = taker.number(1);
  taker.number(8);
  const int64_t timeout = taker.number(8);
  const auto keys = static_cast<int>(taker.texts().size()), values = static_cast<int>(taker.texts().size());
  const auto shape = kShapes.find(op);
  if (!taker.done() || timeout < 0 || shape == kShapes.end()) return false;
  const auto [k, v] = shape->second;
  return (k == -1 || k == keys) && (v == -2 ? values == keys : values == v);
}

bool judge_reply(std::string_view input) {
  Taker taker{input};
  const int64_t status = taker.number(1);
  taker.number(8);
  taker.texts();
  return taker.done() && status <= 4;
}

const uint8_t* bytes_of(std::string_view input) { return reinterpret_cast<const uint8_t*>(input.data()); }

// Length and message.
bool is_message(const std::string& written, std::string_view input) {
  return written.size() == input.size() + 4 && std::string_view(written).substr(4) == input;
}

void request(std::string_view input) {
  wire::Request parsed;
  const auto read = [&] { parsed = wire::parse_request(bytes_of(input), input.size()); };
  if (!both_accept<wire::WireError>(judge_request(input), read)) return;
  const Store::Value again = wire::encode(parsed);
  if (!is_message({again.begin(), again.end()}, input)) disagree("a request is not written as it was read");
}

void reply(std::string_view input) {
  wire::Reply parsed;
  const auto read = [&] { parsed = wire::parse_reply(bytes_of(input), input.size()); };
  if (!both_accept<wire::WireError>(judge_reply(input), read)) return;
  std::string again;
  for (const auto& part : wire::encode(parsed)) again.append(part->begin(), part->end());
  if (!is_message(again, input)) disagree("a reply is not written as it was read");
}

// A stream of requests, in pieces, of several clients in turn; one byte before each says whose.
void server(std::string_view input) {
  std::map<ServerCore::Client, int> open;
  ServerCore core([&](ServerCore::Client client, const wire::Reply&) {
    if (--open[client] < 0) disagree("a reply to no request");
  });
  const ServerCore::Clock::time_point now{};
  std::map<ServerCore::Client, wire::MessageBuffer> buffers;
  while (input.size() > 2) {
    const ServerCore::Client client = static_cast<uint8_t>(input[0]) % 4;
    const size_t piece = std::min<size_t>(static_cast<uint8_t>(input[1]), input.size() - 2);
    wire::MessageBuffer& buffer = buffers.try_emplace(client, 512).first->second;
    buffer.feed(bytes_of(input) + 2, piece);
    input.remove_prefix(2 + piece);
    try {
      while (!core.waits(client)) {
        const auto message = buffer.next();
        if (!message) break;
        wire::Request request = wire::parse_request(message->data, message->bytes);
        if (request.op == wire::Op::kHello || request.op == wire::Op::kProof) throw wire::WireError("a greeting");
        ++accepted;
        ++open[client];
        core.handle(client, std::move(request), now);
        if ((open[client] == 1) != core.waits(client)) disagree("a request is neither answered nor waiting");
      }
    } catch (const wire::WireError&) {  // disconnected
      core.leave(client);
      open[client] = 0;
      buffers.erase(client);
    }
  }
  core.expire(now + std::chrono::hours(24 * 365 * 100));
  for (const auto& [client, count] : open)
    if ((count != 0) != core.waits(client)) disagree("a request was lost");
  for (ServerCore::Client client = 0; client < 4; ++client) core.leave(client);
  if (core.next_deadline()) disagree("a deadline of nobody");
}

}  // namespace

void store_wire(uint8_t option, std::string_view input) {
  if (option % 3 == 0) request(input);
  if (option % 3 == 1) reply(input);
  if (option % 3 == 2) server(input);
}

}  // namespace argand::fuzz
