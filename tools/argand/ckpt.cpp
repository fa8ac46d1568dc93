#include "tools/argand/ckpt.h"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <unordered_map>

#include "argand/exec/copy.h"
#include "argand/exec/invoke.h"
#include "argand/io/checkpoint_folder.h"
#include "argand/io/load.h"
#include "argand/io/safetensors.h"
#include "argand/io/zip.h"
#include "argand/ops/functions.h"
#include "tools/argand/rank_folder.h"

namespace argand::cli {
namespace {

using io::Value;
using Kind = Value::Kind;

// A value with all names on the way to it: layers.0.weight.  Lists and dicts stand before what they hold.  Where two
// have one name, as {"a.b": 1, "a": {"b": 2}} has, it is their exact one.
struct Entry {
  std::string name, exact;  // exact: ['layers'][0]['weight']
  size_t depth;
  Value value;
};

std::string printable(const std::string& text, size_t most = 60) {
  std::string out;
  for (const char c : text.substr(0, most)) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return text.size() > most ? out + "..." : out;
}

std::string text_of(const Value& v) {
  switch (v.kind()) {
    case Kind::kNone:
      return "None";
    case Kind::kBool:
      return v.to_bool() ? "True" : "False";
    case Kind::kInt:
      return str(v.to_int());
    case Kind::kDouble: {
      char text[40];
      std::snprintf(text, sizeof text, "%.17g", v.to_double());
      return text;
    }
    case Kind::kComplex:
      return str(v.to_complex().real(), v.to_complex().imag() < 0 ? "" : "+", v.to_complex().imag(), "j");
    case Kind::kString:
      return "'" + v.text() + "'";
    case Kind::kBytes:
    case Kind::kByteArray:
      return str(v.text().size(), " bytes, checksum ", io::crc32_of(v.text().data(), v.text().size()));
    case Kind::kNdarray: {
      std::string shape;
      for (size_t i = 0; i < v[1].size(); ++i) shape += str(i == 0 ? "" : ", ", v[1][i].to_int());
      return str("array of ", v[0][0].text(), " [", shape, v[2].to_bool() ? "] by columns, " : "], ", text_of(v[3]));
    }
    case Kind::kNumpyDtype:
      return "numpy.dtype " + v[0].text();
    case Kind::kNumpyScalar:
      return str(v[0][0].text(), " of ", text_of(v[1]));
    case Kind::kBigInt:
    case Kind::kLayout:
      return v.text();
    case Kind::kDtype:
      return str(v.dtype());
    case Kind::kDevice:
      return v.device().str();
    default:
      return str(Value::kind_name(v.kind()), " of ", v.size());
  }
}

// A tree may reach one list by so many ways that nobody could read the lines.
constexpr size_t kMaxEntries = size_t{1} << 20;

std::string exact_key(const Value& key) {
  if (!key.is_string()) return str("[", Value::kind_name(key.kind()), " ", text_of(key), "]");
  std::string out = "['";
  for (const char c : key.text()) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "']";
}

void flatten(const Value& v, const std::string& name, const std::string& exact, size_t depth, std::vector<Entry>& out) {
  ARGAND_CHECK(ValueError, out.size() < kMaxEntries, "ckpt: more than ", kMaxEntries, " values");
  out.push_back({name, exact, depth, v});
  if (v.kind() >= Kind::kNumpyDtype && v.kind() <= Kind::kNumpyScalar) return;
  const std::string prefix = depth == 0 ? "" : name + ".";
  for (size_t i = 0; i < v.size(); ++i) {
    if (v.is_dict())
      flatten(v.value(i), prefix + (v.key(i).is_string() ? v.key(i).text() : text_of(v.key(i))),
              exact + exact_key(v.key(i)), depth + 1, out);
    else
      flatten(v[i], prefix + str(i), exact + str("[", i, "]"), depth + 1, out);
  }
}

std::vector<Entry> entries_of(const Value& root) {
  std::vector<Entry> out;
  flatten(root, "", "", 0, out);
  std::unordered_map<std::string, size_t> count;
  for (const Entry& e : out) ++count[e.name];
  for (Entry& e : out)
    if (count[e.name] > 1 && e.depth > 0) e.name = e.exact;
  return out;
}

io::LoadOptions to_cpu() {
  io::LoadOptions options;
  options.map_location = [](const std::string&) { return Device(kCPU); };
  return options;
}

const char* format_of(const io::InputFile& file) {
  if (io::ZipDirectory::begins(file)) return "PyTorch, zip";
  if (io::is_shard_index(file)) return "safetensors in several files";
  return io::is_safetensors(file) ? "safetensors" : "PyTorch before 1.6";
}

uint32_t checksum(const Tensor& t) {
  const Tensor dense = exec::dense(t);
  return dense.numel() == 0 ? 0 : io::crc32_of(raw<char>(dense), dense.nbytes());
}

std::string hex(uint32_t value) {
  char text[9];
  std::snprintf(text, sizeof text, "%08x", value);
  return text;
}

// By memory, the first name of each.
class Sharing {
 public:
  // The tensor before that has the same memory; empty if there is none.
  std::string first(const Entry& e) {
    const Tensor& t = e.value.tensor();
    if (t.is_meta() || t.numel() == 0) return "";
    return names_.emplace(t.storage().get(), e.name).first->second == e.name ? "" : names_[t.storage().get()];
  }

