#include "argand/kernels/cpu/conv_direct.h"

#include <algorithm>

#include "argand/kernels/cpu/conv_im2col.h"
#include "argand/kernels/cpu/conv_simd.h"
#include "argand/kernels/cpu/conv_tasks.h"
#include "argand/kernels/cpu/gemm_simd.h"
#include "argand/kernels/cpu/scratch.h"
#include "argand/runtime/cpu/thread_pool.h"

namespace argand::cpu {
namespace {

constexpr int64_t kSlabBytes = 160 << 10;  // of unfolded input at a time: in the second-level cache beside x and gy
constexpr int64_t kImageBytes = 4 << 20;   // of an unfolded image, where it is done as a whole
constexpr int64_t kDepth = 1152;  // rows of the unfolded matrix at a time: a tile's stay in the second-level cache
constexpr int64_t kTurnedPositions = 512, kDotPositions = 4096;  // of a weight's gradient between accesses to its sums
constexpr int64_t kPanels = 4;  // vectors of turned gradients that stay in the second-level cache beside unfolded input

// Output rows whose unfolded input fits in kSlabBytes, but several times the halo, which neighbours unfold once more.
template <class T>
Pieces slabs(const ConvLayout& l, int64_t channels) {
  const int64_t row_bytes =
      std::max<int64_t>(1, channels * l.inner_taps * l.phases * l.inner_size * static_cast<int64_t>(sizeof(T)));
  return {l.out_rows, std::max<int64_t>(4 * l.halo + 1, kSlabBytes / row_bytes - l.halo)};
}

// Cuts further until `others` times as many tasks are enough for the threads, or so small that it would not be worth
// it.
void share_rows(const ConvLayout& l, int64_t row_products, int64_t others, Pieces& slab) {
  while (others * slab.count < 2 * get_num_threads() && slab.size > 2 * slab.count * (1 + l.halo) &&
         slab.size / slab.count * row_products > 2 * kTaskProducts)
    slab.count *= 2;
}

// Unfolds images of [n, channels, in], or of [n, in, channels] with one group, which are turned around a vector of
// channels at a time: those that are then unfolded are still in a cache.
template <class T>
class Images {
 public:
  Images(const ConvLayout& l, const ConvKernels<T>& kernels, const T* x)
      : l_(l),
        kernels_(kernels),
        turn_(detail::gemm_kernels<T>(vector_unit()).turn),
        x_(x),
        channels_(l.s.c / l.s.groups),
        planes_(l.s.channels_last ? kernels.lanes * l.s.in_size() : 0) {}

  // As ConvKernels::unfold, for `channels` of a group's channels; `image` counts groups too.
  void unfold(int64_t image, int64_t first_channel, int64_t channels, int64_t first_row, int64_t rows, T* buffer) {
    const int64_t size = l_.s.in_size();
    if (!l_.s.channels_last)
      return kernels_.unfold(l_, x_ + (image * channels_ + first_channel) * size, channels, first_row, rows, buffer);
    const auto d = static_cast<size_t>(l_.dim);
    const int64_t from = first_row * l_.s.stride[d] - l_.s.padding[d], reach = (l_.s.kernel[d] - 1) * l_.s.dilation[d];
    const int64_t lines = l_.s.in[d], line = size / std::max<int64_t>(1, lines);
    const int64_t first = std::clamp<int64_t>(from, 0, lines),
                  last = std::clamp<int64_t>(from + (rows - 1) * l_.s.stride[d] + reach + 1, first, lines);
    for (int64_t c = 0; c < channels; c += kernels_.lanes, buffer += kernels_.lanes * l_.channel_size(rows)) {
      const int64_t some = std::min(kernels_.lanes, channels - c);
      turn_({x_ + (image * size + first * line) * channels_ + first_channel + c, channels_, 1, (last - first) * line,
             some},
            planes_.data() + first * line, size);
      kernels_.unfold(l_, planes_.data(), some, first_row, rows, buffer);
    }
  }

