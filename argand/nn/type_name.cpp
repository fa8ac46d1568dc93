#include "argand/nn/type_name.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace argand::nn::detail {

std::string type_name(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(type.name(), nullptr, nullptr, &status),
                                                         &std::free);
  return text ? text.get() : type.name();
}

}  // namespace argand::nn::detail
