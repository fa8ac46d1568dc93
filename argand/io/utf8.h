// UTF-8.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace argand::io {

// The length of the sequence at the start of `text`, which is not empty; 0 if it is none.
size_t utf8_length(std::string_view text);
bool is_utf8(std::string_view text);
void append_utf8(std::string& out, uint32_t code_point);

}  // namespace argand::io
