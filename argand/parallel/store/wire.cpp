#include "argand/parallel/store/wire.h"

#include <limits>

namespace argand::parallel::wire {
namespace {

using Value = Store::Value;
constexpr size_t kCopied = 4096;  // values up to this size are copied into the message

template <class T>
void put(Value& out, T number) {
  const auto bits = static_cast<std::make_unsigned_t<T>>(number);
  for (size_t i = 0; i < sizeof(T); ++i) out.push_back(static_cast<uint8_t>(uint64_t{bits} >> (8 * i)));
}

template <class T>
T read(const uint8_t* data) {
  uint64_t bits = 0;
  for (size_t i = 0; i < sizeof(T); ++i) bits |= uint64_t{data[i]} << (8 * i);
  return static_cast<T>(bits);
}

template <class Text>
void put_text(Value& out, const Text& text) {
  put(out, static_cast<uint32_t>(text.size()));
  out.insert(out.end(), text.begin(), text.end());
}

class Reader {
 public:
  Reader(const uint8_t* data, size_t bytes) : data_(data), left_(bytes) {}

  template <class T>
  T number() {
    need(sizeof(T));
    const T value = read<T>(data_);
    skip(sizeof(T));
    return value;
  }
  template <class Text>
  Text text() {
    const size_t bytes = number<uint32_t>();
    need(bytes);
    Text text(data_, data_ + bytes);
    skip(bytes);
    return text;
  }
  template <class Text>
  std::vector<Text> texts() {
    const size_t count = number<uint32_t>();
    ARGAND_CHECK(parallel::wire::WireError, count <= left_ / sizeof(uint32_t), "store: a message announces ", count,
                 " texts and ends after ", left_, " bytes");
    std::vector<Text> all;
    all.reserve(count);
    for (size_t i = 0; i < count; ++i) all.push_back(text<Text>());
    return all;
  }
  void end() const {
    ARGAND_CHECK(parallel::wire::WireError, left_ == 0, "store: a message has ", left_, " bytes too many");
  }

