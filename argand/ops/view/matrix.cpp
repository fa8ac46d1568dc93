// Transposes of the last two dimensions: mT, mH, H, adjoint.
#include "argand/ops/define.h"
#include "argand/ops/view/args.h"

namespace argand::ops {
namespace {

Tensor matrix_transpose(const char* op, const Tensor& t) {
  ARGAND_CHECK(ShapeError, t.dim() >= 2, op, ": only supported on matrices or batches of matrices. Got ", t.dim(),
               "-D tensor.");
  return t.transpose(-2, -1);
}

}  // namespace

struct MatrixT : Composite<MatrixTArgs> {
  static constexpr auto schema = "mT(Tensor(a) self) -> Tensor(a)";
  static constexpr auto doc = "The last two dimensions exchanged.";
  static constexpr int variants = kMethod;
  static constexpr auto not_python_methods = "mT";
  static Tensor compose(const Args& a) { return matrix_transpose("mT", a.self); }
  static void samples(S& s) {
    s.add({s->real({2, 3, 4})});
    s.fails({s->real({2})}, "mT: only supported on matrices or batches of matrices. Got 1-D tensor.");
  }
};
ARGAND_OP(MatrixT)

struct Adjoint : Composite<AdjointArgs> {
  static constexpr auto schema = "adjoint(Tensor(a) self) -> Tensor(a)";
  static constexpr const char* overloads[] = {"mH(Tensor(a) self) -> Tensor(a)"};
  static constexpr auto doc = "The last two dimensions exchanged, conjugated.";
  static constexpr auto not_python_methods = "mH";
  static Tensor compose(const Args& a) { return matrix_transpose("adjoint", a.self).conj(); }
  static void samples(S& s) {
    s.add({s->real({2, 3, 4})});
    s.fails({s->real({})}, "adjoint: only supported on matrices or batches of matrices. Got 0-D tensor.");
  }
};
ARGAND_OP(Adjoint)

struct MatrixH : Composite<MatrixHArgs> {
  static constexpr auto schema = "matrix_H(Tensor(a) self) -> Tensor(a)";
  static constexpr const char* overloads[] = {"H(Tensor(a) self) -> Tensor(a)"};
  static constexpr auto doc = "The conjugate transpose of a matrix.";
  static constexpr int variants = kMethod;
  static constexpr auto not_python_methods = "matrix_H H";
  static Tensor compose(const Args& a) {
    if (a.self.dim() == 0) return alias(a.self);
    ARGAND_CHECK(ShapeError, a.self.dim() == 2, "H: only supported on matrices (2-D tensors). Got ", a.self.dim(),
                 "-D tensor.");
    return a.self.transpose(0, 1).conj();
  }
  static void samples(S& s) {
    s.add({s->real({2, 3})});
    s.fails({s->real({2, 3, 4})}, "H: only supported on matrices (2-D tensors). Got 3-D tensor.");
  }
};
ARGAND_OP(MatrixH)

struct NumpyT : Composite<NumpyTArgs> {
  static constexpr auto schema = "numpy_T(Tensor(a) self) -> Tensor(a)";
  static constexpr auto doc = "All dimensions in reverse order.";
  static constexpr int variants = kMethod;
  static constexpr auto not_python_methods = "numpy_T";
  static Tensor compose(const Args& a) {
    Dims order;
    for (int64_t d = a.self.dim(); d-- > 0;) order.push_back(d);
    return a.self.permute(order);
  }
  static void samples(S& s) { s.add({s->real({2, 3, 4})}); }
};
ARGAND_OP(NumpyT)

}  // namespace argand::ops
