#include "tools/argand/report.h"

#include <gtest/gtest.h>

#include <cmath>

#include "argand/io/folder_test.h"
#include "tools/argand/chart.h"

namespace argand::cli {
namespace {

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

// Every element that is opened is closed, in order; void elements and the doctype aside.
std::string first_unbalanced(const std::string& html) {
  std::vector<std::string> open;
  for (size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1)) {
    const size_t end = html.find('>', at);
    std::string tag = html.substr(at + 1, end - at - 1);
    if (tag[0] == '!' || tag.back() == '/' || tag.starts_with("meta") || tag.starts_with("img")) continue;
    if (tag[0] != '/') {
      open.push_back(tag.substr(0, tag.find(' ')));
    } else if (open.empty() || open.back() != tag.substr(1)) {
      return tag;
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : open.back();
}

Report sample() {
  Report report;
  report.title = "cnn <on> \"data\" & more";
  report.subtitle = "today";
  report.settings = {{"seed", "1"}, {"model", "<b>"}};
  report.class_names = {"cat", "dog & wolf"};
  report.epochs = {
      {1, 0.9, 0.6, 0.8, 0.65, 0.01, 61}, {2, 0.5, 0.8, 0.6, 0.75, 0.001, 61}, {3, 0.4, 0.9, 0.7, 0.7, 0.001, 61}};
  for (int i = 0; i < 5000; ++i) report.steps.push_back({i * 3 / 5000.0, 1.0 / (1 + i * 0.001)});
  report.confusion = ConfusionMatrix(3);
  report.confusion.add(0, 0, 8);
  report.confusion.add(0, 1, 2);
  report.confusion.add(1, 1, 9);
  report.confusion.add(1, 2, 1);
  report.confusion.add(2, 2, 5);
  report.mistakes.push_back({vision::Image(4, 4, 1), 0, 1, 0.987});
  report.mistakes.push_back({vision::Image(4, 4, 3), 1, 2, 0.6});
  return report;
}

TEST(Confusion, Shares) {
  const ConfusionMatrix m = sample().confusion;
  EXPECT_EQ(m.total(), 25);
  EXPECT_DOUBLE_EQ(m.accuracy(), 22.0 / 25);
  EXPECT_DOUBLE_EQ(m.recall(0), 0.8);
  EXPECT_DOUBLE_EQ(m.precision(1), 9.0 / 11);
  const auto pairs = m.worst_pairs(5);
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].truth, 0);
  EXPECT_EQ(pairs[0].predicted, 1);
  EXPECT_EQ(pairs[0].count, 2);
  EXPECT_EQ(ConfusionMatrix(2).accuracy(), 0);
  EXPECT_THROW(ConfusionMatrix(2).add(0, 2), IndexError);
  EXPECT_THROW(ConfusionMatrix(2).add(-1, 0), IndexError);
}

TEST(Chart, RoundTicks) {
  EXPECT_EQ(round_ticks(0, 1, 5), (std::vector<double>{0, 0.2, 2 * 0.2, 3 * 0.2, 4 * 0.2, 1}));
  EXPECT_EQ(round_ticks(0, 3, 8).size(), 7u);
  EXPECT_EQ(round_ticks(0.83, 0.93, 5), (std::vector<double>{42 * 0.02, 43 * 0.02, 44 * 0.02, 45 * 0.02, 46 * 0.02}));
  EXPECT_EQ(round_ticks(1, 1, 5), (std::vector<double>{1}));
  EXPECT_FALSE(std::signbit(round_ticks(0, 1, 5)[0]));
}

TEST(Chart, GapsWhereThereIsNoNumber) {
  Chart chart;
  chart.x_end = 4;
  chart.series = {{"a", "red", {{1, 0.1}, {2, NAN}, {3, 0.2}, {4, 0.3}}, true}};
  const std::string svg = to_svg(chart);
  EXPECT_EQ(count(svg, "<circle"), 3u);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  const size_t path = svg.find("d=\"M");
  ASSERT_NE(path, std::string::npos);
  EXPECT_EQ(count(svg.substr(path, svg.find('"', path + 3) - path), "M"), 2u) << "a new stroke after the gap";
}

TEST(Report, HoldsEverythingAndNeedsNothing) {
  const std::string html = to_html(sample());
  EXPECT_EQ(first_unbalanced(html), "");
  EXPECT_NE(html.find("<h1>cnn &lt;on&gt; &quot;data&quot; &amp; more</h1>"), std::string::npos);
  EXPECT_NE(html.find("<b>70.00%</b><span>test accuracy"), std::string::npos);
  EXPECT_NE(html.find("<b>75.00%</b><span>best, after epoch 2"), std::string::npos);
  EXPECT_NE(html.find("<b>3:03</b><span>3 epochs"), std::string::npos);
  EXPECT_NE(html.find("<title>cat taken for dog &amp; wolf: 2 (20.0%)</title>"), std::string::npos);
  EXPECT_NE(html.find("<title>2 recognised: 5 (100.0%)</title>"), std::string::npos) << "a class without a name";
  EXPECT_EQ(count(html, "data:image/png;base64,iVBORw0KGgo"), 2u);
  EXPECT_EQ(count(html, "<span class=\"said\">dog &amp; wolf</span>"), 1u);
  EXPECT_NE(html.find(">99%</span>"), std::string::npos);
  for (const char* outside : {"http:", "https:", "<script", "<link", "@import", "url(h", "src=\"/"})
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
  EXPECT_LT(html.size(), 60'000u) << "5000 steps must not become 5000 points";
}

TEST(Report, OfARunThatDidNothing) {
  Report report;
  report.title = "x";
  report.note = "Interrupted & saved.";
  const std::string html = to_html(report);
  EXPECT_EQ(first_unbalanced(html), "");
  EXPECT_NE(html.find("Interrupted &amp; saved."), std::string::npos);
  EXPECT_EQ(html.find("<svg"), std::string::npos);
}

TEST(Report, OfARunThatDiverged) {
  Report report = sample();
  for (EpochMetrics& e : report.epochs) e.train_loss = e.test_loss = e.test_accuracy = NAN;
  for (StepLoss& s : report.steps) s.loss = INFINITY;
  const std::string html = to_html(report);
  EXPECT_EQ(first_unbalanced(html), "");
  for (size_t at = html.find(" d=\""); at != std::string::npos; at = html.find(" d=\"", at + 1))
    EXPECT_EQ(html.substr(at, html.find('"', at + 4) - at).find_first_of("ni"), std::string::npos)
        << "nan or inf in a path";
}

TEST(Report, OfManyClasses) {
  for (const int classes : {50, 500}) {
    Report report = sample();
    report.confusion = ConfusionMatrix(classes);
    for (int c = 0; c < classes; ++c) report.confusion.add(c, c, 10), report.confusion.add(c, (c + 1) % classes, 1);
    const std::string html = to_html(report);
    EXPECT_EQ(first_unbalanced(html), "");
    EXPECT_EQ(count(html, "<rect class=\"right\""), classes == 50 ? 50u : 0u);
  }
}

TEST(Report, IsWrittenWhole) {
  const io::testing::TestFolder folder;
  write_report(folder / "report.html", sample());
  EXPECT_EQ(io::testing::content_of(folder / "report.html"), to_html(sample()));
  EXPECT_THROW(write_report(folder / "missing/report.html", sample()), IoError);
}

}  // namespace
}  // namespace argand::cli