 private:
  const ConvLayout& l_;
  const ConvKernels<T>& kernels_;
  void (*const turn_)(const detail::PanelSource<T>&, T*, int64_t);
  const T* const x_;
  const int64_t channels_;
  ScratchBuffer<T> planes_;
};

// w[o][c][tap] of one group, or what takes its place.
template <class T>
struct Weights {
  const T* data;
  int64_t group_stride, row_stride, channel_stride, tap_stride;
};

// The panel to[k * width + i] = w[first + i][first_k + k] of a group, zero for i >= rows.
template <class T>
void pack_weights(const Weights<T>& w, int64_t taps, int64_t group, int64_t first, int64_t rows, int64_t first_k,
                  int64_t depth, T* to, int64_t width) {
  const T* const data = w.data + group * w.group_stride + first * w.row_stride;
  const auto& kernels = detail::gemm_kernels<T>(vector_unit());
  if (w.channel_stride == taps * w.tap_stride)
    return kernels.pack({data + first_k * w.tap_stride, w.row_stride, w.tap_stride, rows, depth}, to, width);
  const int64_t first_channel = first_k / taps, first_tap = first_k % taps;
  if (w.channel_stride == 1) {  // [o][tap][c]
    if (rows < width) std::fill_n(to, depth * width, T(0));
    for (int64_t tap = 0; tap < taps; ++tap) {
      const int64_t c = first_channel + (tap < first_tap), k = c * taps + tap - first_k;
      if (k < depth)
        kernels.turn({data + tap * w.tap_stride + c, w.row_stride, 1, rows, (depth - k + taps - 1) / taps},
                     to + k * width, taps * width);
    }
    return;
  }
  for (int64_t k = 0, c = first_channel, tap = first_tap; k < depth; ++k, to += width) {
    const T* const from = data + c * w.channel_stride + tap * w.tap_stride;
    if (w.row_stride == 1)
      std::copy_n(from, rows, to);
    else
      for (int64_t i = 0; i < rows; ++i) to[i] = from[i * w.row_stride];
    std::fill(to + rows, to + width, T(0));
    if (++tap == taps) tap = 0, ++c;
  }
}

template <class T>
class Forward {
 public:
  Forward(const ConvShape& s, const Weights<T>& w)
      : l_(s),
        kernels_(conv_kernels<T>(vector_unit())),
        channels_(s.c / s.groups),
        k_(channels_ * s.kernel_size()),
        rows_(s.o / s.groups, kernels_.max_rows),
        depths_(k_, kDepth),
        panels_(s.o * k_) {
    const int64_t tasks = s.groups * depths_.count * rows_.count;
    parallel_for(0, tasks, grain_for(kDepth * kernels_.max_rows), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t r = i % rows_.count, d = i / rows_.count % depths_.count, group = i / rows_.count / depths_.count;
        pack_weights(w, s.kernel_size(), group, rows_.start(r), rows_.length(r), depths_.start(d), depths_.length(d),
                     panel(group, d, r), rows_.length(r));
      }
    });
  }

  void run(const T* x, const T* bias, T* y) {
    const ConvShape& s = l_.s;
    Pieces slab = slabs<T>(l_, channels_);
    const int64_t row_products = rows_.size * k_ * l_.inner_size;
    share_rows(l_, row_products, s.n * s.groups, slab);
    const int64_t grain = grain_for(ceil_div(slab.size, slab.count) * row_products);
    parallel_for(0, s.n * s.groups * slab.count, grain, [&](int64_t begin, int64_t end) {
      const int64_t most = ceil_div(slab.size, slab.count);
      ScratchBuffer<T> buffer(channels_ * l_.channel_size(most) + kernels_.lanes);
      ScratchBuffer<T> result(s.channels_last ? rows_.size * most * l_.inner_size : 0);
      ScratchBuffer<int64_t, 4096> offsets(k_);
      Images<T> images(l_, kernels_, x);
      for (int64_t task = begin, last_rows = -1; task < end; ++task) {
        const int64_t image = task / slab.count, first = slab.start(task % slab.count),
                      rows = slab.length(task % slab.count);
        const int64_t group = image % s.groups;
        if (rows != last_rows) l_.offsets(channels_, rows, offsets.data());
        last_rows = rows;
        images.unfold(image, 0, channels_, first, rows, buffer.data());
        const int64_t positions = rows * l_.inner_size, place = image * rows_.size * s.out_size();
        T* const out = s.channels_last ? result.data() : y + place + first * l_.inner_size;
        multiply(group, buffer.data(), offsets.data(), positions, bias == nullptr ? nullptr : bias + group * rows_.size,
                 out, s.channels_last ? positions : s.out_size());
        if (s.channels_last)
          gemm_kernels_.turn({out, positions, 1, rows_.size, positions}, y + place + first * l_.inner_size * rows_.size,
                             rows_.size);
      }
    });
  }