 private:
  std::unordered_map<const void*, std::string> names_;
};

struct Totals {
  size_t tensors = 0;
  int64_t bytes = 0;
};

Totals totals_of(const std::vector<Entry>& entries) {
  Totals out;
  Sharing sharing;
  for (const Entry& e : entries) {
    if (!e.value.is_tensor()) continue;
    ++out.tensors;
    if (sharing.first(e).empty() && !e.value.tensor().is_meta() && e.value.tensor().numel() > 0)
      out.bytes += static_cast<int64_t>(e.value.tensor().storage()->nbytes());
  }
  return out;
}

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// The largest |a - b|; NaNs at one place are equal.
double largest_difference(const Tensor& a, const Tensor& b) {
  const ScalarType type = is_complex(a.dtype()) ? kComplexDouble : kDouble;
  const Tensor x = a.to(type), y = b.to(type);
  const Tensor same = x.eq(y).logical_or(x.ne(x).logical_and(y.ne(y)));
  const Tensor gap = x.sub(y).abs();
  return gap.masked_fill(same, 0).max().item<double>();
}

void show_file(const std::string& path) {
  const io::InputFile file(path);
  const std::vector<Entry> entries = entries_of(io::load(file, to_cpu()));
  std::printf("%s: %s, %lld bytes\n", path.c_str(), format_of(file), static_cast<long long>(file.size()));
  Sharing sharing;
  for (const Entry& e : entries) {
    const std::string last = e.name.empty() ? "(all)" : printable(e.name, 200);
    std::printf("%*s%s  ", static_cast<int>(2 * e.depth), "", last.c_str());
    if (!e.value.is_tensor()) {
      std::printf("%s\n", printable(text_of(e.value)).c_str());
      continue;
    }
    const Tensor& t = e.value.tensor();
    std::printf("%s %s", str(t.dtype()).c_str(), str(t.sizes()).c_str());
    if (t.is_meta()) {
      std::printf("  meta\n");
      continue;
    }
    // A view may have more elements than fit in memory (strides of 0).
    const bool small = t.numel() <= static_cast<int64_t>(t.storage()->nbytes());
    std::printf("  %lld bytes", static_cast<long long>(t.numel()) * static_cast<long long>(t.itemsize()));
    if (small) std::printf("  checksum %s", hex(checksum(t)).c_str());
    if (const std::string first = sharing.first(e); !first.empty())
      std::printf("  shares memory with %s", printable(first, 200).c_str());
    std::printf(e.value.kind() == Kind::kParameter ? "  parameter\n" : "\n");
  }
  const Totals totals = totals_of(entries);
  std::printf("%zu tensors, %lld bytes of elements\n", totals.tensors, static_cast<long long>(totals.bytes));
}

}  // namespace

int show_checkpoint(const std::string& path) {
  if (!std::filesystem::is_directory(path)) return show_file(path), 0;
  io::CheckpointFolder folder(path);
  const std::string newest = folder.load_latest(to_cpu()).path;
  for (const int64_t step : folder.steps()) {
    const std::string file = folder.path_of(step);
    std::printf("step %lld  %lld bytes%s\n", static_cast<long long>(step),
                static_cast<long long>(io::InputFile(file).size()),
                file == newest  ? "  the newest that is whole"
                : file > newest ? "  damaged"
                                : "");
  }
  show_file(newest);
  return 0;
}

int diff_checkpoints(const std::string& first, const std::string& second) {
  const std::vector<Entry> a = entries_of(io::load(first, to_cpu())), b = entries_of(io::load(second, to_cpu()));
  std::unordered_map<std::string, const Value*> others;
  for (const Entry& e : b) others.emplace(e.exact, &e.value);
  size_t differences = 0;
  const auto say = [&](const std::string& name, const std::string& what) {
    ++differences;
    std::printf("%s: %s\n", name.empty() ? "(all)" : printable(name, 200).c_str(), what.c_str());
  };
  const auto shown = [](const Value& v) {
    return v.is_tensor() ? str(v.tensor().dtype(), " ", v.tensor().sizes()) : printable(text_of(v));
  };
  for (const Entry& e : a) {
    const auto it = others.find(e.exact);
    if (it == others.end()) {
      say(e.name, str("only in ", first, ": ", shown(e.value)));
      continue;
    }
    const Value& other = *it->second;
    others.erase(it);
    if (!e.value.is_tensor() || !other.is_tensor()) {
      // A dict is compared by what it holds: an OrderedDict is one, too.
      const bool both = e.value.is_dict() && other.is_dict();
      if (!both && (e.value.is_tensor() || other.is_tensor() || text_of(e.value) != text_of(other)))
        say(e.name, str(shown(e.value), " and ", shown(other)));
      continue;
    }
    const Tensor &x = e.value.tensor(), &y = other.tensor();
    if (x.dtype() != y.dtype() || !(x.sizes() == y.sizes()) || x.is_meta() != y.is_meta())
      say(e.name, str(shown(e.value), " and ", shown(other)));
    else if (!x.is_meta() && x.numel() > 0)
      if (const double gap = largest_difference(x, y); gap != 0)
        say(e.name, str("values differ, by ", gap, " at most"));
  }
  for (const Entry& e : b)
    if (others.count(e.exact)) say(e.name, str("only in ", second, ": ", shown(e.value)));
  if (differences == 0) std::printf("no differences\n");
  return differences == 0 ? 0 : 1;
}

int convert_checkpoint(const std::string& from, const std::string& to) {
  const bool tensors_only = ends_with(to, ".safetensors");
  ARGAND_CHECK(ValueError, tensors_only || ends_with(to, ".pt") || ends_with(to, ".pth"), "ckpt convert: '", to,
               "': expected a name that ends with .pt, .pth or .safetensors");
  const io::InputFile file(from);
  if (!tensors_only) {
    if (io::is_safetensors(file)) {
      const io::TensorFile whole = io::load_safetensors(file);
      if (!whole.metadata.is_empty())
        std::printf("left out: %zu texts of the metadata\n", static_cast<size_t>(whole.metadata.size()));
    }
    io::save_torch(to, io::load(file, to_cpu()));
    return 0;
  }
  const Value root = io::load(file, to_cpu());
  ARGAND_CHECK(ValueError, root.is_dict(), "ckpt convert: '", from, "' is a ", Value::kind_name(root.kind()),
               "; safetensors hold a dict of tensors");
  const std::vector<Entry> entries = entries_of(root);
  Sharing sharing;
  for (const Entry& e : entries) {
    const Value& v = e.value;
    ARGAND_CHECK(ValueError, v.is_tensor() || v.is_dict(), "ckpt convert: '", printable(e.name), "' is a ",
                 Value::kind_name(v.kind()), ", which safetensors cannot hold");
    if (v.is_dict()) continue;
    const Tensor& t = v.tensor();
    ARGAND_CHECK(ValueError, !t.is_meta(), "ckpt convert: '", printable(e.name),
                 "' has no elements: it is a meta tensor");
    ARGAND_CHECK(ValueError, t.numel() <= std::max<int64_t>(1, static_cast<int64_t>(t.storage()->nbytes())),
                 "ckpt convert: '", printable(e.name), "' of shape ", t.sizes(), " repeats its elements");
    ARGAND_CHECK(DtypeError, t.dtype() != kComplexDouble, "ckpt convert: '", printable(e.name),
                 "' is complex128, which safetensors cannot hold");
  }
  for (const Entry& e : entries)
    if (e.value.is_tensor())
      if (const std::string first = sharing.first(e); !first.empty())
        std::printf("%s shares memory with %s: written once for each\n", printable(e.name, 200).c_str(),
                    printable(first, 200).c_str());
  size_t gradients = 0, attributes = 0;
  for (const Entry& e : entries) {
    if (!e.value.attributes().is_none()) ++attributes;
    if (e.value.is_tensor() && e.value.tensor().requires_grad()) ++gradients;
  }
  const StateDict tensors = io::tensors_of(root);
  io::save_safetensors(to, tensors);
  if (attributes > 0)
    std::printf("left out: named data of %zu values besides their elements (_metadata of a state dict)\n", attributes);
  if (gradients > 0) std::printf("left out: requires_grad of %zu tensors\n", gradients);
  return 0;
}

namespace {

// What there was to compare; an index of several files is not asked for each of them.
const char* checksums_of(const io::InputFile& file) {
  const bool has_them = io::ZipDirectory::begins(file) ||
                        (io::is_safetensors(file) && io::load_safetensors(file, {.mmap = true}).has_checksums);
  return has_them ? "all checksums agree" : "it has no checksums of elements";
}

void verify_file(const std::string& path) {
  const io::InputFile file(path);
  const Totals totals = totals_of(entries_of(io::load(file, to_cpu())));
  std::printf("%s: %s, %zu tensors, %lld bytes of elements: good; %s\n", path.c_str(), format_of(file), totals.tensors,
              static_cast<long long>(totals.bytes), checksums_of(file));
}

}  // namespace

int verify_checkpoint(const std::string& path) {
  if (!std::filesystem::is_directory(path)) return verify_file(path), 0;
  if (const auto generation = generation_of(path)) return verify_generations({*generation});
  io::CheckpointFolder folder(path);
  const std::vector<int64_t> steps = folder.steps();
  const std::vector<Generation> of_ranks = generations_in(path);
  int status = of_ranks.empty() ? 0 : verify_generations(of_ranks);
  if (steps.empty() && of_ranks.empty()) (void)folder.load_latest(to_cpu());  // throws what the folder holds
  for (const int64_t step : steps) {
    try {
      verify_file(folder.path_of(step));
    } catch (const io::FileError& e) {
      std::printf("%s: damaged: %s\n", folder.path_of(step).c_str(), e.msg().c_str());
      status = 1;
    }
  }
  return status;
}

}  // namespace argand::cli
