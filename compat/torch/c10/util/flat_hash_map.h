// ska::flat_hash_map is std::unordered_map.
#pragma once
#include <unordered_map>

namespace ska {
template <class Key, class Value>
using flat_hash_map = std::unordered_map<Key, Value>;
}  // namespace ska
