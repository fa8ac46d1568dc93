// c10d::ProcessGroupGloo: processes that find each other by a store, their messages by Gloo.
#pragma once
#include "torch/csrc/distributed/c10d/wrapped_group.h"

namespace c10d {

constexpr const char* GLOO_BACKEND_NAME = "gloo";

class ProcessGroupGloo : public detail::WrappedGroup {
 public:
  // The address or the network interface at which a process listens.
  struct Device {
    std::string host, interface;
  };
  static std::shared_ptr<Device> createDeviceForHostname(const std::string& hostname) {
    return std::make_shared<Device>(Device{hostname, ""});
  }
  static std::shared_ptr<Device> createDeviceForInterface(const std::string& interface) {
    return std::make_shared<Device>(Device{"", interface});
  }
  static std::shared_ptr<Device> createDefaultDevice() { return std::make_shared<Device>(); }

  struct Options : Backend::Options {
    explicit Options(std::chrono::milliseconds timeout_of_calls = kBackendDefaultTimeout)
        : Backend::Options(GLOO_BACKEND_NAME, timeout_of_calls) {}
    static c10::intrusive_ptr<Options> create(std::chrono::milliseconds timeout_of_calls = kBackendDefaultTimeout) {
      return c10::make_intrusive<Options>(timeout_of_calls);
    }
    std::vector<std::shared_ptr<Device>> devices;  // one at most; none: that of the host's name
    int threads = 2;                               // chooses nothing: a group has one, and adds in an order
  };

  // Waits for all ranks.
  ProcessGroupGloo(const c10::intrusive_ptr<Store>& store, int rank, int size,
                   c10::intrusive_ptr<Options> options = Options::create())
      : WrappedGroup(detail::join(store, rank, size, to_ours(*options)), GLOO_BACKEND_NAME),
        options_(std::move(options)) {}
  c10::intrusive_ptr<Options> getOptions() const { return options_; }

 private:
  static argand::parallel::GroupOptions to_ours(const Options& o) {
    TORCH_CHECK(o.devices.size() <= 1, "ProcessGroupGloo: expected one device at most, got ", o.devices.size());
    argand::parallel::GroupOptions options;
    options.timeout = o.timeout;
    if (!o.devices.empty()) {
      options.host = o.devices[0]->host;
      options.interface = o.devices[0]->interface;
    }
    return options;
  }

  const c10::intrusive_ptr<Options> options_;
};

}  // namespace c10d
