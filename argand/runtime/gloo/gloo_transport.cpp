// Messages by Gloo's TCP transport.  Only its unbound buffers are used: docs/design/0014-process-groups.md.
#include <gloo/common/error.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>
#include <ifaddrs.h>
#include <sys/socket.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_set>
#include <vector>

#include "argand/runtime/gloo/connections.h"
#include "argand/runtime/transport.h"

namespace argand {
namespace {

using gloo_engine::Connections;

// Messages wait for as long as the group says.
constexpr std::chrono::milliseconds kForever = std::chrono::hours(24 * 365);

class GlooTransfer;

// The transfers that are not done, so that an abort reaches them, and its reason afterwards.
struct Pending {
  std::mutex mutex;
  std::unordered_set<GlooTransfer*> transfers;
  std::exception_ptr reason;
};

// It is posted when the ranks are connected; one from any rank at once, for whoever sends connects.
class GlooTransfer final : public Transfer, private Connections::Waiting {
 public:
  GlooTransfer(Connections& connections, std::shared_ptr<Pending> pending, void* data, size_t bytes, bool sends,
               int peer, uint32_t tag)
      : connections_(connections),
        buffer_(connections.context().createUnboundBuffer(bytes == 0 ? &nothing_ : data, bytes)),
        pending_(std::move(pending)),
        sends_(sends),
        peer_(peer),
        to_(peer),
        tag_(tag) {
    {
      const std::lock_guard lock(pending_->mutex);
      if (pending_->reason) std::rethrow_exception(pending_->reason);
      pending_->transfers.insert(this);
    }
    try {
      if (peer == Transport::kAnyRank) {
        connected();
      } else {
        connections_.when_connected(peer, *this);
      }
    } catch (...) {
      leave();
      throw;
    }
  }
  ~GlooTransfer() override {
    leave();
    if (to_ != Transport::kAnyRank && !posted_) connections_.forget(to_, *this);
  }

  int wait() override {
    if (done_) return peer_;
    throw_if_failed();
    bool completed = false;
    try {
      completed = sends_ ? buffer_->waitSend(&peer_, kForever) : buffer_->waitRecv(&peer_, kForever);
    } catch (const gloo::Exception& e) {
      throw_if_failed();
      throw PeerLost(str("the connection to rank ", peer_, " was closed"), peer_);
    }
    if (!completed) throw_if_failed();
    done_ = true;
    leave();
    return peer_;
  }

  void abort() {  // under the lock
    if (sends_) {
      buffer_->abortWaitSend();
    } else {
      buffer_->abortWaitRecv();
    }
  }

 private:
  void connected() override {
    try {
      if (sends_) {
        buffer_->send(to_, tag_);
      } else if (to_ != Transport::kAnyRank) {
        buffer_->recv(to_, tag_);
      } else {
        std::vector<int> others;
        for (int r = 0; r < connections_.context().size; ++r)
          if (r != connections_.context().rank) others.push_back(r);
        buffer_->recv(others, tag_);
      }
    } catch (const gloo::Exception& e) {
      fail(std::make_exception_ptr(PeerLost(str("the connection to rank ", to_, " was closed"), to_)));
    }
    posted_ = true;
  }
  void not_connected(const std::exception_ptr& why) noexcept override { fail(why); }
  void fail(const std::exception_ptr& why) noexcept {
    const std::lock_guard lock(pending_->mutex);
    failure_ = why;
    abort();
  }

  void throw_if_failed() {
    const std::lock_guard lock(pending_->mutex);
    if (pending_->reason) std::rethrow_exception(pending_->reason);
    if (failure_) std::rethrow_exception(failure_);
  }
  void leave() {
    const std::lock_guard lock(pending_->mutex);
    pending_->transfers.erase(this);
  }

  static inline char nothing_;  // an address for messages of no bytes

  Connections& connections_;
  const std::unique_ptr<gloo::transport::UnboundBuffer> buffer_;
  const std::shared_ptr<Pending> pending_;
  const bool sends_;
  int peer_;  // at the other end, as far as that is known
  const int to_;
  const uint32_t tag_;
  std::atomic<bool> posted_{false};
  bool done_ = false;
  std::exception_ptr failure_;  // under the lock
};

class GlooTransport final : public Transport {
 public:
  GlooTransport(Rendezvous& rendezvous, const TransportOptions& options) : rank_(options.rank), size_(options.size) {
    gloo::transport::tcp::attr attr;
    attr.hostname = options.host;
    attr.iface = options.interface;
    attr = gloo::transport::tcp::CreateDeviceAttr(attr);
    gloo_engine::SocketAddress address;
    address.storage = attr.ai_addr;
    address.length = static_cast<socklen_t>(attr.ai_addrlen);
    connections_.emplace(rendezvous, options, *gloo::transport::tcp::CreateDevice(attr), address);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  std::unique_ptr<Transfer> send(const void* data, size_t bytes, int to, uint32_t tag) override {
    return std::make_unique<GlooTransfer>(*connections_, pending_, const_cast<void*>(data), bytes, true, to, tag);
  }
  std::unique_ptr<Transfer> receive(void* data, size_t bytes, int from, uint32_t tag) override {
    return std::make_unique<GlooTransfer>(*connections_, pending_, data, bytes, false, from, tag);
  }
  std::string trouble() override { return connections_->trouble(); }

  void abort(std::exception_ptr reason) override {
    connections_->stop();
    const std::lock_guard lock(pending_->mutex);
    if (pending_->reason) return;
    pending_->reason = std::move(reason);
    for (GlooTransfer* transfer : pending_->transfers) transfer->abort();
  }

 private:
  const int rank_, size_;
  std::optional<Connections> connections_;
  const std::shared_ptr<Pending> pending_ = std::make_shared<Pending>();
};

void check_interface(const std::string& name) {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> list(first, &::freeifaddrs);
  std::set<std::string> names;
  for (const ifaddrs* each = first; each; each = each->ifa_next)
    if (each->ifa_addr && (each->ifa_addr->sa_family == AF_INET || each->ifa_addr->sa_family == AF_INET6))
      names.insert(each->ifa_name);
  std::string all;
  for (const std::string& each : names) all += str(all.empty() ? "" : ", ", each);
  ARGAND_CHECK(ValueError, names.count(name), "gloo: GLOO_SOCKET_IFNAME: expected one interface of this host (", all,
               "), got '", name, "'");
}

std::unique_ptr<Transport> make(Rendezvous& rendezvous, const TransportOptions& options) {
  if (!options.interface.empty()) check_interface(options.interface);
  try {
    return std::make_unique<GlooTransport>(rendezvous, options);
  } catch (const std::exception& e) {
    if (dynamic_cast<const Error*>(&e)) throw;
    throw NetworkError(
        str("gloo: rank ", options.rank, " of ", options.size, " could not join the others: ", e.what()));
  }
}

[[maybe_unused]] const bool registered = (register_transport("gloo", &make), true);

}  // namespace
}  // namespace argand
