#include "tests/sim/linear_algebra.h"

#include "argand/kernels/blocks.h"
#include "argand/kernels/cpu/linear_algebra.h"
#include "argand/kernels/cpu/triangle.h"
#include "tests/sim/memory.h"

namespace argand::sim {
namespace {

NoteWork note_work = nullptr;

// Makes the addresses those that the CPU may use.
template <class... P>
void enter(P*&... p) {
  ((p = Memory::get().inside(p)), ...);
}

void factor_cholesky(const CholeskyCall& call) {
  CholeskyCall c = call;
  note_work({}, {c.a, c.info});
  enter(c.a, c.info);
  cpu::factor_cholesky(c);
}
void zero_outside(void* matrices, const Matrices& shape, int64_t item_size, int64_t diagonal, bool lower) {
  note_work({}, {matrices});
  cpu::zero_outside(Memory::get().inside(matrices), shape, item_size, diagonal, lower);
}
void factor_lu(const LuCall& call) {
  LuCall c = call;
  note_work({}, {c.a, c.pivots, c.info});
  enter(c.a, c.pivots, c.info);
  cpu::factor_lu(c);
}
void solve_lu(const LuSolveCall& call) {
  LuSolveCall c = call;
  note_work({c.lu, c.pivots}, {c.b});
  enter(c.lu, c.pivots, c.b);
  cpu::solve_lu(c);
}
void solve_triangle(const TriangleSolveCall& call) {
  TriangleSolveCall c = call;
  note_work({c.a}, {c.b});
  enter(c.a, c.b);
  cpu::solve_triangle(c);
}
void row_order(const RowOrderCall& call) {
  RowOrderCall c = call;
  note_work({c.pivots}, {c.order});
  enter(c.pivots, c.order);
  cpu::row_order(c);
}
void factor_qr(const QrCall& call) {
  QrCall c = call;
  note_work({}, {c.a, c.tau});
  enter(c.a, c.tau);
  cpu::factor_qr(c);
}
void reflections_product(const ReflectionsCall& call) {
  ReflectionsCall c = call;
  note_work({c.tau}, {c.a});
  enter(c.tau, c.a);
  cpu::reflections_product(c);
}
void decompose_hermitian(const HermitianCall& call) {
  HermitianCall c = call;
  note_work({}, {c.a, c.values, c.info});
  enter(c.a, c.values, c.info);
  cpu::decompose_hermitian(c);
}
void decompose_singular(const SingularCall& call) {
  SingularCall c = call;
  note_work({}, {c.a, c.s, c.u, c.v, c.info});
  enter(c.a, c.s, c.u, c.v, c.info);
  cpu::decompose_singular(c);
}
void decompose_general(const GeneralCall& call) {
  GeneralCall c = call;
  note_work({}, {c.a, c.values, c.vectors, c.info});
  enter(c.a, c.values, c.vectors, c.info);
  cpu::decompose_general(c);
}

}  // namespace

void register_linear_algebra(DeviceType type, NoteWork note) {
  note_work = note;
  blocks::factor_cholesky.set(type, factor_cholesky);
  blocks::zero_outside.set(type, zero_outside);
  blocks::factor_lu.set(type, factor_lu);
  blocks::solve_lu.set(type, solve_lu);
  blocks::solve_triangle.set(type, solve_triangle);
  blocks::row_order.set(type, row_order);
  blocks::factor_qr.set(type, factor_qr);
  blocks::reflections_product.set(type, reflections_product);
  blocks::decompose_hermitian.set(type, decompose_hermitian);
  blocks::decompose_singular.set(type, decompose_singular);
  blocks::decompose_general.set(type, decompose_general);
}

}  // namespace argand::sim
