/* The tests of the C interface: one program that needs nothing but the public headers and libargand_c, and the archive
 * that tests/script_archive.py writes: `argand_c_test ARCHIVE`. */
#include "check.h"

int failures = 0;

void failed(const char* file, int line, const char* what) {
  ++failures;
  fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
}

void expect_ok(argand_error* error, const char* file, int line) {
  if (!error) return;
  failed(file, line, argand_error_get_message(error));
  argand_error_free(error);
}

void expect_error(argand_error* error, argand_error_kind kind, const char* words, const char* file, int line) {
  if (!error) {
    failed(file, line, "expected an error");
  } else if (argand_error_get_kind(error) != kind || !strstr(argand_error_get_message(error), words)) {
    failed(file, line, argand_error_kind_name(argand_error_get_kind(error)));
    fprintf(stderr, "  expected %s with '%s', got: %s\n", argand_error_kind_name(kind), words,
            argand_error_get_message(error));
  }
  argand_error_free(error);
}

argand_tensor* floats(const float* values, int64_t count) {
  argand_tensor* out = NULL;
  OK(argand_tensor_from_copy(values, &count, 1, ARGAND_FLOAT32, &out));
  return out;
}

argand_tensor* matrix(const float* values, int64_t rows, int64_t columns) {
  const int64_t sizes[] = {rows, columns};
  argand_tensor* out = NULL;
  OK(argand_tensor_from_copy(values, sizes, 2, ARGAND_FLOAT32, &out));
  return out;
}

double item(argand_tensor* tensor) {
  double value = NAN;
  OK(argand_tensor_item_double(tensor, &value));
  argand_tensor_free(tensor);
  return value;
}

void same(argand_tensor* tensor, const float* values, int64_t count, const char* file, int line) {
  int64_t numel = -1;
  float* const found = malloc((size_t)count * sizeof(float));
  expect_ok(argand_tensor_numel(tensor, &numel), file, line);
  if (numel != count) {
    failed(file, line, "another number of elements");
  } else {
    expect_ok(argand_tensor_copy_to(tensor, found, (size_t)count * sizeof(float)), file, line);
    for (int64_t i = 0; i < count; ++i)
      if (!(fabsf(found[i] - values[i]) <= 1e-5f * (1 + fabsf(values[i])))) {
        failed(file, line, "another value");
        fprintf(stderr, "  element %lld: expected %g, got %g\n", (long long)i, (double)values[i], (double)found[i]);
      }
  }
  free(found);
}

long resident_kilobytes(void) {
  FILE* const file = fopen("/proc/self/statm", "r");
  long pages = 0;
  if (!file || fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
  if (file) fclose(file);
  return pages * 4;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: argand_c_test ARCHIVE\n");
    return 2;
  }
  test_errors();
  test_tensors();
  test_dlpack();
  test_operators();
  test_gradients();
  test_devices();
  test_files();
  test_networks();
  test_scripts(argv[1]);
  test_optimizers();
  test_threads();
  test_memory();
  printf(failures ? "c: %d failures\n" : "c: all tests passed\n", failures);
  return failures != 0;
}
