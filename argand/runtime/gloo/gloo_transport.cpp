// Messages by Gloo's TCP transport.  Only its unbound buffers are used: docs/design/0014-process-groups.md.
#include <gloo/rendezvous/context.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>
#include <ifaddrs.h>
#include <sys/socket.h>

#include <memory>
#include <mutex>
#include <set>
#include <unordered_set>
#include <vector>

#include "argand/runtime/transport.h"

namespace argand {
namespace {

// Pairs connect within this time once all ranks are there; the group's timeout limits how long messages wait.
constexpr std::chrono::milliseconds kConnect = std::chrono::minutes(1);
constexpr std::chrono::milliseconds kForever = std::chrono::hours(24 * 365);

// The store that Gloo uses to connect.
class AddressStore final : public gloo::rendezvous::Store {
 public:
  explicit AddressStore(Rendezvous& rendezvous) : rendezvous_(rendezvous) {}
  void set(const std::string& key, const std::vector<char>& data) override {
    rendezvous_.set(key, std::string(data.begin(), data.end()));
  }
  std::vector<char> get(const std::string& key) override {
    const std::string value = rendezvous_.get(key);
    return {value.begin(), value.end()};
  }
  void wait(const std::vector<std::string>& keys) override {
    for (const std::string& key : keys) rendezvous_.get(key);
  }

 private:
  Rendezvous& rendezvous_;
};

class GlooTransfer;

// The unfinished transfers, so that an abort reaches them, and the reason of an abort.
struct Pending {
  std::mutex mutex;
  std::unordered_set<GlooTransfer*> transfers;
  std::exception_ptr reason;
};

class GlooTransfer final : public Transfer {
 public:
  GlooTransfer(std::unique_ptr<gloo::transport::UnboundBuffer> buffer, std::shared_ptr<Pending> pending, bool sends,
               int peer)
      : buffer_(std::move(buffer)), pending_(std::move(pending)), sends_(sends), peer_(peer) {
    const std::lock_guard lock(pending_->mutex);
    if (pending_->reason) std::rethrow_exception(pending_->reason);
    pending_->transfers.insert(this);
  }
  ~GlooTransfer() override { leave(); }

  int wait() override {
    if (done_) return peer_;
    throw_if_aborted();
    bool completed = false;
    try {
      completed = sends_ ? buffer_->waitSend(&peer_, kForever) : buffer_->waitRecv(&peer_, kForever);
    } catch (const gloo::Exception& e) {
      throw_if_aborted();
      throw PeerLost(str("the connection to rank ", peer_, " was closed"), peer_);
    }
    if (!completed) throw_if_aborted();
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
  void throw_if_aborted() {
    const std::lock_guard lock(pending_->mutex);
    if (pending_->reason) std::rethrow_exception(pending_->reason);
  }
  void leave() {
    const std::lock_guard lock(pending_->mutex);
    pending_->transfers.erase(this);
  }

  std::unique_ptr<gloo::transport::UnboundBuffer> buffer_;
  const std::shared_ptr<Pending> pending_;
  const bool sends_;
  int peer_;
  bool done_ = false;
};

class GlooTransport final : public Transport {
 public:
  GlooTransport(Rendezvous& rendezvous, const TransportOptions& options)
      : context_(std::make_shared<gloo::rendezvous::Context>(options.rank, options.size)) {
    gloo::transport::tcp::attr attr;
    attr.hostname = options.host;
    attr.iface = options.interface;
    device_ = gloo::transport::tcp::CreateDevice(attr);
    AddressStore store(rendezvous);
    context_->setTimeout(kConnect);
    context_->connectFullMesh(store, device_);
    context_->setTimeout(kForever);
  }
  ~GlooTransport() override { context_->closeConnections(); }

  int rank() const override { return context_->rank; }
  int size() const override { return context_->size; }

  std::unique_ptr<Transfer> send(const void* data, size_t bytes, int to, uint32_t tag) override {
    auto buffer = buffer_of(const_cast<void*>(data), bytes);
    gloo::transport::UnboundBuffer& posted = *buffer;
    auto transfer = std::make_unique<GlooTransfer>(std::move(buffer), pending_, true, to);
    post(to, [&] { posted.send(to, tag); });
    return transfer;
  }
  std::unique_ptr<Transfer> receive(void* data, size_t bytes, int from, uint32_t tag) override {
    auto buffer = buffer_of(data, bytes);
    gloo::transport::UnboundBuffer& posted = *buffer;
    auto transfer = std::make_unique<GlooTransfer>(std::move(buffer), pending_, false, from);
    post(from, [&] {
      if (from != kAnyRank) return posted.recv(from, tag);
      std::vector<int> others;
      for (int r = 0; r < size(); ++r)
        if (r != rank()) others.push_back(r);
      posted.recv(others, tag);
    });
    return transfer;
  }

  void abort(std::exception_ptr reason) override {
    const std::lock_guard lock(pending_->mutex);
    if (pending_->reason) return;
    pending_->reason = std::move(reason);
    for (GlooTransfer* transfer : pending_->transfers) transfer->abort();
  }

 private:
  std::unique_ptr<gloo::transport::UnboundBuffer> buffer_of(void* data, size_t bytes) {
    static char nothing;  // an address for messages of no bytes
    return context_->createUnboundBuffer(bytes == 0 ? &nothing : data, bytes);
  }
  template <class F>
  static void post(int peer, F&& f) {
    try {
      f();
    } catch (const gloo::Exception& e) {
      throw PeerLost(str("the connection to rank ", peer, " was closed"), peer);
    }
  }

  std::shared_ptr<gloo::rendezvous::Context> context_;
  std::shared_ptr<gloo::transport::Device> device_;
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
        str("gloo: rank ", options.rank, " could not connect to all ", options.size, " ranks: ", e.what()));
  }
}

[[maybe_unused]] const bool registered = (register_transport("gloo", &make), true);

}  // namespace
}  // namespace argand
