#include "argand/parallel/store/wire.h"

#include <gtest/gtest.h>

namespace argand::parallel::wire {
namespace {

using Value = Store::Value;

Value joined(const Parts& parts) {
  Value all;
  for (const StoreTable::Stored& part : parts) all.insert(all.end(), part->begin(), part->end());
  return all;
}

const Request kRequests[] = {{Op::kHello, kVersion, 0, {std::string(kMagic)}, {Value(kNonceBytes)}},
                             {Op::kAdd, -3, 0, {"key"}, {}},
                             {Op::kWait, 0, INT64_MAX, {"a", "", std::string("\0b", 2)}, {}},
                             {Op::kCompareSet, 0, 0, {"k"}, {{}, {1, 2}}},
                             {Op::kMultiSet, 0, 0, {"a", "b"}, {{1}, {}}},
                             {Op::kMultiSet, 0, 0, {}, {}},
                             {Op::kNumKeys, INT64_MIN, 0, {}, {}}};

TEST(Wire, RequestsComeBack) {
  for (const Request& request : kRequests) {
    const Value message = encode(request);
    const Request parsed = parse_request(message.data() + 4, message.size() - 4);
    EXPECT_EQ(parsed.op, request.op);
    EXPECT_EQ(parsed.number, request.number);
    EXPECT_EQ(parsed.timeout_ms, request.timeout_ms);
    EXPECT_EQ(parsed.keys, request.keys);
    EXPECT_EQ(parsed.values, request.values);
    EXPECT_EQ(encode(parsed), message);
  }
}

TEST(Wire, TheBytesOfARequest) {
  const Value message = encode(Request{Op::kSet, 1, 2, {"k"}, {{7}}});
  const Value expected{35, 0, 0, 0, 3, 1, 0, 0, 0, 0,   0, 0, 0, 2, 0, 0, 0, 0, 0, 0,
                       0,  1, 0, 0, 0, 1, 0, 0, 0, 'k', 1, 0, 0, 0, 1, 0, 0, 0, 7};
  EXPECT_EQ(message, expected);
}

TEST(Wire, RepliesComeBackAndLargeValuesAreNotCopied) {
  const auto large = std::make_shared<const Value>(100'000, uint8_t{5});
  const auto small = std::make_shared<const Value>(Value{1, 2});
  const Parts parts = encode(Reply{Status::kOk, -9, {small, large, small}});
  EXPECT_EQ(std::count(parts.begin(), parts.end(), large), 1);
  const Value message = joined(parts);
  const Reply parsed = parse_reply(message.data() + 4, message.size() - 4);
  EXPECT_EQ(parsed.number, -9);
  ASSERT_EQ(parsed.values.size(), 3u);
  EXPECT_EQ(*parsed.values[0], *small);
  EXPECT_EQ(*parsed.values[1], *large);
  EXPECT_EQ(*parsed.values[2], *small);
}

// Every prefix is refused, and so is a byte more, and every count that is too large.
TEST(Wire, WhatIsNoRequestIsRefused) {
  for (const Request& request : kRequests) {
    Value message = encode(request);
    for (size_t bytes = 0; bytes < message.size() - 4; ++bytes)
      EXPECT_THROW(parse_request(message.data() + 4, bytes), WireError) << bytes;
    message.push_back(0);
    EXPECT_THROW(parse_request(message.data() + 4, message.size() - 4), WireError);
  }
  Value message = encode(Request{Op::kWait, 0, 0, {"a"}, {}});
  for (size_t i = 0; i < 4; ++i) message[4 + 17 + i] = 255;  // the number of keys
  EXPECT_THROW(parse_request(message.data() + 4, message.size() - 4), WireError);
  for (const Request& wrong : {Request{Op::kGet, 0, 0, {}, {}}, Request{Op::kGet, 0, 0, {"a", "b"}, {}},
                               Request{Op::kMultiSet, 0, 0, {"a"}, {}}, Request{Op::kWait, 0, -1, {}, {}},
                               Request{Op{}, 0, 0, {}, {}}, Request{static_cast<Op>(200), 0, 0, {}, {}}}) {
    const Value bytes = encode(wrong);
    EXPECT_THROW(parse_request(bytes.data() + 4, bytes.size() - 4), WireError);
  }
}

TEST(Wire, MessagesMayComeInPieces) {
  Value all;
  for (const Request& request : kRequests) {
    const Value message = encode(request);
    all.insert(all.end(), message.begin(), message.end());
  }
  for (size_t piece = 1; piece < all.size(); ++piece) {
    MessageBuffer buffer(kMaxMessage);
    size_t count = 0;
    for (size_t at = 0; at < all.size(); at += piece) {
      buffer.feed(all.data() + at, std::min(piece, all.size() - at));
      while (const auto message = buffer.next())
        EXPECT_EQ(parse_request(message->data, message->bytes).keys, kRequests[count++].keys);
    }
    EXPECT_EQ(count, std::size(kRequests));
    EXPECT_EQ(buffer.size(), 0u);
  }
}

TEST(Wire, LengthsAreLimited) {
  const uint8_t huge[] = {0, 0, 0, 64}, none[] = {0, 0, 0, 0}, just[] = {128, 0, 0, 0}, over[] = {129, 0, 0, 0};
  const auto next = [](const uint8_t* bytes) {
    MessageBuffer buffer(kMaxGreeting);
    buffer.feed(bytes, 4);
    return buffer.next().has_value();
  };
  EXPECT_THROW(next(huge), WireError);
  EXPECT_THROW(next(none), WireError);
  EXPECT_THROW(next(over), WireError);
  EXPECT_FALSE(next(just));
}

}  // namespace
}  // namespace argand::parallel::wire
