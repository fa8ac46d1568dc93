// The format of torch.save before PyTorch 1.6, read only: pickles one after the other, then the storages.
//
//   magic number | protocol version | facts about the machine | the values | the keys of the storages
//   for each key: the number of elements (8 bytes), the elements; least significant byte first on every machine
#include <algorithm>
#include <map>

#include "argand/exec/invoke.h"
#include "argand/io/format_error.h"
#include "argand/io/torch_storage.h"

namespace argand::io {

namespace {

constexpr std::string_view kMagic("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15);
constexpr int64_t kProtocol = 1001;

// The values before the tensors contain no names.
class NoNames final : public PickleNames {
 public:
  Value global(const std::string& module, const std::string& name) override {
    ARGAND_THROW(ValueError, "the global ", module, ".", name, " is refused");
  }
  Value call(const Value&, const Value&) override { return refuse(); }
  Value create(const Value&, const Value&) override { return refuse(); }
  void set_state(Value&, const Value&) override { refuse(); }
  Value persistent(const Value&) override { return refuse(); }

 private:
  static Value refuse() { ARGAND_THROW(ValueError, "only plain values are read here"); }
};

class Legacy {
 public:
  Legacy(const ByteSource& source, const LoadOptions& options) : source_(source), options_(options) {}

  Value run() {
    head_.resize(static_cast<size_t>(source_.size()));
    source_.read(0, head_.data(), head_.size());
    at_ = kMagic.size();
    NoNames none;
    const Value protocol = next(none, "protocol version");
    if (!protocol.is_int() || protocol.to_int() != kProtocol) fail("protocol version", "expected 1001");
    next(none, "system facts");
    // The first time, only to find the storages; the start of each follows from the sizes of all.
    const size_t values_at = at_;
    TorchNames recorder([&](const StorageRequest& r) { return record(r); }, false, options_.max_tensors);
    next(recorder, "values");
    values_end_ = at_;
    place_storages(next(none, "storage keys"));
    at_ = values_at;
    TorchNames reader([&](const StorageRequest& r) { return read(r); }, false, options_.max_tensors);
    return next(reader, "values");
  }

 private:
  struct Place {
    StorageRequest request;
    size_t begin = 0;
    bool found = false;
  };
  [[noreturn]] void fail(const char* record, const std::string& what) const {
    throw FormatError(source_.path(), record, static_cast<int64_t>(at_), what);
  }
  Value next(PickleNames& names, const char* record) {
    size_t used = 0;
    const std::string_view rest =
        std::string_view(head_).substr(at_, values_end_ > at_ ? values_end_ - at_ : std::string_view::npos);
    PickleLimits limits = options_.pickle;
    limits.tree_bytes += rest.size();
    Value out = read_pickle(rest, names, {source_.path(), record, static_cast<int64_t>(at_)}, limits, &used);
    at_ += used;
    return out;
  }
  Tensor record(const StorageRequest& request) {
    ARGAND_CHECK(ValueError, request.numel <= source_.size() / element_size(request.dtype), "storage ",
                 request.key.substr(0, 40), " has ", request.numel, " elements; the file has ", source_.size(),
                 " bytes");
    places_[request.key] = {request};
    return exec::new_tensor({{request.numel}, request.dtype}, kMeta);
  }
  void place_storages(const Value& keys) {
    if (keys.kind() != Value::Kind::kList) fail("storage keys", "expected a list");
    for (size_t i = 0; i < keys.size(); ++i) {
      if (!keys[i].is_string()) fail("storage keys", "expected texts");
      const auto it = places_.find(keys[i].text());
      if (it == places_.end() || it->second.found)
        fail("storage keys", "a storage that no value names, or one named twice");
      Place& place = it->second;
      uint64_t numel = 0;
      if (head_.size() - at_ < 8) fail("storages", "the file is cut");
      for (size_t b = 0; b < 8; ++b) numel |= uint64_t{static_cast<uint8_t>(head_[at_ + b])} << (8 * b);
      at_ += 8;
      const auto bytes = static_cast<size_t>(place.request.numel * element_size(place.request.dtype));
      if (numel != static_cast<uint64_t>(place.request.numel))
        fail("storages", str("expected ", place.request.numel, " elements, got ", numel));
      if (head_.size() - at_ < bytes) fail("storages", "the file is cut");
      place.begin = at_;
      place.found = true;
      at_ += bytes;
    }
    if (keys.size() != places_.size()) fail("storage keys", "a storage is missing");
    if (at_ != head_.size()) fail("storages", "bytes follow the last storage");
  }
  Tensor read(const StorageRequest& request) {
    const Place& place = places_.at(request.key);
    return read_storage(request, place_of(request, options_), false, [&](void* out, size_t bytes) {
      std::copy_n(head_.data() + place.begin, bytes, static_cast<char*>(out));
    });
  }

  const ByteSource& source_;
  const LoadOptions& options_;
  std::string head_;
  size_t at_ = 0, values_end_ = 0;  // 0: not known yet
  std::map<std::string, Place> places_;
};

}  // namespace

bool is_legacy(const ByteSource& source) {
  char magic[kMagic.size()] = {};
  if (source.size() < static_cast<int64_t>(sizeof magic)) return false;
  source.read(0, magic, sizeof magic);
  return std::string_view(magic, sizeof magic) == kMagic;
}

Value load_legacy(const ByteSource& source, const LoadOptions& options) { return Legacy(source, options).run(); }

}  // namespace argand::io
