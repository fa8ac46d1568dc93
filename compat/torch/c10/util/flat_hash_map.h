// ska::flat_hash_map is std::unordered_map; one of the states of an optimizer is what Optimizer::state() is.
#pragma once
#include <memory>
#include <type_traits>
#include <unordered_map>

namespace argand::optim {
class OptimizerParamState;
class OptimizerStates;
}  // namespace argand::optim

namespace ska {
template <class Key, class Value>
using flat_hash_map = std::conditional_t<std::is_same_v<Value, std::unique_ptr<argand::optim::OptimizerParamState>>,
                                         argand::optim::OptimizerStates, std::unordered_map<Key, Value>>;
}  // namespace ska
