// Line charts as inline SVG.  Colours come from the CSS variables of the page, so that a chart follows light and dark.
#pragma once
#include <string>
#include <vector>

namespace argand::cli {

struct Point {
  double x, y;
};

struct Series {
  std::string name;
  std::string colour;         // a CSS colour, such as var(--blue)
  std::vector<Point> points;  // in order of x; a value that is not finite leaves a gap
  bool dots = true;           // marks each point and writes the last value beside it
};

// A shaded range, such as the spread of the loss within a stretch of steps.
struct Band {
  std::string colour;
  struct Slice {
    double x, low, high;
  };
  std::vector<Slice> slices;
};

struct Chart {
  std::string title;
  std::string x_name;
  double x_end = 1;  // x goes from 0 to here
  double y_low = 0, y_high = 1;
  int y_digits = 4;  // of the values in the labels of points
  std::vector<Band> bands;
  std::vector<Series> series;
};

// Two to ten "round" values (1, 2 or 5 times a power of ten apart) within [low, high].
std::vector<double> round_ticks(double low, double high, int about);

std::string to_svg(const Chart& chart);

}  // namespace argand::cli
