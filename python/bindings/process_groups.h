// A group of processes as Python holds it.
#pragma once
#include <memory>

#include "argand/parallel/process_group.h"
#include "bindings/object.h"

namespace argand::python {

// The last handle of a group waits for its threads, which may be about to call Python.
class GroupHandle {
 public:
  explicit GroupHandle(std::shared_ptr<parallel::ProcessGroup> group) : group_(std::move(group)) {}
  ~GroupHandle() {
    const NoGil no_gil;
    group_.reset();
  }
  GroupHandle(const GroupHandle&) = delete;
  GroupHandle& operator=(const GroupHandle&) = delete;
  parallel::ProcessGroup& operator*() const { return *group_; }
  parallel::ProcessGroup* operator->() const { return group_.get(); }
  const std::shared_ptr<parallel::ProcessGroup>& shared() const { return group_; }

 private:
  std::shared_ptr<parallel::ProcessGroup> group_;
};

}  // namespace argand::python
