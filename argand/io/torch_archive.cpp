#include "argand/io/torch_archive.h"

#include <algorithm>

#include "argand/io/format_error.h"
#include "argand/io/utf8.h"

namespace argand::io {

namespace {

constexpr int64_t kNewestVersion = 10;

bool is_number(std::string_view text, size_t max_digits) {
  return !text.empty() && text.size() <= max_digits &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// The key of a storage is a number, which PyTorch 1.5 and before took from its address, or another name without
// folders.
bool is_key(std::string_view text) {
  return !text.empty() && text.find('/') == std::string_view::npos && text != "." && text != "..";
}

// Only under these folders does an archive of TorchScript have files of any name; they are not read.  Neither is what
// _save_for_lite_interpreter adds: the code once more, as bytecode, and where its parts come from.
bool is_script_file(std::string_view name) {
  if (name == "bytecode.pkl" || name == "mobile_debug_handles.pkl") return true;
  return name == "constants.pkl" || name.substr(0, 5) == "code/" || name.substr(0, 10) == "constants/" ||
         name.substr(0, 6) == "extra/" || name == "traced_inputs.pkl" || name.substr(0, 14) == "traced_inputs/";
}

ZipDirectory::Allow allowed(std::string_view name) {
  using Allow = ZipDirectory::Allow;
  for (const std::string_view known : {"data.pkl", "version", ".data/version", "byteorder", ".data/serialization_id",
                                       ".format_version", ".storage_alignment"})
    if (name == known) return Allow::kStored;
  if (name.substr(0, 5) == "data/") return is_key(name.substr(5)) ? Allow::kStored : Allow::kNo;
  if (!is_script_file(name) || name.back() == '/' || name.find("//") != std::string_view::npos) return Allow::kNo;
  for (size_t at = 0; at != std::string_view::npos; at = name.find('/', at + 1))
    if (name.substr(at, 4) == "/../" || name.substr(at) == "/..") return Allow::kNo;
  return Allow::kUnread;
}

bool is_big_endian(const ZipDirectory& zip, bool otherwise) {
  const ZipMember* member = zip.find("byteorder");
  if (!member) return otherwise;  // from before the record was written
  const std::string order = zip.read(*member, 64);
  if (order != "little" && order != "big") zip.fail(*member, 0, "an unknown byte order");
  return order == "big";
}

int64_t version_of(const ZipDirectory& zip) {
  // From version 6 on, PyTorch writes it elsewhere, so that old readers do not take the archive for one of theirs.
  const ZipMember *plain = zip.find("version"), *later = zip.find(".data/version");
  const ZipMember* member = plain ? plain : later;
  if (!member) throw FormatError(zip.source().path(), "version", 0, "there is no such record");
  if (plain && later) zip.fail(*later, 0, "there is a record version as well");
  std::string text = zip.read(*member, 64);
  if (!text.empty() && text.back() == '\n') text.pop_back();
  if (!is_number(text, 6) || std::stoll(text) < 1) zip.fail(*member, 0, "expected a number");
  if (std::stoll(text) > kNewestVersion)
    zip.fail(*member, 0, str("the format's version is ", text, "; up to ", kNewestVersion, " are read"));
  return std::stoll(text);
}

}  // namespace

TorchArchive::TorchArchive(const ByteSource& source, LoadOptions options)
    : options_(std::move(options)), zip_(source, options_.max_tensors + 64, allowed) {
  for (const ZipMember& m : zip_.members())
    if (!is_script() && is_script_file(m.name)) zip_.fail(m, 0, "not a name that is read");
  if (!zip_.find("data.pkl")) throw FormatError(source.path(), "data.pkl", 0, "there is no such record");
  version_ = version_of(zip_);
  big_ = is_big_endian(zip_, options_.big_endian);
  if (const auto* file = dynamic_cast<const InputFile*>(&source); file && options_.mmap) file_ = file->kept_open();
}

std::string TorchArchive::record(const std::string& name) const {
  const ZipMember* member = zip_.find(name);
  if (!member) throw FormatError(source().path(), name, 0, "there is no such record");
  return zip_.read(*member, source().size());
}

std::map<std::string, std::string> TorchArchive::files(std::string_view folder, int64_t max_bytes) const {
  std::map<std::string, std::string> out;
  for (const ZipMember& m : zip_.members()) {
    if (!std::string_view(m.name).starts_with(folder)) continue;
    const std::string& text = out.emplace(m.name, zip_.read_unpacked(m, max_bytes)).first->second;
    max_bytes -= static_cast<int64_t>(text.size());
  }
  return out;
}

Tensor TorchArchive::storage(const StorageRequest& request, const char* folder) const {
  const ZipMember* member = zip_.find(str(folder, "/", request.key));
  ARGAND_CHECK(ValueError, member, "there is no record ", folder, "/", request.key.substr(0, 20));
  const int64_t bytes = request.numel * element_size(request.dtype);
  ARGAND_CHECK(ValueError, bytes == member->size, "storage ", request.key.substr(0, 20), " has ", request.numel,
               " elements, ", bytes, " bytes; its record has ", member->size);
  const Device device = place_of(request, options_);
  const bool verify = options_.verify.value_or(true);
  if (file_ && device.is_cpu() && bytes > 0) {
    if (options_.verify.value_or(false)) zip_.verify(*member);
    return late_storage(request, big_, [file = file_, member = *member, verify](void* out, size_t) {
      read_member(*file, member, out, verify);
    });
  }
  return read_storage(request, device, big_, [&](void* out, size_t) { zip_.read(*member, out, verify); });
}

}  // namespace argand::io
