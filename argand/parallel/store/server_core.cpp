#include "argand/parallel/store/server_core.h"

namespace argand::parallel {

using wire::Op;
using wire::Reply;
using wire::Request;
using wire::Status;

namespace {

constexpr int64_t kLongestMs = int64_t{1} << 40;  // 34 years: no sum with now() overflows

StoreTable::Stored text(const std::string& s) { return std::make_shared<const Store::Value>(s.begin(), s.end()); }

bool may_wait(const Request& request) {
  switch (request.op) {
    case Op::kGet:
    case Op::kMultiGet:
    case Op::kWait:
    case Op::kWaitCount:
      return true;
    case Op::kPop:
      return request.number != 0;
    default:
      return false;
  }
}

}  // namespace

void ServerCore::handle(Client client, Request request, Clock::time_point now) {
  if (!may_wait(request)) {
    const Reply reply = answer(request);
    send_(client, reply);
    for (const std::string& key : request.keys) wake(key);
    return;
  }
  Waiter waiter;
  if (request.timeout_ms > 0)
    waiter.deadline = now + std::chrono::milliseconds(std::min(request.timeout_ms, kLongestMs));
  waiter.request = std::move(request);
  if (const std::optional<Reply> reply = try_answer(waiter)) return send_(client, *reply);
  if (waiter.deadline) deadlines_.emplace(*waiter.deadline, client);
  enqueue(client, waiters_.emplace(client, std::move(waiter)).first->second);
}

Reply ServerCore::answer(const Request& request) {
  Reply reply;
  try {
    switch (request.op) {
      case Op::kSet:
        table_.set(request.keys[0], request.values[0]);
        break;
      case Op::kAdd:
        reply.number = table_.add(request.keys[0], request.number);
        break;
      case Op::kCheck:
        reply.number = table_.has_all(request.keys);
        break;
      case Op::kCompareSet:
        reply.values = {table_.compare_set(request.keys[0], request.values[0], request.values[1])};
        break;
      case Op::kDelete:
        reply.number = table_.erase(request.keys[0]);
        break;
      case Op::kNumKeys:
        reply.number = table_.size();
        break;
      case Op::kListKeys:
        for (const std::string& key : table_.keys()) reply.values.push_back(text(key));
        break;
      case Op::kAppend:
        table_.append(request.keys[0], request.values[0]);
        break;
      case Op::kMultiSet:
        for (size_t i = 0; i < request.keys.size(); ++i) table_.set(request.keys[i], request.values[i]);
        break;
      case Op::kPush:
        table_.push(request.keys[0], request.values[0]);
        break;
      case Op::kPop:
        if (StoreTable::Stored value = table_.pop(request.keys[0]))
          reply.values = {std::move(value)};
        else
          reply.status = Status::kQueueEmpty;
        break;
      case Op::kQueueLen:
        reply.number = table_.queue_size(request.keys[0]);
        break;
      default:
        ARGAND_ASSERT(false, "request ", static_cast<int>(request.op));
    }
  } catch (const ValueError& e) {
    reply = {Status::kValueError, 0, {text(e.what())}};
  }
  return reply;
}

// Whether each key was set at some time, and all of them are set now.
bool ServerCore::all_there(Waiter& waiter) {
  const std::vector<std::string>& keys = waiter.request.keys;
  const bool values = waiter.request.op != Op::kWait;
  const auto there = [&](const std::string& key) { return values ? table_.get(key) != nullptr : table_.has(key); };
  for (int round = 0; round < 2; ++round) {
    while (waiter.found < keys.size() && there(keys[waiter.found])) ++waiter.found;
    if (waiter.found < keys.size()) return false;
    if (round == 0) waiter.found = 0;  // one of them may have been deleted since
  }
  return true;
}

std::optional<Reply> ServerCore::try_answer(Waiter& waiter) {
  const std::vector<std::string>& keys = waiter.request.keys;
  Reply reply;
  switch (waiter.request.op) {
    case Op::kPop:
      return try_pop(waiter);
    case Op::kWaitCount: {
      waiter.found = 0;
      try {
        reply.number = table_.number(keys[0]);
      } catch (const ValueError& e) {
        return Reply{Status::kValueError, 0, {text(e.what())}};
      }
      if (reply.number < waiter.request.number) return std::nullopt;
      return reply;
    }
    default:
      break;
  }
  if (!all_there(waiter)) return std::nullopt;
  if (waiter.request.op != Op::kWait)
    for (const std::string& key : keys) reply.values.push_back(table_.get(key));
  return reply;
}

std::optional<Reply> ServerCore::try_pop(Waiter& waiter) {
  waiter.found = 0;
  StoreTable::Stored value = table_.pop(waiter.request.keys[0]);
  if (!value) return std::nullopt;
  return Reply{Status::kOk, 0, {std::move(value)}};
}

void ServerCore::enqueue(Client client, Waiter& waiter) {
  waiter.key = waiter.request.keys[waiter.found];
  std::list<Client>& queue = queues_[waiter.key];
  waiter.place = queue.insert(queue.end(), client);
}

void ServerCore::forget(Client client, bool queued) {
  const auto it = waiters_.find(client);
  if (it == waiters_.end()) return;
  const Waiter& waiter = it->second;
  if (waiter.deadline) deadlines_.erase({*waiter.deadline, client});
  if (queued) {
    const auto queue = queues_.find(waiter.key);
    queue->second.erase(waiter.place);
    if (queue->second.empty()) queues_.erase(queue);
  }
  waiters_.erase(it);
}

void ServerCore::leave(Client client) { forget(client, true); }

// Retries the requests at the head of the queue, as long as values are left.
void ServerCore::wake(const std::string& key) {
  const auto it = queues_.find(key);
  if (it == queues_.end()) return;
  std::list<Client> woken = std::move(it->second);
  queues_.erase(it);
  while (!woken.empty() && table_.has(key)) {
    const Client client = woken.front();
    woken.pop_front();
    Waiter& waiter = waiters_.at(client);
    if (const std::optional<Reply> reply = try_answer(waiter)) {
      forget(client, false);
      send_(client, *reply);
    } else {
      enqueue(client, waiter);
    }
  }
  if (!woken.empty()) queues_[key].splice(queues_[key].begin(), woken);
}

std::optional<ServerCore::Clock::time_point> ServerCore::next_deadline() const {
  if (deadlines_.empty()) return std::nullopt;
  return deadlines_.begin()->first;
}

void ServerCore::expire(Clock::time_point now) {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    const Client client = deadlines_.begin()->second;
    forget(client, true);
    send_(client, {Status::kTimeout, 0, {}});
  }
}

}  // namespace argand::parallel
