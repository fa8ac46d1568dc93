#include "argand/parallel/store/tcp_store.h"

#include <algorithm>

#include "argand/parallel/store/prefix_store.h"
#include "argand/parallel/store/tcp_client.h"
#include "argand/parallel/store/tcp_server.h"

namespace argand::parallel {

using wire::Op;
using wire::Reply;
using wire::Request;
using wire::Status;
using Clock = std::chrono::steady_clock;

namespace {

constexpr auto kLongest = std::chrono::milliseconds(int64_t{1} << 40);
constexpr auto kGrace = std::chrono::seconds(5);  // the server tells when a wait is over; it may be late by so much
constexpr auto kLeast = std::chrono::seconds(1);  // for the answer to a request that waits for nothing
// The keys by which stores are counted have no slash; programs' keys begin with one.
const std::string kInit = "init/";

std::string on_server(const std::string& key) { return "/" + key; }
std::vector<std::string> on_server(std::vector<std::string> keys) {
  for (std::string& key : keys) key.insert(0, "/");
  return keys;
}

Store::Value only(const Reply& reply) {
  ARGAND_CHECK(NetworkError, reply.values.size() == 1, "TCPStore: expected a reply with one value, got ",
               reply.values.size());
  return *reply.values[0];
}

}  // namespace

TCPStore::TCPStore(std::string host, const TCPStoreOptions& options)
    : Store(options.timeout), host_(std::move(host)), port_(options.port), generation_(fork_generation()) {
  ARGAND_CHECK(ValueError, options.num_workers.value_or(1) > 0, "TCPStore world size cannot be 0");
  ARGAND_CHECK(ValueError, options.is_server || port_ != 0, "TCPStore: expected the port of the server, got 0");
  if (options.is_server) {
    server_ = TcpServer::start(host_, port_, options.multi_tenant, options.master_listen_fd);
    port_ = server_->port();
  }
  client_ = std::make_unique<TcpClient>(host_, port_);
  client_->connect(timeout());
  if (options.num_workers && options.wait_workers) wait_for_workers(*options.num_workers);
}

TCPStore::TCPStore(const TCPStore& other)
    : Store(other.timeout()),
      host_(other.host_),
      port_(other.port_),
      server_(other.server_),
      client_(std::make_unique<TcpClient>(host_, port_)),
      generation_(fork_generation()) {
  client_->connect(timeout());
}

TCPStore::~TCPStore() {
  // In a child, this may be in an inconsistent state, because another thread of the parent was using it.
  if (generation_ != fork_generation()) (void)client_.release();
}

std::shared_ptr<Store> TCPStore::clone() { return std::shared_ptr<Store>(new TCPStore(*this)); }

void TCPStore::wait_for_workers(size_t num_workers) {
  ask({Op::kAdd, 1, 0, {kInit}, {}});
  if (!server_) return;
  const auto workers = static_cast<int64_t>(num_workers);
  try {
    await({Op::kWaitCount, workers, 0, {kInit}, {}}, timeout());
  } catch (const StoreError&) {
    const Value joined = only(ask({Op::kGet, 0, 1, {kInit}, {}}));
    throw StoreError(str("Timed out after ", std::chrono::ceil<std::chrono::seconds>(timeout()).count(),
                         " seconds waiting for clients. ", std::string(joined.begin(), joined.end()), "/", workers,
                         " clients joined."));
  }
}

std::string TCPStore::local_address() { return client().local_address(timeout()); }

// Note [Sockets after fork]
TcpClient& TCPStore::client() {
  if (generation_ != fork_generation()) {
    const std::lock_guard lock(fork_mutex());
    if (generation_ != fork_generation()) {
      (void)client_.release();  // its thread may have been in the midst of a call, in the parent
      client_ = std::make_unique<TcpClient>(host_, port_);
      generation_ = fork_generation();
    }
  }
  return *client_;
}

Reply TCPStore::ask(const Request& request) {
  const Timeout limit = std::min(timeout(), kLongest);
  const Deadline deadline = limit == kNoTimeout ? Deadline::max() : Clock::now() + std::max<Timeout>(limit, kLeast);
  Reply reply = client().call(request, deadline, limit);
  switch (reply.status) {
    case Status::kOk:
      return reply;
    case Status::kValueError: {
      const Value reason = only(reply);
      throw ValueError(std::string(reason.begin(), reason.end()));
    }
    case Status::kQueueEmpty:
      throw QueueEmptyError("queue is empty");
    default:
      ARGAND_THROW(NetworkError, "TCPStore: the server gave the status ", static_cast<int>(reply.status));
  }
}

Reply TCPStore::await(Request request, Timeout timeout) {
  const Timeout limit = std::min(timeout, kLongest);
  request.timeout_ms = limit < kNoTimeout ? 1 : limit.count();  // one that is over already
  const Deadline deadline = limit == kNoTimeout ? Deadline::max() : Clock::now() + limit + kGrace;
  Reply reply = client().call(request, deadline, limit);
  if (reply.status == Status::kTimeout) throw StoreError(wait_timeout_message(limit, request.keys));
  if (reply.status == Status::kValueError) {
    const Value reason = only(reply);
    throw ValueError(std::string(reason.begin(), reason.end()));
  }
  ARGAND_CHECK(NetworkError, reply.status == Status::kOk, "TCPStore: the server gave the status ",
               static_cast<int>(reply.status));
  return reply;
}

void TCPStore::set(const std::string& key, const Value& value) { ask({Op::kSet, 0, 0, {on_server(key)}, {value}}); }

Store::Value TCPStore::get(const std::string& key) {
  return only(await({Op::kGet, 0, 0, {on_server(key)}, {}}, timeout()));
}

int64_t TCPStore::add(const std::string& key, int64_t amount) {
  return ask({Op::kAdd, amount, 0, {on_server(key)}, {}}).number;
}

bool TCPStore::check(const std::vector<std::string>& keys) {
  return ask({Op::kCheck, 0, 0, on_server(keys), {}}).number != 0;
}

void TCPStore::wait(const std::vector<std::string>& keys, Timeout timeout) {
  await({Op::kWait, 0, 0, on_server(keys), {}}, timeout);
}

Store::Value TCPStore::compare_set(const std::string& key, const Value& expected, const Value& desired) {
  return only(ask({Op::kCompareSet, 0, 0, {on_server(key)}, {expected, desired}}));
}

bool TCPStore::delete_key(const std::string& key) { return ask({Op::kDelete, 0, 0, {on_server(key)}, {}}).number != 0; }

int64_t TCPStore::num_keys() { return ask({Op::kNumKeys, 0, 0, {}, {}}).number; }

std::vector<std::string> TCPStore::list_keys() {
  const Reply reply = ask({Op::kListKeys, 0, 0, {}, {}});
  std::vector<std::string> keys;
  for (const StoreTable::Stored& key : reply.values)
    if (!key->empty() && key->front() == '/') keys.emplace_back(key->begin() + 1, key->end());
  return keys;
}

void TCPStore::append(const std::string& key, const Value& value) {
  ask({Op::kAppend, 0, 0, {on_server(key)}, {value}});
}

std::vector<Store::Value> TCPStore::multi_get(const std::vector<std::string>& keys) {
  const Reply reply = await({Op::kMultiGet, 0, 0, on_server(keys), {}}, timeout());
  ARGAND_CHECK(NetworkError, reply.values.size() == keys.size(), "TCPStore: expected ", keys.size(), " values, got ",
               reply.values.size());
  std::vector<Value> values;
  for (const StoreTable::Stored& value : reply.values) values.push_back(*value);
  return values;
}

void TCPStore::multi_set(const std::vector<std::string>& keys, const std::vector<Value>& values) {
  check_multi_set(keys.size(), values.size());
  ask({Op::kMultiSet, 0, 0, on_server(keys), values});
}

void TCPStore::queue_push(const std::string& key, const Value& value) {
  ask({Op::kPush, 0, 0, {on_server(key)}, {value}});
}

Store::Value TCPStore::queue_pop(const std::string& key, bool block) {
  if (block) return only(await({Op::kPop, 1, 0, {on_server(key)}, {}}, timeout()));
  return only(ask({Op::kPop, 0, 0, {on_server(key)}, {}}));
}

int64_t TCPStore::queue_len(const std::string& key) { return ask({Op::kQueueLen, 0, 0, {on_server(key)}, {}}).number; }

TCPStore* tcp_store_behind(Store& store) {
  Store* behind = &store;
  while (const auto* const prefix = dynamic_cast<PrefixStore*>(behind)) behind = prefix->underlying_store().get();
  return dynamic_cast<TCPStore*>(behind);
}

}  // namespace argand::parallel
