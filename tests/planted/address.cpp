#include <vector>

int main(int argc, char**) {
  std::vector<int> v(4);
  return v.data()[3 + argc];  // one past the end
}
