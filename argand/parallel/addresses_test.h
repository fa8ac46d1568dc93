// How ranks that are threads of one test exchange their addresses.
#pragma once
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>

#include "argand/runtime/transport.h"

namespace argand::parallel::testing {

class Addresses final : public Rendezvous {
 public:
  void set(const std::string& key, const std::string& value) override {
    const std::lock_guard lock(mutex_);
    values_[key] = value;
    set_.notify_all();
  }
  std::string get(const std::string& key) override {
    std::unique_lock lock(mutex_);
    set_.wait(lock, [&] { return values_.count(key) > 0; });
    return values_[key];
  }

 private:
  std::mutex mutex_;
  std::condition_variable set_;
  std::map<std::string, std::string> values_;
};

}  // namespace argand::parallel::testing