 private:
  T* panel(int64_t group, int64_t depth, int64_t row) {
    return panels_.data() + (group * k_ + depths_.start(depth)) * rows_.size + rows_.start(row) * depths_.length(depth);
  }

  void multiply(int64_t group, const T* buffer, const int64_t* offsets, int64_t positions, const T* bias, T* y,
                int64_t stride) {
    const bool wide = ceil_div(rows_.size, rows_.count) <= kernels_.wide_rows;
    const int64_t width = (wide ? 4 : 2) * kernels_.lanes;
    for (int64_t d = 0; d < depths_.count; ++d)
      for (int64_t p = 0; p < positions; p += width)
        for (int64_t r = 0; r < rows_.count; ++r) {
          const int64_t row = rows_.start(r);
          kernels_.tile({rows_.length(r), std::min(width, positions - p), depths_.length(d), panel(group, d, r),
                         buffer + p, offsets + depths_.start(d), y + row * stride + p, stride, d > 0,
                         bias == nullptr ? nullptr : bias + row});
        }
  }

  const ConvLayout l_;
  const ConvKernels<T>& kernels_;
  const detail::GemmKernels<T>& gemm_kernels_ = detail::gemm_kernels<T>(vector_unit());
  const int64_t channels_, k_;
  const Pieces rows_, depths_;
  ScratchBuffer<T> panels_;
};

// The same bits with vectors along the output's channels: a tenth faster if there are enough channels, and a third if
// there are so few positions that vectors along them would be partly empty.
template <class T>
class TurnedForward {
 public:
  static bool suits(const ConvShape& s) {
    const int64_t lanes = conv_kernels<T>(vector_unit()).lanes, outs = s.o / s.groups, positions = s.out_size();
    const auto filled = [](int64_t n, int64_t unit) { return ceil_div(n, unit) * unit; };
    const ConvLayout l(s);
    const int64_t bytes = s.c / s.groups * l.channel_size(l.out_rows) * static_cast<int64_t>(sizeof(T));
    if (bytes > kImageBytes) return false;
    if (s.channels_last && outs % (2 * lanes) == 0) return true;  // the result is in place
    return 10 * filled(outs, 2 * lanes) * positions <= 11 * outs * filled(positions, lanes);
  }

