#include "tests/window/generate.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "argand/core/shape.h"

namespace argand::fuzz {
namespace {

class Generator {
 public:
  Generator(uint64_t seed, Threads& threads)
      : rng_(seed), big_(chance(4)), threaded_(chance(6)), eager_(threads, exec::WindowMode::kEager, threaded_) {
    program_.seed = seed;
    widest_ = !big_ ? 2 + below(5) : chance(20) ? 35000 : 1030 + below(1200);
  }

  Generated make() {
    for (int i = 0; i < 2 + static_cast<int>(below(2)); ++i) new_tensor();
    const int64_t n = 8 + below(big_ ? 16 : 40);
    for (int64_t i = 0; i < n; ++i) step();
    eager_.finish();
    model_.finish();
    return {std::move(program_), model_.seen(), eager_.seen()};
  }

 private:
  // ---- chance
  int64_t below(int64_t n) { return static_cast<int64_t>(rng_() % static_cast<uint64_t>(n)); }
  bool chance(int64_t one_in) { return below(one_in) == 0; }
  double number() { return static_cast<double>(below(5) - 2); }

  int any() { return live_.empty() ? -1 : live_[static_cast<size_t>(below(static_cast<int64_t>(live_.size())))]; }
  // A slot that broadcasts to the shape of `like`, if one is found.
  int fitting(int like) {
    for (int tries = 0; tries < 12; ++tries) {
      const int i = any();
      const Dims &s = eager_.slot(i).impl().sizes, &to = eager_.slot(like).impl().sizes;
      bool fits = s.size() <= to.size();
      for (size_t d = 0; fits && d < s.size(); ++d) {
        const int64_t have = s[s.size() - 1 - d];
        fits = have == 1 || have == to[to.size() - 1 - d];
      }
      if (fits) return i;
    }
    return like;
  }
  ScalarType dtype() {
    static constexpr ScalarType all[] = {kFloat, kDouble, kHalf, kBFloat16, kInt, kByte, kLong, kBool, kComplexFloat};
    return chance(3) ? all[below(9)] : kFloat;
  }

  // ---- calls
  // Adds the call if the library takes it; one that throws must not have changed anything, which the end shows.
  bool add(Call c) {
    if (threaded_) c.thread = static_cast<int>(below(kThreads));
    try {
      eager_.run(c);
    } catch (const Error&) {
      return false;
    }
    model_.run(c, c.out >= 0 ? eager_.slot(c.out) : Tensor());
    program_.calls.push_back(c);
    if (c.out >= 0) live_.push_back(c.out);
    return true;
  }
  Call call(Call::Kind kind, int in0 = -1, int in1 = -1, int in2 = -1) {
    Call c{kind};
    c.in[0] = in0;
    c.in[1] = in1;
    c.in[2] = in2;
    return c;
  }
  Call making(Call c) {
    c.out = next_++;
    return c;
  }

  void new_tensor() {
    Call c = making(call(chance(4) ? Call::kBlob : Call::kNew));
    const int64_t ndim = below(8) == 0 ? 0 : 1 + below(big_ ? 2 : 3);
    for (int64_t d = 0; d < ndim; ++d) c.sizes.push_back(big_ && d ? 2 : widest_ - below(2));
    c.dtype = dtype();
    c.x = static_cast<double>(below(13));
    c.a = memories_;
    if (c.kind == Call::kBlob) ++memories_;
    add(c);
  }

  void view() {
    const int from = any();
    const TensorImpl& t = eager_.slot(from).impl();
    const auto ndim = static_cast<int64_t>(t.sizes.size());
    Call c = making(call(Call::kExpand, from));
    switch (ndim == 0 ? 3 : below(5)) {
      case 0:
        c.kind = Call::kSlice;
        c.a = below(ndim);
        c.b = below(2 + (big_ ? 20 : 0));
        c.c = t.sizes[static_cast<size_t>(c.a)] - below(3);
        c.d = 1 + below(2);
        break;
      case 1:
        c.kind = Call::kSelect;
        c.a = below(ndim);
        c.b = below(std::max<int64_t>(1, t.sizes[static_cast<size_t>(c.a)]));
        break;
      case 2:
        c.kind = Call::kTranspose;
        c.a = below(ndim);
        c.b = below(ndim);
        break;
      case 3:
        c.sizes = t.sizes;
        if (ndim < 3) c.sizes.insert(c.sizes.begin(), big_ ? 3 : widest_);
        break;
      default:
        strided(c, t);
    }
    add(c);
  }
  // Any window on the storage that stays inside it; elements may overlap.
  void strided(Call& c, const TensorImpl& t) {
    c.kind = Call::kStrided;
    const auto room = static_cast<int64_t>(t.storage->nbytes()) / element_size(t.dtype);
    const int64_t width = std::max<int64_t>(1, std::min<int64_t>(room / 2, widest_));
    c.sizes = {width};
    c.strides = {1 + below(2)};
    if (chance(2)) {
      c.sizes.insert(c.sizes.begin(), 1 + below(3));
      c.strides.insert(c.strides.begin(), 1 + below(width + 1));
    }
    int64_t last = 0;
    for (size_t d = 0; d < c.sizes.size(); ++d) last += (c.sizes[d] - 1) * c.strides[d];
    c.a = below(std::max<int64_t>(1, room - last));
  }

