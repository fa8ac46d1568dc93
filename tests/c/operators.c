#include "check.h"

static void by_name(void) {
  argand_tensor *a = matrix((const float[]){1, 2, 3, 4}, 2, 2), *b = matrix((const float[]){10, 20, 30, 40}, 2, 2);
  argand_value r[2];
  size_t count = 9;
  /* The default of alpha; then alpha by name. */
  const argand_value both[] = {argand_value_tensor(a), argand_value_tensor(b)};
  OK(argand_call("add", both, 2, NULL, 0, r, 2, &count));
  CHECK(count == 1 && r[0].kind == ARGAND_KIND_TENSOR);
  SAME(r[0].as.tensor, 11, 22, 33, 44);
  argand_values_free(r, 1);
  CHECK(r[0].kind == ARGAND_KIND_NONE);
  const argand_named_value alpha = {"alpha", argand_value_int(2)};
  OK(argand_call("add", both, 2, &alpha, 1, r, 1, NULL));
  SAME(r[0].as.tensor, 21, 42, 63, 84);
  argand_values_free(r, 1);
  /* A number where a tensor may stand; in place: the result is another handle for the first argument. */
  const argand_value half[] = {argand_value_tensor(a), argand_value_double(0.5)};
  OK(argand_call("mul_", half, 2, NULL, 0, NULL, 0, &count)); /* results dropped */
  CHECK(count == 1);
  SAME(a, 0.5f, 1, 1.5f, 2);
  /* Two results, and a list of them. */
  const argand_value max[] = {argand_value_tensor(b), argand_value_int(1)};
  OK(argand_call("max", max, 2, NULL, 0, r, 2, &count));
  CHECK(count == 2);
  SAME(r[0].as.tensor, 20, 40);
  argand_values_free(r, 2);
  const argand_value split[] = {argand_value_tensor(b), argand_value_int(2), argand_value_int(0)};
  OK(argand_call("chunk", split, 3, NULL, 0, r, 1, NULL));
  CHECK(r[0].kind == ARGAND_KIND_TENSORS && r[0].length == 2);
  SAME(r[0].as.tensors[1], 30, 40);
  const argand_value joined[] = {argand_value_tensors(r[0].as.tensors, r[0].length), argand_value_int(-1)};
  OK(argand_call("cat", joined, 2, NULL, 0, r + 1, 1, NULL));
  SAME(r[1].as.tensor, 10, 20, 30, 40);
  argand_values_free(r, 2);
  /* A bool; a dtype and a device by name. */
  OK(argand_call("equal", both, 2, NULL, 0, r, 1, NULL));
  CHECK(r[0].kind == ARGAND_KIND_BOOL && !r[0].as.boolean);
  const int64_t sizes[] = {2, 2};
  const argand_value shape = argand_value_ints(sizes, 2);
  const argand_named_value how[] = {{"dtype", argand_value_dtype(ARGAND_INT32)},
                                    {"device", argand_value_device((argand_device){ARGAND_CPU, -1})}};
  OK(argand_call("ones", &shape, 1, how, 2, r, 1, NULL));
  argand_dtype dtype = ARGAND_DTYPE_NONE;
  OK(argand_tensor_dtype(r[0].as.tensor, &dtype));
  CHECK(dtype == ARGAND_INT32);
  argand_values_free(r, 1);
  /* Texts and complex numbers. */
  const argand_value outer[] = {argand_value_string("ij,kl->ijkl"), argand_value_tensors((argand_tensor*[]){a, b}, 2)};
  OK(argand_call("einsum", outer, 2, NULL, 0, r, 1, NULL));
  int64_t numel = 0;
  OK(argand_tensor_numel(r[0].as.tensor, &numel));
  CHECK(numel == 16);
  argand_values_free(r, 1);
  const argand_value turned[] = {argand_value_tensor(a), argand_value_complex(0, 1)};
  OK(argand_call("mul", turned, 2, NULL, 0, r, 1, NULL));
  OK(argand_tensor_dtype(r[0].as.tensor, &dtype));
  CHECK(dtype == ARGAND_COMPLEX64);
  argand_values_free(r, 1);

  FAILS(argand_call("no_such_op", both, 2, NULL, 0, r, 1, NULL), ARGAND_ERROR_VALUE, "no_such_op");
  const argand_value text[] = {argand_value_tensor(a), argand_value_string("two")};
  FAILS(argand_call("add", text, 2, NULL, 0, r, 1, NULL), ARGAND_ERROR_VALUE, "add(Tensor self");
  FAILS(argand_call("relu", both, 2, NULL, 0, r, 1, NULL), ARGAND_ERROR_VALUE, "relu");
  const argand_value strange = argand_value_of_kind(99, 0);
  FAILS(argand_call("relu", &strange, 1, NULL, 0, r, 1, NULL), ARGAND_ERROR_VALUE, "kind 99");
  const argand_value short_list = argand_value_of_kind(ARGAND_KIND_INTS, 3);
  FAILS(argand_call("ones", &short_list, 1, NULL, 0, r, 1, NULL), ARGAND_ERROR_VALUE, "NULL");
  const argand_value no_tensor = argand_value_tensor(NULL);
  FAILS(argand_call("relu", &no_tensor, 1, NULL, 0, r, 1, NULL), ARGAND_ERROR_VALUE, "self");
  argand_tensor_free(a);
  argand_tensor_free(b);
}

