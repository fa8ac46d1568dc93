// Messages between the processes of a world, in host memory.  An engine (argand/runtime/gloo, argand/runtime/mpi) is a
// separate library that registers itself when it is opened; argand/parallel uses it through this interface only.
#pragma once
#include <cstdint>
#include <exception>
#include <memory>
#include <string>

#include "argand/base/error.h"

namespace argand {

// The types of failures between processes.  All are DistributedError.
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
// A process of the group has ended, is stopped or is unreachable; rank() is its rank in the world.
class PeerLost : public BackendError {
 public:
  PeerLost(std::string message, int rank) : BackendError(std::move(message)), rank_(rank) {}
  int rank() const { return rank_; }

 private:
  int rank_;
};

// A message in transit.  Its memory must stay valid until wait() has returned or this is destroyed; after that it is
// not accessed.
class Transfer {
 public:
  virtual ~Transfer() = default;
  // Waits until the message has arrived, or its memory may be reused.  Returns the rank at the other end.  Throws
  // PeerLost for that rank if its connection is closed, and after an abort its reason.
  virtual int wait() = 0;
};

class Transport {
 public:
  static constexpr int kAnyRank = -1;
  virtual ~Transport() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // Tags have 31 bits.  Messages of one tag between two ranks arrive in the order in which they were sent; `bytes` may
  // be 0.  Both ends must give the same number of bytes.  Thread-safe.
  virtual std::unique_ptr<Transfer> send(const void* data, size_t bytes, int to, uint32_t tag) = 0;
  virtual std::unique_ptr<Transfer> receive(void* data, size_t bytes, int from, uint32_t tag) = 0;
  // Makes every unfinished and every later transfer throw `reason`.  Only the first call counts.  Never waits.
  virtual void abort(std::exception_ptr reason) = 0;
};

// How the ranks of a new transport exchange their addresses: the interface of a store, for lower layers.
class Rendezvous {
 public:
  virtual ~Rendezvous() = default;
  virtual void set(const std::string& key, const std::string& value) = 0;
  virtual std::string get(const std::string& key) = 0;  // waits until it is set; StoreError after the store's timeout
};

struct TransportOptions {
  int rank = 0, size = 1;  // negative: the engine knows, if its own launcher started the processes
  // Where to listen: a name or an address of this host, or a network interface.  Both empty: the host's own name.
  std::string host, interface;
};

// Makes a transport.  lib/libargand_NAME.so registers its function under the backend's name when it is opened.
using MakeTransport = std::unique_ptr<Transport> (*)(Rendezvous&, const TransportOptions&);
void register_transport(const std::string& backend, MakeTransport make);
// Opens the library if needed.  NotImplementedError, with the message of the system's loader, if that fails.
MakeTransport find_transport(const std::string& backend);

}  // namespace argand
