// A matrix does not fit an operation: it is singular, or not positive-definite.
#pragma once
#include "argand/base/error.h"

namespace argand {

class LinAlgError : public Error {
 public:
  using Error::Error;
};

}  // namespace argand