static void functions(void) {
  const argand_function *f = NULL, *second = NULL;
  char* signature = NULL;
  size_t parameters = 0, results = 0;
  OK(argand_function_find("sum", &f));
  OK(argand_function_find("sum#2", &second));
  CHECK(f && second && f != second);
  OK(argand_function_signature(f, &signature));
  CHECK(signature && strstr(signature, "sum(Tensor self") == signature);
  argand_text_free(signature);
  OK(argand_function_find("max.dim", &f));
  OK(argand_function_sizes(f, &parameters, &results));
  CHECK(parameters == 3 && results == 2);
  argand_tensor* t = matrix((const float[]){1, 5, 4, 2}, 2, 2);
  argand_value r[2];
  const argand_value a[] = {argand_value_tensor(t), argand_value_int(0)}; /* keepdim has its default */
  OK(argand_function_call(f, a, 2, r, 2, NULL));
  SAME(r[0].as.tensor, 4, 5);
  argand_values_free(r, 2);
  const argand_value four[] = {a[0], a[1], argand_value_bool(true), argand_value_none()};
  FAILS(argand_function_call(f, four, 4, r, 2, NULL), ARGAND_ERROR_VALUE, "at most 3 arguments, got 4");
  FAILS(argand_function_find("max.nothing", &f), ARGAND_ERROR_VALUE, "max");
  FAILS(argand_function_find("max#0", &f), ARGAND_ERROR_VALUE, "max#0");
  FAILS(argand_function_find("maxi", &f), ARGAND_ERROR_VALUE, "maxi");
  CHECK(argand_function_count() > 1300);
  OK(argand_function_at(argand_function_count() - 1, &f));
  FAILS(argand_function_at(argand_function_count(), &f), ARGAND_ERROR_INDEX, "got index");
  argand_tensor_free(t);
}

static void typed(void) {
  argand_tensor *t = matrix((const float[]){3, 1, 2, 6, 5, 4}, 2, 3), *values = NULL, *out = NULL;
  const int64_t one = 1;
  const double low = 2;
  argand_value parts = argand_value_none();
  bool equal = false;
  OK(argand_op_topk(t, 2, 1, true, true, &values, NULL)); /* the indices are dropped */
  SAME(values, 3, 2, 6, 5);
  argand_tensor_free(values);
  OK(argand_op_sum(t, &one, 1, false, ARGAND_DTYPE_NONE, &out));
  SAME(out, 6, 15);
  argand_tensor_free(out);
  OK(argand_op_sum(t, NULL, 1, false, ARGAND_FLOAT64, &out)); /* no dims: all */
  CHECK(item(out) == 21);
  OK(argand_op_clamp__2(t, argand_value_double(low), argand_value_none(), &out));
  SAME(out, 3, 2, 2, 6, 5, 4);
  OK(argand_op_equal(out, t, &equal));
  CHECK(!equal);
  OK(argand_op_neg_out(t, out));
  SAME(out, -3, -1, -2, -6, -5, -4);
  argand_tensor_free(out);
  OK(argand_op_unbind(t, 0, &parts));
  CHECK(parts.length == 2);
  argand_values_free(&parts, 1);
  FAILS(argand_op_softmax(NULL, 0, ARGAND_DTYPE_NONE, &out), ARGAND_ERROR_VALUE, "self");
  argand_tensor_free(t);
}

void test_operators(void) {
  by_name();
  functions();
  typed();
}