  TurnedForward(const ConvShape& s, const Weights<T>& w)
      : l_(s),
        kernels_(conv_kernels<T>(vector_unit())),
        channels_(s.c / s.groups),
        k_(channels_ * s.kernel_size()),
        outs_(s.o / s.groups),
        width_(2 * kernels_.lanes),
        columns_(ceil_div(outs_, width_)),
        depths_(k_, kDepth),
        panels_(s.groups * k_ * columns_ * width_) {
    const int64_t tasks = s.groups * depths_.count * columns_;
    parallel_for(0, tasks, grain_for(kDepth * width_), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t c = i % columns_, d = i / columns_ % depths_.count, group = i / columns_ / depths_.count;
        pack_weights(w, s.kernel_size(), group, c * width_, std::min(width_, outs_ - c * width_), depths_.start(d),
                     depths_.length(d), panel(group, d, c), width_);
      }
    });
  }

  void run(const T* x, const T* bias, T* y) {
    const ConvShape& s = l_.s;
    int64_t splits = 1;
    while (get_num_threads() > 1 && s.n * s.groups * splits < 2 * get_num_threads() && columns_ / splits >= 4)
      splits *= 2;
    const Pieces split(columns_, ceil_div(columns_, splits));
    Pieces slab(l_.out_rows, l_.out_rows);
    share_rows(l_, l_.inner_size * k_ * outs_ / split.count, s.n * s.groups * split.count, slab);
    const int64_t most = ceil_div(slab.size, slab.count);
    const int64_t grain = grain_for(s.out_size() * k_ * outs_ / split.count / slab.count);
    parallel_for(0, s.n * s.groups * slab.count * split.count, grain, [&](int64_t begin, int64_t end) {
      ScratchBuffer<T> buffer(channels_ * l_.channel_size(most) + kernels_.lanes);
      const bool in_place = s.channels_last && outs_ % width_ == 0;
      ScratchBuffer<T> sums(in_place ? 0 : most * l_.inner_size * ceil_div(columns_, split.count) * width_);
      ScratchBuffer<int64_t, 4096> offsets(k_);
      Images<T> images(l_, kernels_, x);
      for (int64_t task = begin, last_rows = -1; task < end; ++task) {
        const int64_t image = task / split.count / slab.count, group = image % s.groups, i = task % split.count;
        const int64_t row = slab.start(task / split.count % slab.count),
                      rows = slab.length(task / split.count % slab.count);
        if (rows != last_rows) l_.offsets(channels_, rows, offsets.data());
        last_rows = rows;
        images.unfold(image, 0, channels_, row, rows, buffer.data());
        const int64_t first = split.start(i), last = split.start(i + 1),
                      outs = std::min(outs_, last * width_) - first * width_;
        const int64_t positions = rows * l_.inner_size, position = row * l_.inner_size;
        T* const place =
            y + image * outs_ * s.out_size() +
            (s.channels_last ? position * outs_ + first * width_ : first * width_ * s.out_size() + position);
        T* const out = in_place ? place : sums.data();
        const int64_t stride = in_place ? outs_ : (last - first) * width_;
        multiply(group, first, last, buffer.data(), offsets.data(), positions,
                 bias == nullptr ? nullptr : bias + group * outs_, out, stride);
        if (!s.channels_last)
          gemm_kernels_.turn({out, stride, 1, positions, outs}, place, s.out_size());
        else if (!in_place)
          for (int64_t p = 0; p < positions; ++p) std::copy_n(out + p * stride, outs, place + p * outs_);
      }
    });
  }

 private:
  T* panel(int64_t group, int64_t depth, int64_t column) {
    return panels_.data() + ((group * k_ + depths_.start(depth)) * columns_ + column * depths_.length(depth)) * width_;
  }

  void multiply(int64_t group, int64_t first, int64_t last, const T* buffer, const int64_t* offsets, int64_t count,
                const T* bias, T* sums, int64_t stride) {
    const Pieces positions(count, kernels_.max_rows);
    for (int64_t d = 0; d < depths_.count; ++d)
      for (int64_t c = first; c < last; ++c)
        for (int64_t p = 0; p < positions.count; ++p)
          kernels_.turned_tile({positions.length(p), depths_.length(d), buffer + positions.start(p),
                                offsets + depths_.start(d), panel(group, d, c),
                                sums + positions.start(p) * stride + (c - first) * width_, stride, d > 0,
                                bias == nullptr ? nullptr : bias + c * width_, outs_ - c * width_});
  }

  const ConvLayout l_;
  const ConvKernels<T>& kernels_;
  const detail::GemmKernels<T>& gemm_kernels_ = detail::gemm_kernels<T>(vector_unit());
  const int64_t channels_, k_, outs_, width_, columns_;
  const Pieces depths_;
  ScratchBuffer<T> panels_;
};

// Depthwise convolution.  It gives the same bits, too.
bool are_planes(const ConvShape& s) {
  return s.c == s.groups && s.o == s.groups && s.in[0] == 1 && s.out[0] == 1 && s.kernel[0] == 1 && s.padding[0] == 0 &&
         s.stride[2] <= 2 && s.dilation[2] == 1;
}

template <class T>
void forward_planes(const ConvShape& s, const Weights<T>& w, const T* x, const T* bias, T* y) {
  const ConvKernels<T>& kernels = conv_kernels<T>(vector_unit());
  parallel_for(0, s.n * s.groups, grain_for(s.out_size() * s.kernel_size()), [&](int64_t begin, int64_t end) {
    ScratchBuffer<T> buffer(ConvPlane<T>::buffer_size(s, kernels.lanes));
    for (int64_t i = begin; i < end; ++i) {
      const int64_t channel = i % s.groups;
      kernels.plane({s, x + i * s.in_size(), w.data + channel * w.group_stride, w.tap_stride,
                     bias == nullptr ? T(0) : bias[channel], y + i * s.out_size(), buffer.data()});
    }
  });
}

