#include "argand/data/prefetcher.h"

#include <utility>

#include "argand/exec/trace.h"

namespace argand::data {
namespace {

Tensor moved(const Tensor& t, const Device& device) {
  return t.defined() ? t.to(device, t.dtype(), /*non_blocking=*/true) : t;
}

}  // namespace

Prefetcher::Prefetcher(Source source, const Device& device)
    : source_(std::move(source)), device_(with_index(device)), copied_(device_.type()) {
  if (device_.is_accelerator()) stream_ = stream_from_pool(device_);
}

void Prefetcher::fetch() {
  fetched_ = true;
  Example<> host;
  try {
    {
      const tracing::Span span("wait for batch", number_);
      more_ = source_(host);
    }
    if (!more_) return;
    const StreamGuard on(*stream_);
    const tracing::Span span("copy batch", number_++, "copy stream", stream_);
    ahead_ = {moved(host.data, device_), moved(host.target, device_)};
    copied_.record(*stream_);
  } catch (...) {
    error_ = std::current_exception();
  }
}

bool Prefetcher::next(Example<>& out) {
  if (!stream_) {
    if (!std::exchange(more_, false)) return false;  // also after an error
    more_ = source_(out);
    if (!more_) return false;
    out = {moved(out.data, device_), moved(out.target, device_)};
    return true;
  }
  if (more_ && !fetched_) fetch();
  if (error_) {
    more_ = false;
    std::rethrow_exception(std::exchange(error_, nullptr));
  }
  if (!more_) return false;
  copied_.wait(current_stream(device_));
  out = std::exchange(ahead_, Example<>());
  fetch();
  return true;
}

}  // namespace argand::data
