// c10d::PrefixStore: see argand/parallel/store/prefix_store.h.
#pragma once
#include "argand/parallel/store/prefix_store.h"
#include "torch/csrc/distributed/c10d/wrapped_store.h"

namespace c10d {

class PrefixStore : public detail::WrappedStore {
 public:
  PrefixStore(std::string prefix, c10::intrusive_ptr<Store> store)
      : WrappedStore(std::make_shared<argand::parallel::PrefixStore>(std::move(prefix), detail::to_ours(store))),
        store_(std::move(store)) {}
  const std::chrono::milliseconds& getTimeout() const noexcept override { return store_->getTimeout(); }
  void setTimeout(const std::chrono::milliseconds& timeout) override { store_->setTimeout(timeout); }
  c10::intrusive_ptr<Store> getUnderlyingStore() { return store_; }
  c10::intrusive_ptr<Store> getUnderlyingNonPrefixStore() {
    c10::intrusive_ptr<Store> store = store_;
    while (const auto* prefixed = dynamic_cast<const PrefixStore*>(store.get())) store = prefixed->store_;
    return store;
  }

 private:
  c10::intrusive_ptr<Store> store_;
};

}  // namespace c10d