template <class T>
void run_forward(const ConvShape& s, const Weights<T>& w, const T* x, const T* bias, T* y) {
  if (are_planes(s)) return forward_planes(s, w, x, bias, y);
  if (TurnedForward<T>::suits(s)) return TurnedForward<T>(s, w).run(x, bias, y);
  Forward<T>(s, w).run(x, bias, y);
}

// The sum over positions is cut into parts by the shape alone; each part has its own copy of the sums, and the copies
// are added in order.  Within a part it goes on in blocks of runs, so many positions that reading and writing the sums
// is little beside them, and for each block through the input's channels, so many at a time that they stay unfolded in
// the second-level cache.  With enough output channels for a vector the sums lie as [(c, tap)][o], products of x with
// vectors of gy turned around (turning gy is cheap: it is used once for each channel and tap).  With fewer, as [o][(c,
// tap)], dot products of rows.
template <class T>
class WeightGrad {
 public:
  explicit WeightGrad(const ConvShape& s)
      : l_(s),
        kernels_(conv_kernels<T>(vector_unit())),
        gemm_kernels_(detail::gemm_kernels<T>(vector_unit())),
        channels_(s.c / s.groups),
        k_(channels_ * s.kernel_size()),
        outs_(s.o / s.groups),
        width_(2 * kernels_.lanes),
        turned_(s.channels_last || (outs_ >= width_ ? k_ >= 24 : 2 * outs_ >= kernels_.lanes && k_ >= 64)),
        slab_(l_.out_rows, std::max(4 * l_.halo + 1, block_positions() / l_.inner_size)),
        slab_rows_(ceil_div(slab_.size, slab_.count)),
        parts_(parts_of_sums(s, s.n * slab_.count)) {}

