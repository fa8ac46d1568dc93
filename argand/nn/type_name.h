// The readable name of a C++ type, for messages and module names.
#pragma once
#include <string>
#include <typeinfo>

namespace argand::nn::detail {

std::string type_name(const std::type_info& type);

}  // namespace argand::nn::detail
