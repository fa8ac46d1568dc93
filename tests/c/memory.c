/* 10^6 calls, one in sixteen of which fails, leave no memory behind. */
#include "check.h"

static void calls(int count) {
  argand_tensor *a = floats((const float[]){1, 2, 3, 4}, 4), *wrong = floats((const float[]){1, 2, 3}, 3);
  for (int i = 0; i < count; ++i) {
    argand_tensor* out = NULL;
    argand_error* const error = argand_op_add(a, argand_value_tensor(i % 16 ? a : wrong), argand_value_none(), &out);
    if ((error == NULL) != (i % 16 != 0)) CHECK(!"an unexpected outcome");
    argand_error_free(error);
    argand_tensor_free(out);
  }
  argand_tensor_free(a);
  argand_tensor_free(wrong);
}

void test_memory(void) {
#ifdef ARGAND_FEW_CALLS /* a sanitizer counts what is left itself, and is slow */
  calls(10000);
#else
  calls(100000);
  const long before = resident_kilobytes();
  calls(1000000);
  CHECK(resident_kilobytes() - before < 1024);
#endif
}