  void run(const T* gy, const T* x, T* gw) const {
    const int64_t size = l_.s.o * k_;
    ScratchBuffer<T> sums(parts_.count * size);
    // Tasks that share a part turn all of its gy, or unfold all of its x.
    int64_t channel_splits = 1, out_splits = 1;
    const auto more = [&] { return parts_.count * l_.s.groups * channel_splits * out_splits < 2 * get_num_threads(); };
    while (more() && channels_ / channel_splits >= 2 && k_ / channel_splits >= 16 * kernels_.max_product_taps)
      channel_splits *= 2;
    while (more() && outs_ / out_splits >= 2 * width_) out_splits *= 2;
    const Pieces channels(channels_, ceil_div(channels_, channel_splits)),
        vectors(ceil_div(outs_, width_), ceil_div(ceil_div(outs_, width_), out_splits));
    const int64_t tasks = parts_.count * l_.s.groups * channels.count * vectors.count;
    const int64_t products = l_.s.n * l_.s.out_size() * outs_ * k_ * l_.s.groups / tasks;
    parallel_for(0, tasks, grain_for(products), [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t v = task % vectors.count, c = task / vectors.count % channels.count;
        const int64_t in_group = task / vectors.count / channels.count;
        const int64_t group = in_group % l_.s.groups, part = in_group / l_.s.groups;
        const int64_t first = vectors.start(v) * width_;
        sum_part({part, group, first, std::min(vectors.length(v) * width_, outs_ - first), channels.start(c),
                  channels.length(c)},
                 gy, x, sums.data() + part * size);
      }
    });
    add_parts(sums.data(), gw);
  }

 private:
  struct Task {
    int64_t part, group;
    int64_t first_out, outs, first_channel, channels;  // of the group
  };
  // Runs of the same length: those of whole images, or a single one.
  struct Block {
    int64_t first, count, rows, length;
  };

  int64_t block_positions() const { return turned_ ? kTurnedPositions : kDotPositions; }

  void sum_part(const Task& t, const T* gy, const T* x, T* sums) const {
    const ConvShape& s = l_.s;
    const int64_t together =
        slab_.count > 1 ? 1 : std::max<int64_t>(1, block_positions() / (slab_rows_ * l_.inner_size));
    const Pieces blocks(parts_.length(t.part), together);
    const int64_t most = ceil_div(blocks.size, blocks.count);
    const int64_t channel_bytes = most * l_.channel_size(slab_rows_) * static_cast<int64_t>(sizeof(T));
    const Pieces chunks(t.channels, std::max<int64_t>(1, kSlabBytes / std::max<int64_t>(1, channel_bytes)));
    const int64_t chunk = ceil_div(chunks.size, chunks.count), run_size = chunk * l_.channel_size(slab_rows_);
    ScratchBuffer<T> buffer(most * run_size + kernels_.lanes);
    Images<T> images(l_, kernels_, x);
    ScratchBuffer<T> turned(turned_ ? ceil_div(t.outs, width_) * width_ * most * slab_rows_ * l_.inner_size : 0);
    ScratchBuffer<ConvRun<T>, 2048> runs(most);
    ScratchBuffer<int64_t, 4096> offsets(chunk * s.kernel_size());
    clear(t, sums);
    for (int64_t i = 0; i < blocks.count; ++i) {
      const int64_t first = parts_.start(t.part) + blocks.start(i), rows = slab_.length(first % slab_.count);
      const Block block{first, blocks.length(i), rows, rows * l_.inner_size};
      if (turned_) turn(t, block, gy, turned.data());
      l_.offsets(chunk, rows, offsets.data());
      for (int64_t c = 0; c < chunks.count; ++c) {
        const int64_t channel = t.first_channel + chunks.start(c), channels = chunks.length(c);
        for (int64_t r = 0; r < block.count; ++r) {
          T* const to = buffer.data() + r * run_size;
          images.unfold(image(t, first + r), channel, channels, first_row(first + r), rows, to);
          runs.data()[r] = {gy_of(t, first + r, gy), to, block.length};
        }
        T* const out = sums_of(t, channel, sums);
        const int64_t taps = channels * s.kernel_size();
        if (turned_) {
          add_products(t, block, runs.data(), taps, offsets.data(), turned.data(), out);
        } else {
          add_dots(t, block, runs.data(), taps, offsets.data(), out);
        }
      }
    }
  }

  int64_t image(const Task& t, int64_t run) const { return run / slab_.count * l_.s.groups + t.group; }
  int64_t first_row(int64_t run) const { return slab_.start(run % slab_.count); }
  const T* gy_of(const Task& t, int64_t run, const T* gy) const {
    return gy + image(t, run) * outs_ * l_.s.out_size() + t.first_out * out_stride() +
           first_row(run) * l_.inner_size * position_stride();
  }

  // Distances between neighbours in gy.
  int64_t out_stride() const { return l_.s.channels_last ? 1 : l_.s.out_size(); }
  int64_t position_stride() const { return l_.s.channels_last ? outs_ : 1; }

  // Sums of a group begin at group * outs * k in either layout.
  T* sums_of(const Task& t, int64_t channel, T* sums) const {
    const int64_t tap = channel * l_.s.kernel_size();
    return sums + t.group * outs_ * k_ + (turned_ ? tap * outs_ + t.first_out : t.first_out * k_ + tap);
  }

  void clear(const Task& t, T* sums) const {
    const int64_t taps = t.channels * l_.s.kernel_size();
    const int64_t rows = turned_ ? taps : t.outs, columns = turned_ ? t.outs : taps, stride = turned_ ? outs_ : k_;
    T* const out = sums_of(t, t.first_channel, sums);
    for (int64_t r = 0; r < rows; ++r) std::fill_n(out + r * stride, columns, T(0));
  }

  // Pieces of a block's positions: whole runs, or pieces of its only one.  turned[piece][vectors of outs][position].
  static Pieces pieces(const Block& b) { return {b.length, b.count > 1 ? b.length : kTurnedPositions}; }

  void turn(const Task& t, const Block& b, const T* gy, T* turned) const {
    const Pieces piece = pieces(b);
    for (int64_t p = 0; p < piece.count; ++p)
      for (int64_t o = 0; o < t.outs; o += width_)
        for (int64_t r = 0; r < b.count; ++r, turned += piece.length(p) * width_)
          gemm_kernels_.pack({gy_of(t, b.first + r, gy) + o * out_stride() + piece.start(p) * position_stride(),
                              out_stride(), position_stride(), std::min(width_, t.outs - o), piece.length(p)},
                             turned, width_);
  }

  void add_products(const Task& t, const Block& b, ConvRun<T>* runs, int64_t taps, const int64_t* offsets,
                    const T* turned, T* out) const {
    const Pieces piece = pieces(b), tap(taps, kernels_.max_product_taps);
    const int64_t outs = ceil_div(t.outs, width_) * width_;
    for (int64_t p = 0; p < piece.count; ++p) {
      const int64_t size = piece.length(p), panel = b.count * size * width_;
      for (int64_t r = 0; r < b.count; ++r) runs[r].length = size;
      for (int64_t some = 0; some < t.outs; some += kPanels * width_)
        for (int64_t k = 0; k < tap.count; ++k)
          for (int64_t o = some; o < std::min(t.outs, some + kPanels * width_); o += width_)
            kernels_.products({tap.length(k), std::min(width_, t.outs - o), runs, b.count, turned + o / width_ * panel,
                               offsets + tap.start(k), out + tap.start(k) * outs_ + o, outs_});
      for (int64_t r = 0; r < b.count; ++r) runs[r].x += size;
      turned += outs * b.count * size;
    }
  }

  void add_dots(const Task& t, const Block& b, const ConvRun<T>* runs, int64_t taps, const int64_t* offsets,
                T* out) const {
    const Pieces tap(taps, kernels_.max_dot_taps), outs(t.outs, kernels_.max_dot_rows);
    for (int64_t k = 0; k < tap.count; ++k)
      for (int64_t o = 0; o < outs.count; ++o)
        kernels_.dots({outs.length(o), tap.length(k), runs, b.count, outs.start(o) * l_.s.out_size(), l_.s.out_size(),
                       offsets + tap.start(k), out + outs.start(o) * k_ + tap.start(k), k_});
  }

  void add_parts(T* sums, T* gw) const {
    const int64_t size = l_.s.o * k_;
    parallel_for(0, size, 16384, [&](int64_t begin, int64_t end) {
      for (int64_t part = 1; part < parts_.count; ++part)
        for (int64_t i = begin; i < end; ++i) sums[i] += sums[part * size + i];
      if (!turned_) std::copy(sums + begin, sums + end, gw + begin);
    });
    if (!turned_) return;
    const int64_t outs = kernels_.lanes, per_group = ceil_div(outs_, outs);
    parallel_for(0, l_.s.groups * per_group, 1 + 16384 / (outs * k_), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t group = i / per_group, first = i % per_group * outs;
        turn_sums(sums + group * outs_ * k_ + first, std::min(outs, outs_ - first), gw + (group * outs_ + first) * k_);
      }
    });
  }

  // gw of some output channels: [o][c][tap], with channels last [o][tap][c].
  void turn_sums(const T* sums, int64_t outs, T* gw) const {
    const int64_t taps = l_.s.kernel_size();
    if (!l_.s.channels_last || taps == 1) return gemm_kernels_.turn({sums, outs_, 1, k_, outs}, gw, k_);
    for (int64_t tap = 0; tap < taps; ++tap)
      gemm_kernels_.turn({sums + tap * outs_, taps * outs_, 1, channels_, outs}, gw + tap * channels_, k_);
  }

  const ConvLayout l_;
  const ConvKernels<T>& kernels_;
  const detail::GemmKernels<T>& gemm_kernels_;
  const int64_t channels_, k_, outs_, width_;
  const bool turned_;
  const Pieces slab_;
  const int64_t slab_rows_;  // of the largest
  const Pieces parts_;
};