  // Two calls in a row on two views of one shape that overlap: what the alias rule must keep apart.
  void hazard() {
    const int of = any();
    const TensorImpl& t = eager_.slot(of).impl();
    if (t.sizes.empty() || t.sizes[0] < 4) return;
    int views[2];
    for (int& v : views) {
      Call c = making(call(Call::kStrided, of));
      c.sizes = t.sizes;
      c.sizes[0] -= 3;
      c.strides = t.strides;
      c.a = t.offset + below(4) * std::max<int64_t>(1, t.strides[0]);
      if (!add(c)) return;
      v = c.out;
    }
    for (const int v : views) touch(v);
  }
  void touch(int slot) {
    const int64_t how = below(4);
    if (how == 0 && compute(Call::kCompute, slot)) return;
    if (how == 1 && compute(Call::kInplace, slot)) return;
    if (add(call(Call::kCopy, slot, fitting(slot)))) return bound(slot);
    // The source would overlap the destination, which is an error: a number is written instead.
    Call c = call(Call::kFill, slot);
    c.x = number();
    add(c);
  }

  // Whether the call was taken.
  bool compute(Call::Kind kind, int first) {
    Call c = call(kind, first);
    c.op = static_cast<int>(below(static_cast<int64_t>(ops().size())));
    const Op& op = ops()[static_cast<size_t>(c.op)];
    if (kind == Call::kInplace && !op.inplace) return false;
    if (eager_.slot(first).is_complex() && !op.takes_complex) return false;
    for (int i = 1; i < op.inputs; ++i) c.in[i] = fitting(first);
    c.x = number();
    if (kind == Call::kCompute) c = making(c);
    if (!add(c)) return false;
    bound(kind == Call::kCompute ? c.out : first);
    return true;
  }
  // Numbers that grow for ever become infinite and then NaN, which hides differences.
  void bound(int slot) {
    const std::vector<double> v = model_.values(slot);
    if (std::all_of(v.begin(), v.end(), [](double x) { return std::abs(x) <= 64; })) return;
    Call c = call(Call::kFill, slot);
    if (!eager_.slot(slot).is_complex()) {
      c.kind = Call::kInplace;
      c.op = static_cast<int>(
          std::find_if(ops().begin(), ops().end(), [](const Op& o) { return std::string_view(o.name) == "clamp"; }) -
          ops().begin());
    }
    c.x = 2;
    if (!add(c)) add(call(Call::kDrop, forget(slot)));
  }
  int forget(int slot) {
    std::erase(live_, slot);
    return slot;
  }

  void step() {
    if (live_.empty() || eager_.slot(live_.back()).numel() > 200000) {
      if (!live_.empty()) add(call(Call::kDrop, forget(live_.back())));
      return new_tensor();
    }
    const int64_t what = below(100);
    if (what < 4) {
      new_tensor();
    } else if (what < 20) {
      view();
    } else if (what < 30) {
      hazard();
    } else if (what < 50) {
      compute(Call::kCompute, any());
    } else if (what < 68) {
      compute(Call::kInplace, any());
    } else if (what < 78) {
      const int to = any();
      if (add(call(Call::kCopy, to, fitting(to)))) bound(to);
    } else if (what < 81) {
      const int like = any(), to = same_shape(like);
      if (add(call(Call::kOut, to, like, fitting(like)))) bound(to);
    } else if (what < 83) {
      Call c = call(Call::kFill, any());
      c.x = number();
      add(c);
    } else if (what < 85) {
      const Call c = making(call(Call::kSum, any()));
      if (add(c)) bound(c.out);
    } else if (what < 91) {
      if (live_.size() > 2) add(call(Call::kDrop, forget(any())));
    } else {
      look(what);
    }
  }
  int same_shape(int like) {
    for (int tries = 0; tries < 8; ++tries) {
      const int i = any();
      if (eager_.slot(i).sizes() == eager_.slot(like).sizes()) return i;
    }
    return like;
  }
  void look(int64_t what) {
    if (what < 93) {
      Call c = call(Call::kExpose, any());
      if (eager_.slot(c.in[0]).numel() == 0) return;
      c.a = memories_++;
      add(c);
    } else if (what < 97) {
      if (memories_ == 0) return;
      Call c = call(Call::kPeek);
      c.a = below(memories_);
      c.dtype = eager_.memory_type(c.a);
      const int64_t room = static_cast<int64_t>(eager_.memory_size(c.a)) / element_size(c.dtype);
      if (what < 96 && room > 0) {
        c.kind = Call::kPoke;
        c.b = below(room);
        c.x = number();
      }
      add(c);
    } else {
      add(call(what < 99 ? Call::kRead : Call::kFlush, any()));
    }
  }

  std::mt19937_64 rng_;
  const bool big_, threaded_;
  Machine eager_;
  Model model_;
  Program program_;
  std::vector<int> live_;
  int next_ = 0;
  int64_t memories_ = 0;
  int64_t widest_;
};

}  // namespace

Generated generate(uint64_t seed, Threads& threads) { return Generator(seed, threads).make(); }

}  // namespace argand::fuzz
