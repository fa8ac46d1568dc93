#include <climits>

int main(int argc, char**) {
  const int sum = INT_MAX + argc;  // overflows
  return sum == 0 ? 1 : 0;
}
