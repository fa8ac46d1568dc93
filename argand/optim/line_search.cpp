#include "argand/optim/line_search.h"

#include <algorithm>
#include <cmath>

namespace argand::optim {
namespace {

constexpr double kDecrease = 1e-4, kCurvature = 0.9;  // the constants of the two conditions
constexpr int kMostSteps = 25;

// The minimum, within [low, high], of the cubic through two points with their slopes.
double cubic_minimum(const LinePoint& a, const LinePoint& b, double low, double high) {
  const double d1 = a.slope + b.slope - 3 * (a.value - b.value) / (a.t - b.t), square = d1 * d1 - a.slope * b.slope;
  if (!(square >= 0)) return (low + high) / 2;
  const double d2 = std::sqrt(square);
  const LinePoint &first = a.t <= b.t ? a : b, &last = a.t <= b.t ? b : a;
  const double at = last.t - (last.t - first.t) * ((last.slope + d2 - d1) / (last.slope - first.slope + 2 * d2));
  return std::min(std::max(at, low), high);
}

class Search {
 public:
  Search(const LineFunction& f, const LinePoint& start, double largest, double tolerance_change)
      : f_(f), start_(start), largest_(largest), tolerance_change_(tolerance_change) {}

  LineSearchResult run(double t) {
    const bool done = bracket(t);
    if (!done) zoom();
    return {low(), evaluations_};
  }

 private:
  bool decreases_enough(const LinePoint& p) const { return p.value <= start_.value + kDecrease * p.t * start_.slope; }
  bool is_flat_enough(const LinePoint& p) const { return std::abs(p.slope) <= -kCurvature * start_.slope; }

  LinePoint at(double t) {
    ++evaluations_;
    return f_(t);
  }

  void set_ends(const LinePoint& a, const LinePoint& b) {
    ends_[0] = a;
    ends_[1] = b;
    choose_low();
  }
  void choose_low() { low_ = ends_[0].value <= ends_[1].value ? 0 : 1; }
  LinePoint& low() { return ends_[low_]; }
  LinePoint& high() { return ends_[1 - low_]; }

  // Grows t until two points must have a good one between them; true if the last point is good itself.
  bool bracket(double t) {
    LinePoint before = start_, now = at(t);
    for (; steps_ < kMostSteps; ++steps_) {
      if (!decreases_enough(now) || (steps_ > 1 && now.value >= before.value)) {
        set_ends(before, now);
        return false;
      }
      if (is_flat_enough(now)) {
        set_ends(now, now);
        return true;
      }
      if (now.slope >= 0) {
        set_ends(before, now);
        return false;
      }
      const double next = cubic_minimum(before, now, now.t + 0.01 * (now.t - before.t), now.t * 10);
      before = now;
      now = at(next);
    }
    set_ends(start_, now);
    return false;
  }

  // A point so near an end that the interval would hardly shrink is moved inwards, the second time or if it is outside.
  double kept_inside(double t) {
    const double begin = std::min(ends_[0].t, ends_[1].t), end = std::max(ends_[0].t, ends_[1].t),
                 margin = 0.1 * (end - begin);
    if (std::min(end - t, t - begin) >= margin) {
      stalls_ = false;
      return t;
    }
    if (!stalls_ && t < end && t > begin) {
      stalls_ = true;
      return t;
    }
    stalls_ = false;
    return std::abs(t - end) < std::abs(t - begin) ? end - margin : begin + margin;
  }

  void zoom() {
    for (; steps_ < kMostSteps; ++steps_) {
      if (std::abs(ends_[1].t - ends_[0].t) * largest_ < tolerance_change_) return;
      const double begin = std::min(ends_[0].t, ends_[1].t), end = std::max(ends_[0].t, ends_[1].t);
      const LinePoint now = at(kept_inside(cubic_minimum(ends_[0], ends_[1], begin, end)));
      if (!decreases_enough(now) || now.value >= low().value) {
        high() = now;
        choose_low();
        continue;
      }
      const bool good = is_flat_enough(now);
      if (!good && now.slope * (high().t - low().t) >= 0) high() = low();
      low() = now;
      if (good) return;
    }
  }

  const LineFunction& f_;
  const LinePoint& start_;
  double largest_, tolerance_change_;
  LinePoint ends_[2];
  int low_ = 0, steps_ = 0;
  bool stalls_ = false;
  int64_t evaluations_ = 0;
};

}  // namespace

LineSearchResult strong_wolfe(const LineFunction& f, const LinePoint& start, double t, double largest,
                              double tolerance_change) {
  return Search(f, start, largest, tolerance_change).run(t);
}

}  // namespace argand::optim