ConvShape adjoint(const ConvShape& s) {
  ConvShape t = s;
  t.c = s.o;
  t.o = s.c;
  t.in = s.out;
  t.out = s.in;
  for (size_t d = 0; d < 3; ++d) t.padding[d] = (s.kernel[d] - 1) * s.dilation[d] - s.padding[d];
  return t;
}

}  // namespace

ConvLayout::ConvLayout(const ConvShape& shape) : s(shape), dim(0) {
  const auto is_trivial = [&](int d) { return s.in[d] == 1 && s.out[d] == 1 && s.kernel[d] == 1 && s.padding[d] == 0; };
  while (dim < 2 && is_trivial(dim)) ++dim;
  out_rows = s.out[dim];
  inner_size = inner_taps = 1;
  for (int d = dim + 1; d < 3; ++d) {
    inner_size *= s.out[d];
    inner_taps *= s.kernel[d];
  }
  const int64_t reach = (s.kernel[dim] - 1) * s.dilation[dim];
  phases = std::min(s.stride[dim], reach + 1);
  halo = reach / s.stride[dim];
}

void ConvLayout::offsets(int64_t channels, int64_t rows, int64_t* out) const {
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t k = 0; k < s.kernel[dim]; ++k) {
      const int64_t reach = k * s.dilation[dim];
      const int64_t row = reach % s.stride[dim] * buffer_rows(rows) + reach / s.stride[dim];
      for (int64_t tap = 0; tap < inner_taps; ++tap)
        *out++ = c * channel_size(rows) + tap * tap_size(rows) + row * inner_size;
    }
}

