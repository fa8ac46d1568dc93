// The op whose kernel the calling thread is issuing, for messages: errors of a device that come later, memory tables.
#pragma once

namespace argand {

const char* current_op();  // "" outside of any

class CurrentOp {
 public:
  explicit CurrentOp(const char* name);
  ~CurrentOp();
  CurrentOp(const CurrentOp&) = delete;
  CurrentOp& operator=(const CurrentOp&) = delete;

 private:
  const char* before_;
};

}  // namespace argand
