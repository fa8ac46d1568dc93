// The warnings that any thread gives while an object of this class lives.
#pragma once
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "argand/base/log.h"

namespace argand {

class Warnings {
 public:
  Warnings()
      : before_(set_warning_handler([this](std::string_view text) {
          const std::lock_guard lock(mutex_);
          texts_.emplace_back(text);
        })) {}
  ~Warnings() { set_warning_handler(before_); }
  Warnings(const Warnings&) = delete;
  Warnings& operator=(const Warnings&) = delete;
  std::vector<std::string> texts() const {
    const std::lock_guard lock(mutex_);
    return texts_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> texts_;
  WarningFunction before_;
};

}  // namespace argand
