/* Threads that share tensors, find functions for the first time together, and have grad modes of their own. */
#include <pthread.h>

#include "check.h"

#define THREADS 8
static argand_tensor* shared_tensor;
static int wrong[THREADS];

static void* work(void* argument) {
  int* const bad = argument;
  const bool with_grad = (bad - wrong) % 2 == 0;
  argand_set_grad_enabled(with_grad);
  for (int i = 0; i < 300; ++i) {
    argand_tensor *product = NULL, *sum = NULL, *handle = NULL;
    bool requires = !with_grad;
    double value = 0;
    argand_error* errors[6];
    errors[0] = argand_tensor_share(shared_tensor, &handle);
    errors[1] = argand_op_hypot(handle, handle, &product); /* no other test has called it */
    errors[2] = argand_op_sum__2(product, ARGAND_DTYPE_NONE, &sum);
    errors[3] = argand_tensor_item_double(sum, &value);
    errors[4] = argand_tensor_requires_grad(sum, &requires);
    errors[5] = argand_tensor_size(handle, 3, (int64_t[]){0}); /* an error in each thread */
    for (int e = 0; e < 5; ++e) *bad += errors[e] != NULL;
    *bad += !errors[5] || argand_error_get_kind(errors[5]) != ARGAND_ERROR_INDEX;
    *bad += requires != with_grad || fabs(value - 7 * sqrt(2.0)) > 1e-5;
    for (int e = 0; e < 6; ++e) argand_error_free(errors[e]);
    argand_tensor_free(product);
    argand_tensor_free(sum);
    argand_tensor_free(handle);
  }
  return NULL;
}

void test_threads(void) {
  pthread_t threads[THREADS];
  shared_tensor = floats((const float[]){3, 4}, 2);
  OK(argand_tensor_set_requires_grad(shared_tensor, true));
  for (int i = 0; i < THREADS; ++i) CHECK(pthread_create(&threads[i], NULL, work, &wrong[i]) == 0);
  for (int i = 0; i < THREADS; ++i) {
    CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(wrong[i] == 0);
  }
  CHECK(argand_get_grad_enabled()); /* of this thread */
  argand_tensor_free(shared_tensor);
}
