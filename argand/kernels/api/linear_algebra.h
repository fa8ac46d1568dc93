// Dense linear algebra: blocks::factor_cholesky, factor_lu, solve_lu, factor_ldl, solve_ldl, solve_triangle, factor_qr,
// reflections_product, decompose_hermitian, decompose_singular, decompose_general and row_order.
//
// Every call is about a batch of `batch` matrices of one shape, which lie one after the other without gaps. `type` is
// float32, float64, complex64 or complex128, and is the type of all elements that are not said to be real.
// "Column-major" means LAPACK's order, in which the elements of a column are neighbours: the row-major matrix A is the
// column-major A^T. All sizes may be 0. Arrays named `info` hold an int32 for each matrix.
//
// Elements that are not finite make results that are not finite, or an `info` that is not 0, unless a call forbids
// them; they never make a call wait for ever.
#pragma once
#include <cstdint>

#include "argand/core/dtype.h"

namespace argand {

// A = L L^H (lower) or U^H U (upper), column-major [n, n], in place.  The other triangle is not read, and its elements
// are lost.  info: the order, from 1, of the first leading minor that is not positive-definite, or 0; the factor is
// then not complete.
struct CholeskyCall {
  ScalarType type;
  int64_t n, batch;
  bool upper;
  void* a;
  int32_t* info;
};
using RunCholesky = void(const CholeskyCall& call);

// P A = L U with pivots from the rows, column-major [m, n], in place: U on and above the diagonal, below it L, whose
// diagonal is 1.  pivots [batch, min(m, n)]: row k changed places with row pivots[k] - 1.  info: the number, from 1, of
// the first pivot that is 0, or 0; the factorization is complete all the same.
struct LuCall {
  ScalarType type;
  int64_t m, n, batch;
  void* a;
  int32_t *pivots, *info;
};
using RunLu = void(const LuCall& call);

// Replaces b, column-major [n, columns], by the solutions X of A X = b for what factor_lu made of A [n, n].  A pivot of
// 0 gives infinities and NaNs.
struct LuSolveCall {
  ScalarType type;
  int64_t n, columns, batch;
  const void* lu;
  const int32_t* pivots;
  void* b;
};
using RunLuSolve = void(const LuSolveCall& call);

// A = P L D L^T P^T (hermitian: L^H), column-major [n, n], of which the lower triangle is read, in place: L, whose
// diagonal is 1, below the diagonal of D, whose blocks have one or two rows, as LAPACK's sytrf and hetrf give them.
// The upper triangle is not read, and its elements are lost.  pivots [batch, n]: the row, from 1, with which row k
// changed places, negative for both rows of a block.  info: the number, from 1, of the first row of D that is 0, or 0.
struct LdlCall {
  ScalarType type;
  int64_t n, batch;
  bool hermitian;
  void* a;
  int32_t *pivots, *info;
};
using RunLdl = void(const LdlCall& call);

// Replaces b, column-major [n, columns], by the solutions X of A X = b for what factor_ldl made of A.  A row of D that
// is 0 gives infinities and NaNs.
struct LdlSolveCall {
  ScalarType type;
  int64_t n, columns, batch;
  bool hermitian;
  const void* ld;
  const int32_t* pivots;
  void* b;
};
using RunLdlSolve = void(const LdlSolveCall& call);

// Replaces b [n, columns] by the solutions X of A X = b for triangles a [n, n], both row-major.  The other triangle is
// not read; `ones`: nor is the diagonal, which counts as 1.
struct TriangleSolveCall {
  ScalarType type;
  int64_t n, columns, batch;
  bool upper, ones;
  const void* a;
  void* b;
};
using RunTriangleSolve = void(const TriangleSolveCall& call);

// Where each row came from, row_order [batch, rows], after rows k changed places with rows pivots[k] - 1, for pivots
// [batch, count] between 1 and `rows`.
struct RowOrderCall {
  int64_t rows, count, batch;
  const int32_t* pivots;
  int64_t* order;
};
using RunRowOrder = void(const RowOrderCall& call);

// A = Q R, column-major [m, n], in place, as LAPACK's geqrf: R on and above the diagonal, below it the vectors of the
// reflections I - tau v v^H whose product is Q.  tau [batch, min(m, n)].
struct QrCall {
  ScalarType type;
  int64_t m, n, batch;
  void *a, *tau;
};
using RunQr = void(const QrCall& call);

// Replaces a, column-major [m, columns] with columns <= m, by the first columns of the product of `count` reflections,
// count <= columns, whose vectors stand below the diagonal of a and whose factors are tau [batch, count].
struct ReflectionsCall {
  ScalarType type;
  int64_t m, columns, count, batch;
  void* a;
  const void* tau;
};
using RunReflections = void(const ReflectionsCall& call);

// A = V diag(values) V^H of Hermitian matrices, column-major [n, n], of which only the lower or the upper triangle is
// read.  With `vectors`, a becomes V, else its elements are lost.  values [batch, n] is real and rises.  info is not 0
// where an iteration did not converge.  REQUIRES finite elements in the triangle.
struct HermitianCall {
  ScalarType type;
  int64_t n, batch;
  bool upper, vectors;
  void *a, *values;
  int32_t* info;
};
using RunHermitian = void(const HermitianCall& call);

// A = U diag(s) V^H for column-major a [m, n], m >= n, whose elements are lost.  s [batch, n] is real and falls.  u [m,
// width], width being n or m, and v [n, n] are column-major; both are null if vectors are not asked for.  info is not 0
// where an iteration did not converge.  REQUIRES finite elements.
struct SingularCall {
  ScalarType type;
  int64_t m, n, width, batch;
  void *a, *s, *u, *v;
  int32_t* info;
};
using RunSingular = void(const SingularCall& call);

// A V = V diag(values) for column-major a [n, n], whose elements are lost.  values [batch, n] is complex.  vectors [n,
// n], or null, is column-major and of the type of a: where a is real, columns k and k + 1 are the real and the
// imaginary part of the vector for values[k] if its imaginary part is positive, and values[k + 1] and its vector are
// their conjugates.  Vectors have length 1.  info is not 0 where an iteration did not converge.  REQUIRES finite
// elements.
struct GeneralCall {
  ScalarType type;
  int64_t n, batch;
  void *a, *values, *vectors;
  int32_t* info;
};
using RunGeneral = void(const GeneralCall& call);

}  // namespace argand
