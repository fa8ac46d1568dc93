// Joins processes to a world: through a store, or with the information of their launcher.
#include <algorithm>

#include "argand/base/env.h"
#include "argand/parallel/process_group.h"
#include "argand/parallel/store/prefix_store.h"
#include "argand/parallel/store/tcp_store.h"
#include "argand/parallel/store_by_messages.h"
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
    make = [engine = find_transport(options.backend), there](Rendezvous& addresses) {
      return engine(addresses, there);
    };
  }
  return group_of_all(
      std::make_shared<World>(std::make_shared<PrefixStore>("argand", store), rank, size, options.backend, make),
      options);
}

namespace {

// Used before a store exists.
class NoStore final : public Rendezvous {
 public:
  void set(const std::string&, const std::string&) override { none(); }
  std::string get(const std::string&) override { none(); }

 private:
  [[noreturn]] static void none() { ARGAND_THROW(InternalError, "a transport that needs no store asks for one"); }
};

}  // namespace

std::shared_ptr<ProcessGroup> make_launched_process_group(const GroupOptions& options) {
  NoStore none;
  TransportOptions there;
  there.rank = there.size = -1;
  std::unique_ptr<Transport> transport = find_transport(options.backend)(none, there);
  const int rank = transport->rank(), size = transport->size();
  const auto store =
      store_by_messages(*transport, std::min<Store::Timeout>(options.timeout, Store::kDefaultTimeout), options.host);
  const auto made = std::make_shared<std::unique_ptr<Transport>>(std::move(transport));
  const World::Make take = [made](Rendezvous&) { return std::move(*made); };
  return group_of_all(std::make_shared<World>(store, rank, size, options.backend, take), options);
}

}  // namespace argand::parallel
