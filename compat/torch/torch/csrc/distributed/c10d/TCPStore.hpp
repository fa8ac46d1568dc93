// c10d::TCPStore: see argand/parallel/store/tcp_store.h.
#pragma once
#include "argand/parallel/store/tcp_store.h"
#include "torch/csrc/distributed/c10d/wrapped_store.h"

namespace c10d {

struct TCPStoreOptions {
  static constexpr std::uint16_t kDefaultPort = argand::parallel::TCPStoreOptions::kDefaultPort;
  std::uint16_t port = kDefaultPort;
  bool isServer = false;
  std::optional<std::size_t> numWorkers = std::nullopt;
  bool waitWorkers = true;
  std::chrono::milliseconds timeout = Store::kDefaultTimeout;
  bool multiTenant = false;
  std::optional<int> masterListenFd = std::nullopt;
  bool useLibUV = true;  // chooses nothing: the server is neither of LibTorch's two
};

class TCPStore : public detail::WrappedStore {
 public:
  explicit TCPStore(std::string host, const TCPStoreOptions& options = {}) : TCPStore(make(std::move(host), options)) {}

  const std::string& getHost() const noexcept { return store_->host(); }
  std::uint16_t getPort() const noexcept { return store_->port(); }
  bool isLibUvBackend() const noexcept { return false; }

 private:
  using Made = std::shared_ptr<argand::parallel::TCPStore>;
  explicit TCPStore(const Made& made) : WrappedStore(made), store_(made) {}
  static Made make(std::string host, const TCPStoreOptions& o) {
    const argand::parallel::TCPStoreOptions options{o.port,    o.isServer,    o.numWorkers,    o.waitWorkers,
                                                    o.timeout, o.multiTenant, o.masterListenFd};
    return std::make_shared<argand::parallel::TCPStore>(std::move(host), options);
  }
  Made store_;
};

}  // namespace c10d
