// Messages between the processes of a world, in host memory.  An engine (argand/runtime/gloo, argand/runtime/mpi) is a
// library of its own that registers itself when it is opened; argand/parallel knows it only here.
#pragma once
#include <cstdint>
#include <exception>
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

// A message on its way.  Its memory must stay until wait() returned or this is destroyed, after which nobody touches
// it.
class Transfer {
 public:
  virtual ~Transfer() = default;
  // Waits until the message is there, or its memory may be used again; the rank at the other end.  Throws PeerLost for
  // that rank if its connection is closed, and after an abort its reason.
  virtual int wait() = 0;
};

class Transport {
 public:
  static constexpr int kAnyRank = -1;
  virtual ~Transport() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // Tags have 31 bits.  Messages of one tag between two ranks arrive in the order in which they were sent; `bytes` may
  // be 0.  Both ends must give one number of bytes.  Safe from any thread.
  virtual std::unique_ptr<Transfer> send(const void* data, size_t bytes, int to, uint32_t tag) = 0;
  virtual std::unique_ptr<Transfer> receive(void* data, size_t bytes, int from, uint32_t tag) = 0;
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
  int rank = 0, size = 1;  // negative: as the engine says, if its processes were started by its own launcher
  // What to listen at: a name or an address of this host, or a network interface.  Both empty: the host's own name.
  std::string host, interface;
};

// What makes a transport, by the backend's name.  lib/libargand_NAME.so registers its own when it is opened.
using MakeTransport = std::unique_ptr<Transport> (*)(Rendezvous&, const TransportOptions&);
void register_transport(const std::string& backend, MakeTransport make);
// Opens the library if it has to.  NotImplementedError, with what the system's loader says, if it cannot.
MakeTransport find_transport(const std::string& backend);

}  // namespace argand
