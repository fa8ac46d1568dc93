// For tests: small TorchScript archives, put together from the text of their code.
#pragma once
#include <cstring>
#include <map>
#include <sstream>
#include <string>

#include "argand/io/bad_input_test.h"
#include "argand/jit/load.h"

namespace argand::jit::testing {

using namespace io::testing;

// An object of a class: its attributes as pickled values.
inline std::string object(const std::string& module, const std::string& name,
                          const std::vector<std::pair<std::string, std::string>>& attributes) {
  std::string out = global(module, name) + ")\x81}(";
  for (const auto& [attribute, value] : attributes) out += text(attribute) + value;
  return out + "ub";
}
inline std::string number_pickle(double v) {
  uint64_t bits = 0;
  std::memcpy(&bits, &v, 8);
  std::string out = "G";
  for (int i = 7; i >= 0; --i) out += static_cast<char>(static_cast<uint8_t>(bits >> (8 * i)));
  return out;
}
// A tensor [1.0] over the storage 0.
inline std::string one() { return tensor_over(storage("0", 1), 0, {1}, {1}); }

struct ScriptArchive {
  std::map<std::string, std::string> code;  // "__torch__.py"
  std::string data;                         // without the pickle's frame
  std::string constants = ")";
  std::string version = "3\n";

  Archive archive() const {
    Archive out;
    out.members = {{"a/data.pkl", pickle(data)}};
    for (const auto& [name, code_text] : code) out.members.push_back({"a/code/" + name, code_text});
    out.members.push_back({"a/data/0", kFour});
    out.members.push_back({"a/constants.pkl", pickle(constants)});
    out.members.push_back({"a/constants/0", kFour});
    out.members.push_back({"a/byteorder", "little"});
    out.members.push_back({"a/version", version});
    return out;
  }
  std::string bytes() const { return archive().bytes(); }
};

inline Module load_bytes(const std::string& bytes) { return load(io::MemorySource("a.pt", bytes)); }

// A module without attributes whose class has these methods: lines with the indentation of a class's body.
inline Module module_of(const std::string& methods, const std::string& before = "") {
  ScriptArchive a;
  a.code["__torch__.py"] =
      before + "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n  training : bool\n" + methods;
  a.data = object("__torch__", "M", {{"training", "\x88"}});
  return load_bytes(a.bytes());
}
// The value of `forward(self) -> type`, whose body has these lines.
inline IValue value_of(const std::string& body, const std::string& before = "") {
  std::string lines;
  std::istringstream in(body);
  for (std::string line; std::getline(in, line);) lines += "    " + line + "\n";
  return module_of("  def forward(self: __torch__.M):\n" + lines, before).forward({});
}
inline std::string shown(const IValue& v) {
  std::ostringstream out;
  out << v;
  return out.str();
}
inline std::string value_text(const std::string& body, const std::string& before = "") {
  return shown(value_of(body, before));
}

}  // namespace argand::jit::testing
