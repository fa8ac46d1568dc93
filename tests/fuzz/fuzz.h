// What the fuzzers of this folder share.  Each gives a reader an input and compares with a judge: a second reader of
// the format, written from its rules, which shares no code with the first.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace argand::fuzz {

[[noreturn]] inline void disagree(const char* what, std::string_view detail = {}) {
  std::fprintf(stderr, "%s: %.*s\n", what, static_cast<int>(detail.size()), detail.data());
  std::abort();
}

// How many inputs were accepted: a run that accepts none has tested nothing.
inline size_t accepted = 0;

// Whether `read` accepts; any other error than Error ends the program.
template <class Error, class Read>
bool accepts(Read read) {
  try {
    read();
  } catch (const Error&) {
    return false;
  }
  ++accepted;
  return true;
}

// Runs `read` and compares with the judge's word.  True if both accept.
template <class Error, class Read>
bool both_accept(bool judged_good, Read read) {
  try {
    read();
  } catch (const Error& e) {
    if (judged_good) disagree("the reader refuses what the judge accepts", e.what());
    return false;
  }
  if (!judged_good) disagree("the reader accepts what the judge refuses");
  ++accepted;
  return true;
}

// The targets; run.py knows them by these names.  The first byte of an input is an option of its target.
void torch_file(uint8_t option, std::string_view input);
void safetensors(uint8_t option, std::string_view input);
void idx(uint8_t option, std::string_view input);
void cifar(uint8_t option, std::string_view input);
void csv(uint8_t option, std::string_view input);
void text(uint8_t option, std::string_view input);
void tar(uint8_t option, std::string_view input);
void png(uint8_t option, std::string_view input);
void jpeg(uint8_t option, std::string_view input);
void store_wire(uint8_t option, std::string_view input);
void torchscript(uint8_t option, std::string_view input);
// Finds something in its own seed: run.py proves on it that a finding is reported.
inline void planted(uint8_t option, std::string_view input) {
  if (option == 'p' && input == "lanted") disagree("the planted finding");
}

}  // namespace argand::fuzz
