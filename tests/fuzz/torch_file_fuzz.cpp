// libFuzzer's entry for the reader of PyTorch's files; tests/fuzz/run.py builds and runs it.
//
// Half of the inputs are files as they are.  The others are pickles, which are put into a good archive: otherwise the
// checksums of the archive would keep the fuzzer from ever reaching the machine behind them.  What is accepted must be
// written, read again and written to the same bytes.
#include <cstring>
#include <unordered_map>

#include "argand/exec/invoke.h"
#include "argand/io/format_error.h"
#include "argand/io/torch_file.h"
#include "argand/io/zip.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/torch_judge.h"

namespace argand::fuzz {

namespace {

using namespace io;

LoadOptions options() {
  LoadOptions out;
  out.map_location = [](const std::string&) { return Device(kCPU); };
  out.pickle.tree_bytes = size_t{1} << 28;  // more than a short input can take: the judge does not count it
  return out;
}

std::string archive_of(std::string_view pickle) {
  const bool script = !pickle.empty() && pickle.back() == '!';  // objects of TorchScript are allowed
  if (script) pickle.remove_suffix(1);
  std::string out;
  ZipWriter zip("a", [&](const void* data, size_t count) { out.append(static_cast<const char*>(data), count); });
  zip.add("data.pkl", pickle);
  for (const char* name : {"data/0", "data/1", "data/2"}) zip.add(name, std::string(16, '\1'));
  if (script) zip.add("constants.pkl", "");
  zip.add("version", "3\n");
  zip.finish();
  return out;
}

std::string written(const Value& value) {
  std::string out;
  write_torch(value, "a", [&](const void* data, size_t count) { out.append(static_cast<const char*>(data), count); });
  return out;
}

// As the judge writes values; objects that are reached twice by their numbers.
class Writer {
 public:
  std::string out;

  void write(const Value& v) {
    using Kind = Value::Kind;
    const bool fields = v.is_sequence() || v.is_dict();
    if (fields || v.is_tensor()) {
      const auto [it, added] = numbers_.emplace(v.identity(), numbers_.size());
      if (!added) {
        out += "#" + std::to_string(it->second) + " ";
        return;
      }
    }
    out += std::to_string(static_cast<int>(v.kind())) + ":";
    if (v.kind() == Kind::kBool) out += v.to_bool() ? "1" : "0";
    if (v.is_int()) out += std::to_string(v.to_int());
    if (v.kind() == Kind::kDouble) bits(v.to_double());
    if (v.kind() == Kind::kComplex) bits(v.to_complex().real()), bits(v.to_complex().imag());
    if (v.kind() == Kind::kDtype) out += dtype_name(v.dtype());
    if (v.kind() == Kind::kDevice) out += v.device().str();
    if (v.is_tensor() || v.kind() == Kind::kStorage) tensor(v.tensor(), v.is_tensor());
    if (v.kind() == Kind::kBigInt || v.kind() == Kind::kString || v.kind() == Kind::kBytes ||
        v.kind() == Kind::kByteArray || v.kind() == Kind::kDefaultDict || v.kind() == Kind::kObject ||
        v.kind() == Kind::kLayout)
      out += v.text();
    if (fields) {
      out += "(";
      for (size_t i = 0; i < v.size(); ++i) write(v.is_dict() ? v.key(i) : v[i]);
      for (size_t i = 0; v.is_dict() && i < v.size(); ++i) write(v.value(i));
      out += ")";
    }
    if (v.attributes().is_dict()) {
      out += "with ";
      write(v.attributes());
    }
    out += " ";
  }

 private:
  void bits(double d) {
    uint64_t u = 0;
    std::memcpy(&u, &d, 8);
    out += std::to_string(u) + ",";
  }
  void tensor(const Tensor& t, bool layout) {
    out += dtype_name(t.dtype());
    if (layout) {
      out += t.requires_grad() ? " grad" : "";
      for (const int64_t n : t.sizes()) out += " " + std::to_string(n);
      out += " /";
      for (const int64_t n : t.strides()) out += " " + std::to_string(n);
      out += " @" + std::to_string(t.storage_offset());
    }
    if (t.is_meta()) return;
    const auto [it, added] = storages_.emplace(t.storage().get(), storages_.size());
    out += " in " + std::to_string(it->second);
    if (!added) return;
    out += "=";
    if (t.storage()->nbytes() > 0) {
      const Tensor all = exec::alias(t.detach(), {static_cast<int64_t>(t.storage()->nbytes())}, {1}, 0, kByte);
      out.append(static_cast<const char*>(all.data_ptr()), t.storage()->nbytes());
    }
  }
  std::unordered_map<const void*, size_t> numbers_, storages_;
};

}  // namespace

// Inputs that are no zip archives go to the reader of the format before PyTorch 1.6, which has no judge: what it
// accepts must be written and read again as the same bytes.
void torch_file(uint8_t option, std::string_view input) {
  const std::string file = option % 2 == 0 ? std::string(input) : archive_of(input);
  Value value;
  const auto read = [&] { value = load_torch(MemorySource("input", file), options()); };
  if (file.compare(0, 2, "PK") == 0) {
    const std::optional<Judgement> expected = judge_torch(file);
    if (expected && expected->large) return;
    if (!both_accept<FormatError>(expected.has_value(), read)) return;
    Writer got;
    got.write(value);
    if (!expected->computed && got.out != expected->tree) disagree("other values", got.out + "\n" + expected->tree);
  } else if (!accepts<FormatError>(read)) {
    return;
  }
  if (option % 4 >= 2) return;
  std::string once;
  try {
    once = written(value);
  } catch (const ValueError&) {
    return;  // objects of TorchScript cannot be written
  }
  if (once.size() > size_t{1} << 20) return;
  if (written(load_torch(MemorySource("again", once), options())) != once)
    disagree("what was read and written is not what is read again");
}

}  // namespace argand::fuzz
