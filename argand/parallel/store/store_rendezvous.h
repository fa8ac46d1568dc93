// Gives the communication engines a store through which they exchange addresses and ids.
#pragma once
#include "argand/parallel/store/prefix_store.h"
#include "argand/runtime/transport.h"

namespace argand::parallel {

class StoreRendezvous final : public Rendezvous {
 public:
  // Adds the prefix to all keys.
  StoreRendezvous(const std::string& prefix, const std::shared_ptr<Store>& store) : store_(prefix, store) {}
  void set(const std::string& key, const std::string& value) override {
    store_.set(key, Store::Value(value.begin(), value.end()));
  }
  std::string get(const std::string& key) override {
    const Store::Value value = store_.get(key);
    return {value.begin(), value.end()};
  }

 private:
  PrefixStore store_;
};

}  // namespace argand::parallel
