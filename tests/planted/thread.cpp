#include <thread>

static int g_count = 0;

int main() {
  std::thread other([] { ++g_count; });  // both threads write without a lock
  ++g_count;
  other.join();
  return 0;
}