 private:
  void need(size_t bytes) const {
    ARGAND_CHECK(parallel::wire::WireError, bytes <= left_, "store: a message lacks ", bytes - left_, " bytes");
  }
  void skip(size_t bytes) {
    data_ += bytes;
    left_ -= bytes;
  }
  const uint8_t* data_;
  size_t left_;
};

// How many keys and values a request has: `many` stands for any number, `same` for as many values as keys.
struct Shape {
  int keys, values;
};
constexpr int kMany = -1, kSame = -2;

Shape shape_of(Op op) {
  switch (op) {
    case Op::kHello:
      return {1, 1};
    case Op::kProof:
      return {0, 1};
    case Op::kSet:
    case Op::kAppend:
    case Op::kPush:
      return {1, 1};
    case Op::kGet:
    case Op::kAdd:
    case Op::kWaitCount:
    case Op::kDelete:
    case Op::kPop:
    case Op::kQueueLen:
      return {1, 0};
    case Op::kCheck:
    case Op::kWait:
    case Op::kMultiGet:
      return {kMany, 0};
    case Op::kCompareSet:
      return {1, 2};
    case Op::kNumKeys:
    case Op::kListKeys:
      return {0, 0};
    case Op::kMultiSet:
      return {kMany, kSame};
  }
  ARGAND_THROW(parallel::wire::WireError, "store: no request has the number ", static_cast<int>(op));
}

size_t bytes_of(const Request& request) {
  size_t bytes = 1 + 8 + 8 + 4 + 4;
  for (const std::string& key : request.keys) bytes += 4 + key.size();
  for (const Value& value : request.values) bytes += 4 + value.size();
  return bytes;
}

void check_length(size_t bytes) {
  ARGAND_CHECK(ValueError, bytes <= kMaxMessage, "TCPStore: expected a message of at most ", kMaxMessage,
               " bytes, got ", bytes);
}

}  // namespace

Request parse_request(const uint8_t* data, size_t bytes) {
  Reader reader(data, bytes);
  Request request;
  request.op = static_cast<Op>(reader.number<uint8_t>());
  const Shape shape = shape_of(request.op);
  request.number = reader.number<int64_t>();
  request.timeout_ms = reader.number<int64_t>();
  ARGAND_CHECK(parallel::wire::WireError, request.timeout_ms >= 0, "store: a request has the timeout ",
               request.timeout_ms, " ms");
  request.keys = reader.texts<std::string>();
  request.values = reader.texts<Value>();
  reader.end();
  const size_t values = shape.values == kSame ? request.keys.size() : static_cast<size_t>(shape.values);
  ARGAND_CHECK(parallel::wire::WireError,
               (shape.keys == kMany || request.keys.size() == static_cast<size_t>(shape.keys)) &&
                   request.values.size() == values,
               "store: request ", static_cast<int>(request.op), " has ", request.keys.size(), " keys and ",
               request.values.size(), " values");
  return request;
}

Reply parse_reply(const uint8_t* data, size_t bytes) {
  Reader reader(data, bytes);
  Reply reply;
  const auto status = reader.number<uint8_t>();
  ARGAND_CHECK(parallel::wire::WireError, status <= static_cast<uint8_t>(Status::kRefused),
               "store: no reply has the status ", int{status});
  reply.status = static_cast<Status>(status);
  reply.number = reader.number<int64_t>();
  for (Value& value : reader.texts<Value>()) reply.values.push_back(std::make_shared<const Value>(std::move(value)));
  reader.end();
  return reply;
}

Value encode(const Request& request) {
  const size_t bytes = bytes_of(request);
  check_length(bytes);
  Value out;
  out.reserve(4 + bytes);
  put(out, static_cast<uint32_t>(bytes));
  put(out, static_cast<uint8_t>(request.op));
  put(out, request.number);
  put(out, request.timeout_ms);
  put(out, static_cast<uint32_t>(request.keys.size()));
  for (const std::string& key : request.keys) put_text(out, key);
  put(out, static_cast<uint32_t>(request.values.size()));
  for (const Value& value : request.values) put_text(out, value);
  return out;
}

Parts encode(const Reply& reply) {
  size_t bytes = 1 + 8 + 4;
  for (const StoreTable::Stored& value : reply.values) bytes += 4 + value->size();
  check_length(bytes);
  Parts parts;
  Value head;
  put(head, static_cast<uint32_t>(bytes));
  put(head, static_cast<uint8_t>(reply.status));
  put(head, reply.number);
  put(head, static_cast<uint32_t>(reply.values.size()));
  for (const StoreTable::Stored& value : reply.values) {
    if (value->size() <= kCopied) {
      put_text(head, *value);
      continue;
    }
    put(head, static_cast<uint32_t>(value->size()));
    parts.push_back(std::make_shared<const Value>(std::move(head)));
    parts.push_back(value);
    head.clear();
  }
  if (!head.empty()) parts.push_back(std::make_shared<const Value>(std::move(head)));
  return parts;
}

std::optional<MessageBuffer::Message> MessageBuffer::next() {
  constexpr size_t kKept = 4096;  // a buffer that was larger is given back when it is empty
  if (begin_ == bytes_.size()) {
    bytes_.clear();
    begin_ = 0;
    if (bytes_.capacity() > kKept) bytes_.shrink_to_fit();
  }
  if (size() < sizeof(uint32_t)) return std::nullopt;
  const size_t length = read<uint32_t>(bytes_.data() + begin_);
  ARGAND_CHECK(parallel::wire::WireError, length > 0 && length <= limit_, "store: expected a message of 1 to ", limit_,
               " bytes, got ", length);
  if (size() - sizeof(uint32_t) < length) {
    if (begin_ > 0) {
      bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<ptrdiff_t>(begin_));
      begin_ = 0;
    }
    return std::nullopt;
  }
  const Message message{bytes_.data() + begin_ + sizeof(uint32_t), length};
  begin_ += sizeof(uint32_t) + length;
  return message;
}

}  // namespace argand::parallel::wire
