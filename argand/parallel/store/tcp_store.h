// A store that one process serves to all over TCP.
#pragma once
#include <optional>

#include "argand/parallel/store/store.h"

namespace argand::parallel {

struct TCPStoreOptions {
  static constexpr uint16_t kDefaultPort = 29500;
  uint16_t port = kDefaultPort;  // 0 takes a free one, of a server
  bool is_server = false;
  std::optional<size_t> num_workers;  // in the world, including the server
  bool wait_workers = true;           // the server waits until num_workers stores were made, itself among them
  Store::Timeout timeout = Store::kDefaultTimeout;
  bool multi_tenant = false;            // servers of one process and one port are one server
  std::optional<int> master_listen_fd;  // the server takes over this socket, which is bound to the port
};

class TcpClient;
class TcpServer;
namespace wire {
struct Request;
struct Reply;
}  // namespace wire

// The server listens only at the addresses of `host`: give 0.0.0.0 or :: for all.  It lives as long as any store of its
// process that was made with is_server, or a clone of one.
//
// If the environment variable ARGAND_STORE_SECRET is set, both sides must know it; it is never sent.  Values are not
// encrypted.
//
// A store may be used after fork(): the child opens its own connection.  If the server is gone, every call throws
// NetworkError.
class TCPStore final : public Store {
 public:
  // A client tries to connect until the timeout.  Throws NetworkError; StoreError if workers do not arrive in time.
  explicit TCPStore(std::string host, const TCPStoreOptions& options = {});
  ~TCPStore() override;
  using Store::set;
  using Store::wait;
  void set(const std::string& key, const Value& value) override;
  Value get(const std::string& key) override;
  int64_t add(const std::string& key, int64_t amount) override;
  bool check(const std::vector<std::string>& keys) override;
  void wait(const std::vector<std::string>& keys, Timeout timeout) override;
  Value compare_set(const std::string& key, const Value& expected, const Value& desired) override;
  bool delete_key(const std::string& key) override;
  int64_t num_keys() override;  // counts one that num_workers made
  std::vector<std::string> list_keys() override;
  void append(const std::string& key, const Value& value) override;
  std::vector<Value> multi_get(const std::vector<std::string>& keys) override;
  void multi_set(const std::vector<std::string>& keys, const std::vector<Value>& values) override;
  void queue_push(const std::string& key, const Value& value) override;
  Value queue_pop(const std::string& key, bool block = true) override;
  int64_t queue_len(const std::string& key) override;
  std::shared_ptr<Store> clone() override;

  const std::string& host() const { return host_; }
  uint16_t port() const { return port_; }
  // The address of this host on the network by which it reaches the server.  Hosts that reach the server can use it.
  std::string local_address();
  bool is_server() const { return server_ != nullptr; }  // or a clone of one

 private:
  TCPStore(const TCPStore& other);
  void wait_for_workers(size_t num_workers);
  TcpClient& client();
  wire::Reply ask(const wire::Request& request);
  // For requests that may wait.
  wire::Reply await(wire::Request request, Timeout timeout);

  std::string host_;
  uint16_t port_ = 0;
  std::shared_ptr<TcpServer> server_;
  std::unique_ptr<TcpClient> client_;
  std::atomic<uint64_t> generation_;
};

// The TCPStore of which the store is a part; null if it is another.
TCPStore* tcp_store_behind(Store& store);

}  // namespace argand::parallel