template <>
const ConvKernels<float>& conv_kernels<float>(VectorUnit unit) {
#if defined(__x86_64__)
  if (unit == VectorUnit::kAvx512) return avx512::conv_f32();
  if (unit == VectorUnit::kAvx2) return avx2::conv_f32();
#endif
  return portable::conv_f32();
}

template <>
const ConvKernels<double>& conv_kernels<double>(VectorUnit unit) {
#if defined(__x86_64__)
  if (unit == VectorUnit::kAvx512) return avx512::conv_f64();
  if (unit == VectorUnit::kAvx2) return avx2::conv_f64();
#endif
  return portable::conv_f64();
}

// Vectors lie along the output's positions: with a handful of them they would be mostly empty.
bool direct_forward_suits(const ConvShape& s) {
  if (s.channels_last && s.groups > 1) return true;
  return !im2col::is_plain(s) && s.out_size() >= 12;
}

bool direct_weight_grad_suits(const ConvShape& s) { return s.out_size() >= 12 && !(s.channels_last && s.groups > 1); }

bool direct_input_grad_suits(const ConvShape& s) {
  const ConvShape t = adjoint(s);
  return s.stride == std::array<int64_t, 3>{1, 1, 1} && *std::min_element(t.padding.begin(), t.padding.end()) >= 0 &&
         direct_forward_suits(t);
}

template <class T>
void direct_forward(const ConvShape& s, const T* x, const T* w, const T* bias, T* y) {
  const int64_t taps = s.kernel_size(), channels = s.c / s.groups, k = channels * taps;
  const int64_t channel_stride = s.channels_last ? 1 : taps, tap_stride = s.channels_last ? channels : 1;
  run_forward<T>(s, {w, s.o / s.groups * k, k, channel_stride, tap_stride}, x, bias, y);
}

// With stride 1 the gradient is the convolution of gy with the reversed weights.
template <class T>
void direct_input_grad(const ConvShape& s, const T* gy, const T* w, T* gx) {
  const int64_t taps = s.kernel_size(), channels = s.c / s.groups, k = channels * taps;
  const int64_t channel_stride = s.channels_last ? 1 : taps, tap_stride = s.channels_last ? channels : 1;
  run_forward<T>(adjoint(s), {w + (taps - 1) * tap_stride, s.o / s.groups * k, channel_stride, k, -tap_stride}, gy,
                 nullptr, gx);
}

template <class T>
void direct_weight_grad(const ConvShape& s, const T* gy, const T* x, T* gw) {
  WeightGrad<T>(s).run(gy, x, gw);
}

#define ARGAND_INSTANTIATE(T)                                                          \
  template void direct_forward<T>(const ConvShape&, const T*, const T*, const T*, T*); \
  template void direct_input_grad<T>(const ConvShape&, const T*, const T*, T*);        \
  template void direct_weight_grad<T>(const ConvShape&, const T*, const T*, T*);
ARGAND_INSTANTIATE(float)
ARGAND_INSTANTIATE(double)
#undef ARGAND_INSTANTIATE

}  // namespace argand::cpu
