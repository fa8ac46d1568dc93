// How processes come to be a world: through a store, or by what their launcher knows.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>

#include "argand/base/env.h"
#include "argand/parallel/channel.h"
#include "argand/parallel/process_group.h"
#include "argand/parallel/store/prefix_store.h"
#include "argand/parallel/store/tcp_store.h"
#include "argand/parallel/tags.h"
#include "argand/parallel/world.h"

namespace argand::parallel {

namespace {

// The ranks that reach the server of the store can reach this address.  That of the host's own name need not be one
// for other hosts: many systems give it an address of the loopback interface.
std::string address_near(Store& store) {
  TCPStore* const tcp = tcp_store_behind(store);
  return tcp ? tcp->local_address() : "";
}

}  // namespace

std::shared_ptr<ProcessGroup> make_process_group(const std::shared_ptr<Store>& store, int rank, int size,
                                                 const GroupOptions& options) {
  ARGAND_CHECK(ValueError, size >= 1, "init_process_group: expected world_size to be at least 1, got ", size);
  ARGAND_CHECK(ValueError, rank >= 0 && rank < size, "init_process_group: expected rank to be 0 to ", size - 1,
               ", got ", rank);
  World::Make make;
  if (size > 1) {
    TransportOptions there;
    there.rank = rank;
    there.size = size;
    there.host = options.host.empty() && options.interface.empty() ? address_near(*store) : options.host;
    there.interface = options.interface.empty() ? env("GLOO_SOCKET_IFNAME").value_or("") : options.interface;
    there.timeout = options.timeout;
    make = [engine = find_transport(options.backend), there](Rendezvous& addresses) {
      return engine(addresses, there);
    };
  }
  return group_of_all(
      std::make_shared<World>(std::make_shared<PrefixStore>("argand", store), rank, size, options.backend, make),
      options);
}

namespace {

// Before there is a store.
class NoStore final : public Rendezvous {
 public:
  void set(const std::string&, const std::string&) override { none(); }
  std::string get(const std::string&) override { none(); }

 private:
  [[noreturn]] static void none() { ARGAND_THROW(InternalError, "a transport that needs no store asks for one"); }
};

// Rank 0 holds the store and tells the others where.
std::shared_ptr<Store> store_by_messages(Transport& transport, Store::Timeout timeout) {
  char address[256] = {};
  std::vector<int> all(static_cast<size_t>(transport.size()));
  std::iota(all.begin(), all.end(), 0);
  Channel channel(transport, all, transport.rank(), collective_tag(0, 0));
  TCPStoreOptions options;
  options.timeout = timeout;
  options.wait_workers = false;
  std::shared_ptr<Store> store;
  if (transport.rank() == 0) {
    gethostname(address, sizeof address - 8);
    options.is_server = true;
    options.port = 0;
    const auto made = std::make_shared<TCPStore>(address, options);
    std::snprintf(address + std::strlen(address), 8, ":%d", static_cast<int>(made->port()));
    store = made;
    Transfers transfers;
    for (int r = 1; r < transport.size(); ++r) transfers.add(channel.send(address, sizeof address, r, 0));
    transfers.wait();
  } else {
    channel.receive(address, sizeof address, 0, 0)->wait();
    const std::string text = address;
    const size_t colon = text.rfind(':');
    options.port = static_cast<uint16_t>(std::stoi(text.substr(colon + 1)));
    store = std::make_shared<TCPStore>(text.substr(0, colon), options);
  }
  return store;
}

}  // namespace

std::shared_ptr<ProcessGroup> make_launched_process_group(const GroupOptions& options) {
  NoStore none;
  TransportOptions there;
  there.rank = there.size = -1;
  std::unique_ptr<Transport> transport = find_transport(options.backend)(none, there);
  const int rank = transport->rank(), size = transport->size();
  const auto store = store_by_messages(*transport, std::min<Store::Timeout>(options.timeout, Store::kDefaultTimeout));
  const auto made = std::make_shared<std::unique_ptr<Transport>>(std::move(transport));
  const World::Make take = [made](Rendezvous&) { return std::move(*made); };
  return group_of_all(std::make_shared<World>(store, rank, size, options.backend, take), options);
}

}  // namespace argand::parallel
