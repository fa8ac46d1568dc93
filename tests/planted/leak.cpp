#include <cstdio>

static void* volatile g_last = nullptr;

int main() {
  g_last = new int[7];
  g_last = nullptr;  // nobody owns the array any more
  std::puts("leaked");
}
