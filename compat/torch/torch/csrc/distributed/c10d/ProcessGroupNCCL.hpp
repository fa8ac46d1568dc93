// c10d::ProcessGroupNCCL: tensors of GPUs by NCCL.  The ranks also speak to each other by Gloo, to compare their calls
// and to notice who is lost.  NotImplementedError, with the reason, where several processes cannot have it.
#pragma once
#include "torch/csrc/distributed/c10d/wrapped_group.h"

namespace c10d {

constexpr const char* NCCL_BACKEND_NAME = "nccl";
constexpr auto kProcessGroupNCCLDefaultTimeout = std::chrono::milliseconds(10 * 60 * 1000);

class ProcessGroupNCCL : public detail::WrappedGroup {
 public:
  struct Options : Backend::Options {
    explicit Options(bool high_priority = false)
        : Backend::Options(NCCL_BACKEND_NAME, kProcessGroupNCCLDefaultTimeout),
          is_high_priority_stream(high_priority) {}
    static c10::intrusive_ptr<Options> create(bool high_priority = false) {
      return c10::make_intrusive<Options>(high_priority);
    }
    bool is_high_priority_stream;  // chooses nothing: collectives have a stream of their own in any case
  };

  ProcessGroupNCCL(const c10::intrusive_ptr<Store>& store, int rank, int size,
                   c10::intrusive_ptr<Options> options = Options::create())
      : WrappedGroup(make(store, rank, size, *options), NCCL_BACKEND_NAME), options_(std::move(options)) {}
  c10::intrusive_ptr<Options> getOptions() const { return options_; }

 private:
  static Ours make(const c10::intrusive_ptr<Store>& store, int rank, int size, const Options& o) {
    argand::parallel::GroupOptions options;
    options.timeout = o.timeout;
    options.device_backend = NCCL_BACKEND_NAME;
    const std::string why_not =
        size > 1 ? argand::parallel::why_no_backend(NCCL_BACKEND_NAME) : "";  // one sends nothing
    if (!why_not.empty()) throw argand::NotImplementedError("ProcessGroupNCCL: " + why_not);
    return detail::join(store, rank, size, options);
  }

  const c10::intrusive_ptr<Options> options_;
};

}  // namespace c10d
