// The argument by which a kernel learns what else to do with its result (Note [Epilogues]).
#pragma once

namespace argand {

template <class T>  // void for the host
struct Epilogue {
  T* out;                   // where the activation goes; null: there is none
  const T* mask;            // null: the activation is relu; else threshold_backward by it, with threshold 0
  unsigned long long keep;  // whether the result itself is stored too
};

}  // namespace argand
