// The inner kernels of direct convolution, compiled once per instruction set (conv_simd.inc).
#pragma once
#include <algorithm>
#include <cstdint>

#include "argand/kernels/cpu/conv.h"
#include "argand/kernels/cpu/vector_unit.h"

// Note [Unfolded rows]
// A convolution is a product of the weights [o, (c, taps)] with a matrix whose row (c, tap) holds the inputs that the
// tap reads.  This matrix (im2col) is never made.  Let d be the outermost spatial dimension of more than one element:
// shifting a tap along d only shifts its row of the matrix, if all positions inside d are stored once for each inner
// tap.  So for a 3x3 kernel a channel is copied 3 times, not 9, with zeros where the kernel exceeds the edge, and
// element p of row (c, taps) is buffer[offset(c, taps) + p].  With a stride s along d, positions i and j are neighbours
// if j = i + s: the rows are stored in s separate phases.
//
//   buffer[channel][inner tap][phase][row][inner position]
//
// The kernels read the rows in place: vectors run along the output's positions, which are dense in y, gy and buffer.
namespace argand::cpu {

struct ConvLayout {
  explicit ConvLayout(const ConvShape& shape);

  int64_t buffer_rows(int64_t out_rows) const { return out_rows + halo; }
  int64_t tap_size(int64_t out_rows) const { return phases * buffer_rows(out_rows) * inner_size; }
  int64_t channel_size(int64_t out_rows) const { return inner_taps * tap_size(out_rows); }
  // offsets[c * taps + tap] for `channels` channels.
  void offsets(int64_t channels, int64_t out_rows, int64_t* out) const;

  ConvShape s;
  int dim;             // d of the note
  int64_t out_rows;    // s.out[dim]
  int64_t inner_size;  // output positions inside one row
  int64_t inner_taps;
  int64_t phases;
  int64_t halo;  // rows that the taps reach beyond those of the first tap
};

// C[rows, columns] (+)= A * B: A is a packed panel, a[k * rows + r]; row k of B begins at b + offsets[k].
template <class T>
struct ConvTile {
  int64_t rows, columns, k;
  const T* a;
  const T* b;
  const int64_t* offsets;
  T* c;
  int64_t c_stride;
  bool adds;      // to the values in C
  const T* bias;  // otherwise: one for each row, may be null
};

// The transposed form, with vectors along the output's channels: with few positions, vectors along them would be partly
// empty.  out[i * out_stride + o] (+)= sum over k of x[offsets[k] + i] * w[k * 2 * lanes + o].
template <class T>
struct ConvTurnedTile {
  int64_t rows, k;  // positions, at most max_rows
  const T* x;
  const int64_t* offsets;
  const T* w;  // a panel 2 * lanes wide
  T* out;
  int64_t out_stride;
  bool adds;        // to the values in out
  const T* bias;    // otherwise: one for each channel, may be null
  int64_t columns;  // that have one
};

// One plane of a depthwise convolution in two dimensions, with a stride of one or two along a line.  The plane is
// copied once, with zeros around it and the phases of its lines one after the other.
template <class T>
struct ConvPlane {
  const ConvShape& s;
  const T* x;
  const T* w;  // of tap k: w[k * w_step]
  int64_t w_step;
  T bias;
  T* y;
  T* buffer;

  static int64_t phases(const ConvShape& s) { return s.stride[2]; }
  static int64_t pitch(const ConvShape& s) { return s.out[2] + (s.kernel[2] - 1) / s.stride[2]; }  // of a phase
  static int64_t lines(const ConvShape& s) {
    return (s.out[1] - 1) * s.stride[1] + (s.kernel[1] - 1) * s.dilation[1] + 1;
  }
  static int64_t buffer_size(const ConvShape& s, int64_t lanes) { return lines(s) * phases(s) * pitch(s) + lanes; }
};

// `count` neighbours of a line that use the same taps of a channels-last depthwise convolution: for channel c and tap
// k, neighbour i reads source[i * step + places[k] + c], and the weight is w[rows[k] + c].
struct ConvReads {
  int64_t channels, count, taps, step;
  const int64_t *places, *rows;
};

// y[i * y_step + c] = bias[c] + the sum over the taps of the input of neighbour i times the weight.
template <class T>
struct ConvChannels {
  ConvReads reads;
  const T *source, *w, *bias;  // the last may be null
  T* y;
  int64_t y_step;
};

// out[rows[k] + c] += the sum over the neighbours of gy[i * gy_step + c] times the input of neighbour i for tap k.
template <class T>
struct ConvChannelDots {
  ConvReads reads;
  const T *source, *gy;
  int64_t gy_step;
  T* out;
};

// A run of output positions of one image: gradients of one output channel and the matching buffer.
template <class T>
struct ConvRun {
  const T* gy;
  const T* x;
  int64_t length;
};

// out[r * out_stride + i] += sum over runs and positions p of gy[gy_first + r * gy_stride + p] * x[offsets[i] + p].
template <class T>
struct ConvDots {
  int64_t rows, taps;  // at most max_dot_rows, max_dot_taps
  const ConvRun<T>* runs;
  int64_t run_count;
  int64_t gy_first, gy_stride;
  const int64_t* offsets;
  T* out;
  int64_t out_stride;
};

// out[i * out_stride + o] += sum over runs and positions p of x[offsets[i] + p] * gy[position * gy_stride + o], where
// position counts through all runs.  gy is transposed and packed here: its rows are max_columns wide.
template <class T>
struct ConvProducts {
  int64_t taps, columns;  // at most max_taps, 2 * lanes
  const ConvRun<T>* runs;
  int64_t run_count;
  const T* gy;
  const int64_t* offsets;
  T* out;
  int64_t out_stride;
};

template <class T>
struct ConvKernels {
  int64_t max_rows, lanes;
  int64_t wide_rows;  // tiles of at most so many rows may have 4 * lanes columns, others 2 * lanes
  int64_t max_dot_rows, max_dot_taps;
  void (*tile)(const ConvTile<T>&);
  void (*turned_tile)(const ConvTurnedTile<T>&);
  void (*plane)(const ConvPlane<T>&);
  void (*channels)(const ConvChannels<T>&);
  void (*channel_dots)(const ConvChannelDots<T>&);
  void (*dots)(const ConvDots<T>&);
  int64_t max_product_taps;
  void (*products)(const ConvProducts<T>&);
  // Fills the buffer for output rows [first_row, first_row + rows) from x [channels, in], and may overwrite `lanes`
  // elements behind it.
  void (*unfold)(const ConvLayout&, const T* x, int64_t channels, int64_t first_row, int64_t rows, T* buffer);
};

template <class T>
const ConvKernels<T>& conv_kernels(VectorUnit unit);

}  // namespace argand::cpu

#define ARGAND_DECLARE_CONV_KERNELS(unit)             \
  namespace argand::unit {                            \
  const argand::cpu::ConvKernels<float>& conv_f32();  \
  const argand::cpu::ConvKernels<double>& conv_f64(); \
  }
ARGAND_DECLARE_CONV_KERNELS(avx512)
ARGAND_DECLARE_CONV_KERNELS(avx2)
ARGAND_DECLARE_CONV_KERNELS(portable)
#undef ARGAND_DECLARE_CONV_KERNELS
