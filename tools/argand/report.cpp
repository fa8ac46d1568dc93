#include "tools/argand/report.h"

#include <algorithm>
#include <cmath>

#include "argand/base/str.h"
#include "argand/io/file.h"
#include "tools/argand/chart.h"
#include "tools/argand/report_style.h"
#include "tools/argand/text.h"

namespace argand::cli {

namespace {

constexpr size_t kCurvePoints = 240;
constexpr int kMostNumberedClasses = 24;  // a cell must have room for its number
constexpr int kMostDrawnClasses = 128;
constexpr size_t kMostPairs = 8;

std::string class_name(const Report& report, int index) {
  const auto i = static_cast<size_t>(index);
  return i < report.class_names.size() ? report.class_names[i] : std::to_string(index);
}

const EpochMetrics& best_epoch(const Report& report) {
  return *std::max_element(report.epochs.begin(), report.epochs.end(), [](const auto& a, const auto& b) {
    return a.test_accuracy < b.test_accuracy || (std::isnan(a.test_accuracy) && !std::isnan(b.test_accuracy));
  });
}

std::string tile(const std::string& value, const std::string& what) {
  return str("<div class=\"card tile\"><b>", html_escape(value), "</b><span>", html_escape(what), "</span></div>\n");
}

std::string tiles(const Report& report) {
  if (report.epochs.empty()) return "";
  const EpochMetrics& last = report.epochs.back();
  const EpochMetrics& best = best_epoch(report);
  double seconds = 0;
  for (const EpochMetrics& e : report.epochs) seconds += e.seconds;
  return str("<div class=\"tiles\">\n", tile(percent(last.test_accuracy, 2), "test accuracy"),
             tile(percent(best.test_accuracy, 2), str("best, after epoch ", best.epoch)),
             tile(fixed(last.test_loss, 4), "test loss"), tile(fixed(last.train_loss, 4), "training loss"),
             tile(duration(seconds), str(report.epochs.size(), report.epochs.size() == 1 ? " epoch" : " epochs")),
             "</div>\n");
}

// The loss of every step, as its mean and its spread over a few hundred equal stretches.
void step_curve(const Report& report, Chart& chart) {
  if (report.steps.size() < 2) return;
  const size_t stride = (report.steps.size() + kCurvePoints - 1) / kCurvePoints;
  Series mean{"steps", "var(--blue)", {}, false};
  Band spread{"var(--blue)", {}};
  for (size_t begin = 0; begin < report.steps.size(); begin += stride) {
    const size_t end = std::min(begin + stride, report.steps.size());
    double sum = 0, low = INFINITY, high = -INFINITY;
    for (size_t i = begin; i < end; ++i) {
      const double loss = report.steps[i].loss;
      sum += loss;
      low = std::min(low, loss);
      high = std::max(high, loss);
    }
    const double x = (report.steps[begin].epoch + report.steps[end - 1].epoch) / 2;
    mean.points.push_back({x, sum / static_cast<double>(end - begin)});
    if (std::isfinite(low) && std::isfinite(high)) spread.slices.push_back({x, low, high});
  }
  chart.series.push_back(std::move(mean));
  if (stride > 1) chart.bands.push_back(std::move(spread));
}

// An upper end that shows all epochs and nearly all of the steps: the first few may be far above the rest.
double loss_ceiling(const Report& report, const Chart& chart) {
  std::vector<double> values;
  for (const Series& series : chart.series)
    for (const Point& p : series.points)
      if (std::isfinite(p.y)) values.push_back(p.y);
  std::sort(values.begin(), values.end());
  double ceiling = values.empty() ? 0 : values[(values.size() - 1) * 97 / 100];
  for (const EpochMetrics& e : report.epochs)
    for (const double loss : {e.train_loss, e.test_loss})
      if (std::isfinite(loss)) ceiling = std::max(ceiling, loss);
  return ceiling > 0 ? 1.08 * ceiling : 1;
}

Series epoch_series(const Report& report, const char* name, const char* colour, double EpochMetrics::*value) {
  Series series{name, colour, {}, true};
  for (const EpochMetrics& e : report.epochs) series.points.push_back({static_cast<double>(e.epoch), e.*value});
  return series;
}

std::string curves(const Report& report) {
  if (report.epochs.empty() && report.steps.size() < 2) return "";
  double end = report.epochs.empty() ? 0 : report.epochs.back().epoch;
  if (!report.steps.empty()) end = std::max(end, report.steps.back().epoch);

  Chart loss;
  loss.title = "Loss";
  loss.x_name = "epoch";
  loss.x_end = end > 0 ? end : 1;
  step_curve(report, loss);
  loss.series.push_back(epoch_series(report, "training", "var(--blue)", &EpochMetrics::train_loss));
  loss.series.push_back(epoch_series(report, "test", "var(--orange)", &EpochMetrics::test_loss));
  loss.y_high = loss_ceiling(report, loss);

  Chart accuracy;
  accuracy.title = "Accuracy";
  accuracy.x_name = "epoch";
  accuracy.x_end = loss.x_end;
  accuracy.series.push_back(epoch_series(report, "training", "var(--blue)", &EpochMetrics::train_accuracy));
  accuracy.series.push_back(epoch_series(report, "test", "var(--orange)", &EpochMetrics::test_accuracy));
  double lowest = 1, highest = 0;
  for (const Series& series : accuracy.series)
    for (const Point& p : series.points)
      if (std::isfinite(p.y)) lowest = std::min(lowest, p.y), highest = std::max(highest, p.y);
  const double margin = std::max(0.01, 0.15 * (highest - lowest));
  accuracy.y_low = std::max(0.0, lowest - margin);
  accuracy.y_high = std::max(accuracy.y_low + 0.01, std::min(1.0, highest + margin));

  return str("<h2>Learning curves</h2>\n<div class=\"two\"><div class=\"card\">", to_svg(loss), "</div>\n",
             report.epochs.empty() ? "" : str("<div class=\"card\">", to_svg(accuracy), "</div>"), "</div>\n");
}

// Rows are the truth, columns the prediction.  Right ones are blue by their share of the row; mistakes are orange on a
// scale of their own, or the few that matter would be invisible beside the diagonal.
std::string heat_map(const Report& report) {
  const ConfusionMatrix& m = report.confusion;
  const bool numbered = m.classes() <= kMostNumberedClasses;
  const double cell = numbered ? 46 : std::max(5.0, 900.0 / m.classes());
  // The names stand before the rows, and slanted above the columns; 6.8 units is what a letter takes on average.
  size_t longest = 0;
  for (int c = 0; c < m.classes(); ++c) longest = std::max(longest, class_name(report, c).size());
  const double text = 6.8 * static_cast<double>(longest);
  const double left = numbered ? text + 18 : 8, top = numbered ? 0.65 * text + 22 : 8;
  const double right = numbered ? std::max(8.0, 0.77 * text - cell / 2 + 8) : 8;
  double worst = 0;
  for (const auto& pair : m.worst_pairs(1))
    worst = static_cast<double>(pair.count) / static_cast<double>(std::max<int64_t>(1, m.row_total(pair.truth)));

  const double width = left + cell * m.classes() + right, height = top + cell * m.classes() + 8;
  std::string out = str("<svg viewBox=\"0 0 ", fixed(width, 0), " ", fixed(height, 0),
                        "\" role=\"img\" aria-label=\"Confusion matrix\">\n");
  const auto centre = [&](double from, int i) { return from + cell * (i + 0.5); };
  for (int t = 0; t < m.classes(); ++t) {
    const std::string name = html_escape(class_name(report, t));
    if (numbered) {
      out += str("<text class=\"tick end\" x=\"", fixed(left - 8, 1), "\" y=\"", fixed(centre(top, t) + 4, 1), "\">",
                 name, "</text>\n<text class=\"tick\" transform=\"translate(", fixed(centre(left, t) + 2, 1), " ",
                 fixed(top - 8, 1), ") rotate(-40)\">", name, "</text>\n");
    }
    const auto total = static_cast<double>(std::max<int64_t>(1, m.row_total(t)));
    for (int p = 0; p < m.classes(); ++p) {
      const int64_t count = m.at(t, p);
      const double share = static_cast<double>(count) / total;
      const double strength = t == p ? share : worst > 0 ? 0.85 * std::sqrt(std::min(1.0, share / worst)) : 0;
      const std::string corner =
          str("x=\"", fixed(left + cell * p + 1, 1), "\" y=\"", fixed(top + cell * t + 1, 1), "\" width=\"",
              fixed(cell - 2, 1), "\" height=\"", fixed(cell - 2, 1), "\" rx=\"", numbered ? 5 : 1, "\"");
      if (count == 0) {
        if (numbered) out += str("<rect class=\"cell\" ", corner, "/>\n");
        continue;
      }
      out += str("<g><title>", name, t == p ? " recognised" : " taken for ",
                 t == p ? "" : html_escape(class_name(report, p)), ": ", thousands(count), " (", percent(share),
                 ")</title>", "<rect class=\"", t == p ? "right" : "wrong", "\" ", corner, " fill-opacity=\"",
                 fixed(strength, 3), "\"/>");
      if (numbered)
        out += str("<text class=\"middle", strength > 0.6 ? " strong" : "", "\" x=\"", fixed(centre(left, p), 1),
                   "\" y=\"", fixed(centre(top, t) + 4, 1), "\">", count, "</text>");
      out += "</g>\n";
    }
  }
  return out + "</svg>\n";
}

std::string class_table(const Report& report) {
  const ConfusionMatrix& m = report.confusion;
  std::string out =
      "<h3>Each class</h3><div class=\"scroll\"><table><tr><th>class</th><th></th><th class=\"n\">recall</th>"
      "<th class=\"n\">precision</th></tr>\n";
  for (int c = 0; c < m.classes(); ++c)
    out += str("<tr><td>", html_escape(class_name(report, c)),
               "</td><td><span class=\"bar\"><i style=\"width:", fixed(100 * m.recall(c), 1),
               "%\"></i></span></td><td class=\"n\">", percent(m.recall(c)), "</td><td class=\"n\">",
               percent(m.precision(c)), "</td></tr>\n");
  return out + "</table></div>";
}

std::string pair_table(const Report& report) {
  std::string out = "<h3>Most often confused</h3><table>\n";
  for (const auto& pair : report.confusion.worst_pairs(kMostPairs))
    out += str("<tr><td>", html_escape(class_name(report, pair.truth)), " taken for ",
               html_escape(class_name(report, pair.predicted)), "</td><td class=\"n\">", thousands(pair.count),
               "</td></tr>\n");
  return out + "</table>";
}

std::string confusion(const Report& report) {
  const ConfusionMatrix& m = report.confusion;
  if (m.total() == 0) return "";
  const std::string heading = str("<h2>Confusion matrix<small>", thousands(m.total()),
                                  " test images; rows are what they show, columns what the model said</small></h2>\n");
  if (m.classes() > kMostDrawnClasses) return str(heading, "<div class=\"card\">", pair_table(report), "</div>\n");
  return str(heading, "<div class=\"wide\"><div class=\"card\">", heat_map(report), "</div>\n<div><div class=\"card\">",
             class_table(report), "</div>\n",
             m.worst_pairs(1).empty() ? "" : str("<div class=\"card gap\">", pair_table(report), "</div>"),
             "</div></div>\n");
}

std::string mistakes(const Report& report) {
  if (report.mistakes.empty()) return "";
  std::string out =
      "<h2>Worst mistakes<small>wrong answers that the model was surest of</small></h2>\n<div class=\"mistakes\">\n";
  for (const Mistake& mistake : report.mistakes) {
    const std::vector<uint8_t> png = vision::encode_png(mistake.image);
    const std::string said = html_escape(class_name(report, mistake.predicted));
    const std::string is = html_escape(class_name(report, mistake.truth));
    out += str("<div class=\"card mistake\"><img alt=\"", is, " taken for ", said, "\" src=\"data:image/png;base64,",
               base64({reinterpret_cast<const char*>(png.data()), png.size()}), "\"><p><span class=\"said\">", said,
               "</span><span class=\"sure\">", percent(mistake.probability, 0), "</span><span class=\"is\">is ", is,
               "</span></p></div>\n");
  }
  return out + "</div>\n";
}

std::string epoch_table(const Report& report) {
  if (report.epochs.empty()) return "";
  const int best = best_epoch(report).epoch;
  std::string out =
      "<div class=\"card\"><h3>Epochs</h3><div class=\"scroll\"><table><tr><th class=\"n\">epoch</th><th "
      "class=\"n\">training "
      "loss</th><th class=\"n\">accuracy</th><th class=\"n\">test loss</th><th class=\"n\">accuracy</th><th "
      "class=\"n\">learning rate</th><th class=\"n\">time</th></tr>\n";
  for (const EpochMetrics& e : report.epochs)
    out += str("<tr", e.epoch == best ? " class=\"best\"" : "", "><td class=\"n\">", e.epoch, "</td><td class=\"n\">",
               fixed(e.train_loss, 4), "</td><td class=\"n\">", fixed(e.train_accuracy, 4), "</td><td class=\"n\">",
               fixed(e.test_loss, 4), "</td><td class=\"n\">", fixed(e.test_accuracy, 4), "</td><td class=\"n\">",
               e.learning_rate, "</td><td class=\"n\">", duration(e.seconds), "</td></tr>\n");
  return out + "</table></div></div>\n";
}

std::string settings_table(const Report& report) {
  if (report.settings.empty()) return "";
  std::string out = "<div class=\"card\"><h3>Settings</h3><table>\n";
  for (const auto& [name, value] : report.settings)
    out += str("<tr><td class=\"name\">", html_escape(name), "</td><td class=\"value\">", html_escape(value),
               "</td></tr>\n");
  return out + "</table></div>\n";
}

}  // namespace

std::string to_html(const Report& report) {
  const std::string title = html_escape(report.title);
  return str(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
      title, "</title>\n<style>", kReportStyle, "</style>\n</head>\n<body>\n<main>\n<h1>", title,
      "</h1>\n<p class=\"subtitle\">", html_escape(report.subtitle), "</p>\n",
      report.note.empty() ? "" : str("<p class=\"note\">", html_escape(report.note), "</p>\n"), tiles(report),
      curves(report), confusion(report), mistakes(report), "<h2>The run</h2>\n<div class=\"two\">", epoch_table(report),
      settings_table(report),
      "</div>\n<footer>Written by argand. Everything on this page is inside it.</footer>\n</main>\n</body>\n</html>\n");
}

void write_report(const std::string& path, const Report& report) { io::write_file(path, to_html(report)); }

}  // namespace argand::cli
