// The store of processes that can exchange messages already, because their own launcher (mpirun) started them.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "argand/parallel/store/store.h"
#include "argand/runtime/transport.h"

namespace argand::parallel {

// Identifies a machine: ranks with the same string reach each other by the loopback interface.
std::string this_machine();
// The addresses by which others may reach this host: those of its running interfaces except the loopback.
std::vector<std::string> addresses_of_host();

// Rank 0 holds it and tells the others where.  It listens at 127.0.0.1 if all ranks are on one machine; else at the
// first address of its host that all the others have reached, and no other; or at `host`, if that is given.
// NetworkError if there is none.  All ranks must call it.
std::shared_ptr<Store> store_by_messages(Transport& transport, Store::Timeout timeout, const std::string& host = "",
                                         const std::string& machine = this_machine());

}  // namespace argand::parallel
