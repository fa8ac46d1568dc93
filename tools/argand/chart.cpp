#include "tools/argand/chart.h"

#include <algorithm>
#include <cmath>

#include "argand/base/str.h"
#include "tools/argand/text.h"

namespace argand::cli {

namespace {

// In SVG units; the page scales the whole.
constexpr double kWidth = 560, kHeight = 320, kLeft = 46, kRight = 60, kTop = 40, kBottom = 42;

std::string number(double v) { return fixed(v, 1); }

class Plot {
 public:
  explicit Plot(const Chart& chart) : chart_(chart) {}

  std::string svg() {
    out_ = str("<svg class=\"chart\" viewBox=\"0 0 ", number(kWidth), " ", number(kHeight),
               "\" role=\"img\" aria-label=\"", html_escape(chart_.title), "\">\n");
    // Nothing is drawn outside the axes; a first loss far above all others is cut off, not the reason for a flat curve.
    const std::string clip = str("clip-", std::hash<std::string>{}(chart_.title) % 1'000'000);
    out_ += str("<clipPath id=\"", clip, "\"><rect x=\"", number(kLeft - 6), "\" y=\"", number(kTop - 6), "\" width=\"",
                number(kWidth - kLeft - kRight + 12), "\" height=\"", number(kHeight - kTop - kBottom + 12),
                "\"/></clipPath>\n");
    axes();
    out_ += str("<g clip-path=\"url(#", clip, ")\">\n");
    for (const Band& band : chart_.bands) draw(band);
    for (const Series& series : chart_.series) draw_line(series);
    out_ += "</g>\n";
    last_values();
    legend();
    return out_ + "</svg>\n";
  }

 private:
  double x(double value) const { return kLeft + value / chart_.x_end * (kWidth - kLeft - kRight); }
  double y(double value) const {
    const double part = (value - chart_.y_low) / (chart_.y_high - chart_.y_low);
    // Far outside is as good as just outside, and keeps the numbers short.
    return kHeight - kBottom - std::clamp(part, -2.0, 3.0) * (kHeight - kTop - kBottom);
  }

  void text(double at_x, double at_y, const char* classes, const std::string& content, const std::string& style = "") {
    out_ += str("<text x=\"", number(at_x), "\" y=\"", number(at_y), "\" class=\"", classes, "\"",
                style.empty() ? "" : str(" style=\"", style, "\""), ">", html_escape(content), "</text>\n");
  }

  void axes() {
    const std::vector<double> ys = round_ticks(chart_.y_low, chart_.y_high, 5);
    const double step = ys.size() > 1 ? ys[1] - ys[0] : 1;
    const int digits = std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 6);
    for (const double v : ys) {
      out_ += str("<line class=\"grid\" x1=\"", number(kLeft), "\" x2=\"", number(kWidth - kRight), "\" y1=\"",
                  number(y(v)), "\" y2=\"", number(y(v)), "\"/>\n");
      text(kLeft - 8, y(v) + 4, "tick end", fixed(v, digits));
    }
    for (const double v : round_ticks(0, chart_.x_end, 8))
      if (v == std::floor(v)) text(x(v), kHeight - kBottom + 20, "tick middle", fixed(v, 0));
    text(kWidth - kRight, kHeight - 6, "tick end", chart_.x_name);
  }

  void draw(const Band& band) {
    if (band.slices.size() < 2) return;
    std::string path;
    for (const Band::Slice& s : band.slices)
      path += str(path.empty() ? "M" : "L", number(x(s.x)), " ", number(y(s.high)));
    for (auto s = band.slices.rbegin(); s != band.slices.rend(); ++s)
      path += str("L", number(x(s->x)), " ", number(y(s->low)));
    out_ += str("<path class=\"band\" d=\"", path, "Z\" style=\"fill:", band.colour, "\"/>\n");
  }

  void draw_line(const Series& series) {
    std::string path;
    bool pen_down = false;
    for (const Point& p : series.points) {
      if (std::isfinite(p.y)) path += str(pen_down ? "L" : "M", number(x(p.x)), " ", number(y(p.y)));
      pen_down = std::isfinite(p.y);
    }
    out_ += str("<path class=\"", series.dots ? "line" : "line thin", "\" d=\"", path,
                "\" style=\"stroke:", series.colour, "\"/>\n");
    if (!series.dots) return;
    const double radius = series.points.size() > 40 ? 2 : 4;
    for (const Point& p : series.points) {
      if (!std::isfinite(p.y)) continue;
      out_ +=
          str("<circle cx=\"", number(x(p.x)), "\" cy=\"", number(y(p.y)), "\" r=\"", number(radius),
              "\" style=\"fill:", series.colour, "\"><title>", html_escape(series.name), ", ",
              html_escape(chart_.x_name), " ", fixed(p.x, 0), ": ", fixed(p.y, chart_.y_digits), "</title></circle>\n");
    }
  }

  // The last value of each series beside its point, moved apart where two would overlap.
  void last_values() {
    struct Label {
      double at;
      const Series* series;
      Point point;
    };
    std::vector<Label> labels;
    for (const Series& series : chart_.series)
      if (series.dots && !series.points.empty() && std::isfinite(series.points.back().y))
        labels.push_back(
            {std::clamp(y(series.points.back().y), kTop, kHeight - kBottom), &series, series.points.back()});
    std::sort(labels.begin(), labels.end(), [](const Label& a, const Label& b) { return a.at < b.at; });
    constexpr double kApart = 15;
    for (size_t i = 1; i < labels.size(); ++i) {
      const double overlap = kApart - (labels[i].at - labels[i - 1].at);
      if (overlap <= 0) continue;
      labels[i - 1].at -= overlap / 2;
      labels[i].at += overlap / 2;
    }
    for (const Label& label : labels)
      text(x(label.point.x) + 9, label.at + 4, "value", fixed(label.point.y, chart_.y_digits),
           "fill:" + label.series->colour);
  }

  void legend() {
    text(0, 16, "title", chart_.title);
    double at = kWidth - kRight;
    for (auto series = chart_.series.rbegin(); series != chart_.series.rend(); ++series) {
      // SVG cannot tell how wide a text will be; this is what the page's font takes on average.
      at -= 6.4 * static_cast<double>(series->name.size());
      text(at, 16, "tick", series->name);
      at -= 22;
      out_ += str("<line class=\"", series->dots ? "line" : "line thin", "\" x1=\"", number(at), "\" x2=\"",
                  number(at + 16), "\" y1=\"12\" y2=\"12\" style=\"stroke:", series->colour, "\"/>\n");
      at -= 16;
    }
  }

  const Chart& chart_;
  std::string out_;
};

}  // namespace

std::vector<double> round_ticks(double low, double high, int about) {
  if (!(high > low) || !std::isfinite(high - low)) return {low};
  const double raw = (high - low) / about;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  double step = 10 * power;
  for (const double factor : {5, 2, 1})
    if (factor * power >= raw * (1 - 1e-9)) step = factor * power;
  std::vector<double> ticks;
  // Multiples of the step, not sums: 3 * 0.1 is nearer to 0.3 than 0.1 + 0.1 + 0.1.
  for (double k = std::ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; ++k)
    ticks.push_back(k * step + 0.0);  // -0 becomes 0
  return ticks;
}

std::string to_svg(const Chart& chart) { return Plot(chart).svg(); }

}  // namespace argand::cli
