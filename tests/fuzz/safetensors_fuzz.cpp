// libFuzzer's entry for the reader of safetensors.  A second reader, by nlohmann's JSON and the rules of the format,
// judges each input: both must accept or both refuse, and the tensors must be the same bytes.
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "argand/exec/invoke.h"
#include "argand/io/safetensors.h"
#include "tests/fuzz/fuzz.h"

namespace argand::fuzz {

namespace {

using Json = nlohmann::json;

struct Judged {
  std::string dtype;
  std::vector<int64_t> shape;
  std::string bytes;
};

const std::map<std::string, unsigned> kItemBytes = {{"F64", 8}, {"F32", 4},  {"F16", 2}, {"BF16", 2},
                                                    {"I64", 8}, {"I32", 4},  {"I16", 2}, {"I8", 1},
                                                    {"U8", 1},  {"BOOL", 1}, {"C64", 8}};

// False where a key occurs twice in an object.
bool parse(const std::string& text, Json& out) {
  std::vector<std::set<std::string>> keys;
  bool good = text.find('\0') == std::string::npos;  // which nlohmann takes for the end
  out = Json::parse(
      text,
      [&](int, Json::parse_event_t event, Json& value) {
        if (event == Json::parse_event_t::object_start) keys.emplace_back();
        if (event == Json::parse_event_t::object_end) keys.pop_back();
        if (event == Json::parse_event_t::key) {
          const auto& key = value.get_ref<const std::string&>();
          good = good && key.size() <= 65536 && keys.back().insert(key).second;
        }
        return true;
      },
      false);
  return good && !out.is_discarded();
}

bool is_count(const Json& v) { return v.is_number_unsigned() && v.get<uint64_t>() <= uint64_t{INT64_MAX}; }

// What the metadata may say of a tensor: its dtype, shape and checksum.
std::string description(const Judged& tensor) {
  std::string text = tensor.dtype + " ";
  for (const int64_t size : tensor.shape) text += std::to_string(size) + ",";
  if (!tensor.shape.empty()) text.pop_back();
  char digits[10];
  std::snprintf(
      digits, sizeof digits, " %08lx",
      ::crc32(0, reinterpret_cast<const Bytef*>(tensor.bytes.data()), static_cast<uInt>(tensor.bytes.size())));
  return text + digits;
}

// False where they say the same dtype and shape and another checksum.
bool agrees(const Json& header, const std::string& name, const Judged& tensor) {
  if (!header.contains("__metadata__")) return true;
  const auto text = header["__metadata__"].find("argand.crc32:" + name);
  if (text == header["__metadata__"].end() || !text->is_string()) return true;
  const std::string told = text->get<std::string>(), expected = description(tensor);
  return told == expected || told.size() != expected.size() ||
         told.compare(0, told.size() - 8, expected, 0, told.size() - 8) != 0;
}

bool judge(const std::string& file, std::map<std::string, Judged>& out) {
  uint64_t length = 0;
  if (file.size() < 8) return false;
  for (int i = 7; i >= 0; --i) length = length << 8 | static_cast<uint8_t>(file[static_cast<size_t>(i)]);
  if (length > 100'000'000 || length > file.size() - 8 || length == 0 || file[8] != '{') return false;
  const std::string text = file.substr(8, length), data = file.substr(8 + length);
  Json header;
  if (!parse(text, header) || !header.is_object()) return false;
  std::vector<std::pair<uint64_t, uint64_t>> places;
  for (const auto& [name, entry] : header.items()) {
    if (!entry.is_object()) return false;
    if (name == "__metadata__") {
      for (const auto& [key, value] : entry.items())
        if (!value.is_string() || value.get_ref<const std::string&>().size() > 65536) return false;
      continue;
    }
    if (entry.size() != 3 || !entry.contains("dtype") || !entry.contains("shape") || !entry.contains("data_offsets"))
      return false;
    const Json &dtype = entry["dtype"], &shape = entry["shape"], &offsets = entry["data_offsets"];
    if (!dtype.is_string() || !kItemBytes.count(dtype.get<std::string>()) || !shape.is_array() || shape.size() > 64 ||
        !offsets.is_array() || offsets.size() != 2 || !is_count(offsets[0]) || !is_count(offsets[1]))
      return false;
    // In 128 bits, capped: a product that is too large stays so; sizes beside a 0 count as well.
    unsigned __int128 bytes = kItemBytes.at(dtype.get<std::string>());
    bool empty = false;
    Judged tensor{dtype.get<std::string>(), {}, ""};
    for (const Json& size : shape) {
      if (!is_count(size)) return false;
      tensor.shape.push_back(size.get<int64_t>());
      empty = empty || tensor.shape.back() == 0;
      bytes *= static_cast<unsigned __int128>(std::max<int64_t>(1, tensor.shape.back()));
      if (bytes > static_cast<unsigned __int128>(INT64_MAX)) return false;
    }
    const auto begin = offsets[0].get<uint64_t>(), end = offsets[1].get<uint64_t>();
    if (begin > end || end > data.size() || end - begin != (empty ? 0 : static_cast<uint64_t>(bytes))) return false;
    tensor.bytes = data.substr(begin, end - begin);
    if (!agrees(header, name, tensor)) return false;
    if (tensor.dtype == "BOOL")
      for (char& c : tensor.bytes) c = c != 0;
    places.emplace_back(begin, end);
    out[name] = tensor;
  }
  std::sort(places.begin(), places.end());
  uint64_t at = 0;
  for (const auto& [begin, end] : places) {
    if (begin != at) return false;
    at = end;
  }
  return at == data.size();
}

}  // namespace

// Half of the inputs are only the header and the data, with a true length before them.
void safetensors(uint8_t option, std::string_view input) {
  std::string file(input);
  if (option % 2 == 1) {
    const size_t end = std::min(file.rfind('}'), file.size() - 1) + 1;
    uint64_t length = file.empty() ? 0 : end;
    file.insert(0, reinterpret_cast<const char*>(&length), 8);
  }
  std::map<std::string, Judged> expected;
  const bool good = judge(file, expected);
  io::TensorFile got;
  if (!both_accept<io::FileError>(good, [&] { got = io::load_safetensors(io::MemorySource("input", file)); })) return;
  if (got.tensors.size() != expected.size()) disagree("another number of tensors");
  for (const auto& item : got.tensors) {
    const auto it = expected.find(item.key());
    const Tensor& t = item.value();
    if (it == expected.end() || t.sizes().vec() != it->second.shape || t.nbytes() != it->second.bytes.size() ||
        (t.numel() > 0 && std::memcmp(raw<char>(t), it->second.bytes.data(), t.nbytes()) != 0))
      disagree("another tensor");
  }
}

}  // namespace argand::fuzz
