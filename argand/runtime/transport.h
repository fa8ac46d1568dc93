// Messages between the processes of a world, in host memory.  An engine (argand/runtime/gloo, argand/runtime/mpi) is a
// library of its own that registers itself when it is opened; argand/parallel knows it only here.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "argand/base/error.h"

namespace argand {

// What a failure between processes is.  All are DistributedError.
class StoreError : public DistributedError {
 public:
  using DistributedError::DistributedError;
};
class NetworkError : public DistributedError {
 public:
  using DistributedError::DistributedError;
};
class BackendError : public DistributedError {
 public:
  using DistributedError::DistributedError;
};
// A process of the group is gone, stopped or unreachable; rank() is its number in the world.
class PeerLost : public BackendError {
 public:
  PeerLost(std::string message, int rank) : BackendError(std::move(message)), rank_(rank) {}
  int rank() const { return rank_; }

 private:
  int rank_;
};

// A message on its way.  Its memory must stay until wait() returned or threw; the destructor waits for an abort.
class Transfer {
 public:
  virtual ~Transfer() = default;
  // Waits until the memory may be used again; the rank at the other end.  Throws PeerLost for the rank at the other end
  // if its connection is closed, and what abort() was given after that.
  virtual int wait() = 0;
  virtual bool done() = 0;  // wait() would not wait
};

class Transport {
 public:
  static constexpr int kAnyRank = -1;
  virtual ~Transport() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // Messages of one tag between two ranks arrive in the order in which they were sent; `bytes` may be 0.  Both ends
  // must give one number of bytes.  Safe from any thread.
  virtual std::unique_ptr<Transfer> send(const void* data, size_t bytes, int to, uint64_t tag) = 0;
  virtual std::unique_ptr<Transfer> receive(void* data, size_t bytes, int from, uint64_t tag) = 0;
  // Every transfer that is not done, and every later one, throws `reason`.  The first call counts.  Never waits.
  virtual void abort(std::exception_ptr reason) = 0;
};

// How the ranks of a new transport exchange their addresses: a store, for what is below it.
class Rendezvous {
 public:
  virtual ~Rendezvous() = default;
  virtual void set(const std::string& key, const std::string& value) = 0;
  virtual std::string get(const std::string& key) = 0;  // waits until it is set; StoreError after the store's timeout
};

struct TransportOptions {
  int rank = 0, size = 1;
  std::chrono::milliseconds timeout{std::chrono::minutes(30)};  // of connecting
  std::string interface;  // the network interface or the address to listen at; empty: of this host's name
};

// An engine's entry.  The library lib/libargand_NAME.so calls register_engine when it is opened.
struct TransportEngine {
  std::unique_ptr<Transport> (*make)(Rendezvous&, const TransportOptions&) = nullptr;
};
void register_engine(const char* name, TransportEngine engine);
// Opens the library if it has to.  NotImplementedError, with the reason of the system's loader, if it cannot.
const TransportEngine& find_engine(const std::string& name);
bool has_engine(const std::string& name) noexcept;

}  // namespace argand
