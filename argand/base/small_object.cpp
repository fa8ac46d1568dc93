#include "argand/base/small_object.h"

#include <cstdint>
#include <new>

#ifdef __has_feature
#define ARGAND_HAS_FEATURE(x) __has_feature(x)
#else
#define ARGAND_HAS_FEATURE(x) 0
#endif

namespace argand {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || ARGAND_HAS_FEATURE(address_sanitizer) || \
    ARGAND_HAS_FEATURE(thread_sanitizer)

void* allocate_small(size_t nbytes) { return ::operator new(nbytes); }
void free_small(void* p, size_t) noexcept { ::operator delete(p); }

#else

namespace {

constexpr size_t kUnit = 32, kLargest = 512;  // bytes: sizes are rounded up to units; larger ones go to the heap
constexpr uint32_t kMostKept = 256;           // objects of each size that a thread keeps

struct Free {
  Free* next;
};
// Without constructor and destructor, so that it can be used until the very end of a thread.
struct Kept {
  Free* first[kLargest / kUnit];
  uint32_t count[kLargest / kUnit];
  bool started, ended;
};
thread_local constinit Kept kept __attribute__((tls_model("initial-exec"))){};

struct GiveBackAtEnd {
  ~GiveBackAtEnd() {
    kept.ended = true;
    for (Free*& first : kept.first)
      while (Free* f = first) {
        first = f->next;
        ::operator delete(f);
      }
  }
  void start() { kept.started = true; }
};

size_t class_of(size_t nbytes) { return (nbytes + kUnit - 1) / kUnit - 1; }

[[gnu::noinline]] void start() {
  thread_local GiveBackAtEnd at_end;
  at_end.start();
}

}  // namespace

void* allocate_small(size_t nbytes) {
  if (nbytes > kLargest || nbytes == 0) return ::operator new(nbytes);
  const size_t c = class_of(nbytes);
  Free* f = kept.first[c];
  if (!f) return ::operator new((c + 1) * kUnit);
  kept.first[c] = f->next;
  --kept.count[c];
  return f;
}

void free_small(void* p, size_t nbytes) noexcept {
  if (!p) return;
  const size_t c = class_of(nbytes);
  if (nbytes > kLargest || nbytes == 0 || kept.ended || kept.count[c] == kMostKept) return ::operator delete(p);
  if (!kept.started) start();
  kept.first[c] = new (p) Free{kept.first[c]};
  ++kept.count[c];
}

#endif

}  // namespace argand
