// c10d::HashStore: see argand/parallel/store/hash_store.h.
#pragma once
#include "argand/parallel/store/hash_store.h"
#include "torch/csrc/distributed/c10d/wrapped_store.h"

namespace c10d {

class HashStore : public detail::WrappedStore {
 public:
  HashStore() : WrappedStore(std::make_shared<argand::parallel::HashStore>()) {}
};

}  // namespace c10d
