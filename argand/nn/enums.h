// Choices in options, as LibTorch writes them: `.reduction(kSum)`, `.padding_mode(kZeros)`, `.nonlinearity(kReLU)`.
#pragma once
#include <string>
#include <variant>

namespace argand {

// clang-format off
#define ARGAND_FORALL_ENUMS(X)                                                                                         \
  X(Linear)                                                                                                            \
  X(Conv1D)                                                                                                            \
  X(Conv2D) X(Conv3D) X(ConvTranspose1D) X(ConvTranspose2D) X(ConvTranspose3D) X(Sigmoid) X(Tanh) X(ReLU) X(GELU)      \
      X(SiLU) X(Mish) X(LeakyReLU) X(FanIn) X(FanOut) X(Constant) X(Reflect) X(Replicate) X(Circular) X(Zeros) X(Same) \
          X(Valid) X(Nearest) X(Bilinear) X(Bicubic) X(Trilinear) X(Area) X(NearestExact) X(None) X(Mean) X(Sum)       \
              X(Max) X(BatchMean) X(Border) X(Reflection) X(LSTM) X(GRU) X(RNN_TANH) X(RNN_RELU)
// clang-format on

namespace enumtype {
#define ARGAND_ENUM_TYPE(Name) \
  struct k##Name {};
ARGAND_FORALL_ENUMS(ARGAND_ENUM_TYPE)
#undef ARGAND_ENUM_TYPE

#define ARGAND_ENUM_NAME(Name) \
  inline const char* name_of(k##Name) { return "k" #Name; }
ARGAND_FORALL_ENUMS(ARGAND_ENUM_NAME)
#undef ARGAND_ENUM_NAME

// The name of the alternative a variant holds.
template <class Variant>
std::string get_enum_name(const Variant& v) {
  return std::visit([](auto e) { return std::string(name_of(e)); }, v);
}
}  // namespace enumtype

#define ARGAND_ENUM_VALUE(Name) inline constexpr enumtype::k##Name k##Name{};
ARGAND_FORALL_ENUMS(ARGAND_ENUM_VALUE)
#undef ARGAND_ENUM_VALUE
#undef ARGAND_FORALL_ENUMS

}  // namespace argand
