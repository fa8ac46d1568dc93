// The messages between the clients and the server of a TCPStore, apart from sockets.
//
//   message = u32 n, n bytes                          all numbers little-endian
//   text    = u32 n, n bytes                          a key or a value
//   request = u8 op, i64 number, i64 timeout, u32 count, count x text: keys, u32 count, count x text: values
//   reply   = u8 status, i64 number, u32 count, count x text
//
// A client sends a request and waits for its reply before the next one.  `number` is the amount of add, the sum that
// wait_count waits for, and 1 for a queue_pop that waits; `timeout` is in milliseconds, 0 for none.  Replies:
//
//   get, compare_set, queue_pop  the value           check, delete_key           number 1 or 0
//   multi_get, list_keys         values, keys        add, num_keys, queue_len    number
//   refused                      the reason (what kind of fault is the status)
//
// A connection begins with the greeting:
//
//   client  hello  number = kVersion, keys {kMagic}, values {client nonce}
//   server  ok     {} where it has no secret, else {server nonce}
//   client  proof  values {HMAC-SHA-256(secret, "client" + server nonce + client nonce)}     only if asked for
//   server  ok     {HMAC-SHA-256(secret, "server" + server nonce + client nonce)}
//
// Until the greeting is over messages have at most kMaxGreeting bytes, later kMaxMessage.  Whoever sends anything else
// is disconnected.
#pragma once
#include <optional>
#include <string_view>

#include "argand/parallel/store/table.h"

namespace argand::parallel::wire {

inline constexpr int64_t kVersion = 1;
inline constexpr std::string_view kMagic = "argand-store";
inline constexpr size_t kNonceBytes = 32;
inline constexpr size_t kMaxGreeting = 128;
inline constexpr size_t kMaxMessage = size_t{1} << 30;

enum class Op : uint8_t {
  kHello = 1,
  kProof,
  kSet,
  kGet,
  kAdd,
  kCheck,
  kWait,
  kWaitCount,
  kCompareSet,
  kDelete,
  kNumKeys,
  kListKeys,
  kAppend,
  kMultiGet,
  kMultiSet,
  kPush,
  kPop,
  kQueueLen,
};

struct Request {
  Op op{};
  int64_t number = 0;
  int64_t timeout_ms = 0;
  std::vector<std::string> keys;
  std::vector<Store::Value> values;
};

enum class Status : uint8_t { kOk = 0, kTimeout, kQueueEmpty, kValueError, kRefused };

struct Reply {
  Status status = Status::kOk;
  int64_t number = 0;
  std::vector<StoreTable::Stored> values;
};

// A message that breaks the rules above.
class WireError : public Error {
 public:
  using Error::Error;
};

// Takes a message without its length.  WireError for anything that encode() would not have written.
Request parse_request(const uint8_t* data, size_t bytes);
Reply parse_reply(const uint8_t* data, size_t bytes);

// Returns a whole message.  ValueError if it is longer than kMaxMessage.
Store::Value encode(const Request& request);
// Large values are not copied: they follow as separate parts.
using Parts = std::vector<StoreTable::Stored>;
Parts encode(const Reply& reply);

// Splits the bytes of a connection, which arrive in pieces of any size, into messages.
class MessageBuffer {
 public:
  explicit MessageBuffer(size_t limit) : limit_(limit) {}
  void set_limit(size_t limit) { limit_ = limit; }
  void feed(const uint8_t* data, size_t bytes) { bytes_.insert(bytes_.end(), data, data + bytes); }
  // The next whole message without its length; the pointer is valid until the next call.  WireError as soon as a length
  // is 0 or above the limit, so that no more bytes are collected.
  struct Message {
    const uint8_t* data;
    size_t bytes;
  };
  std::optional<Message> next();
  size_t size() const { return bytes_.size() - begin_; }

 private:
  size_t limit_;
  Store::Value bytes_;
  size_t begin_ = 0;  // the start of the bytes that next() has not returned yet
};

}  // namespace argand::parallel::wire
