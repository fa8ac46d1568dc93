#include "check.h"

/* Every handle and every address that must be there. */
static void null_handles(void) {
  argand_tensor *t = NULL, *out = NULL;
  argand_state_dict* state = NULL;
  argand_module* module = NULL;
  argand_optimizer* optimizer = NULL;
  const argand_function* function = NULL;
  size_t n = 0;
  int64_t i = 0;
  bool flag = false;
  double d = 0;
  char* text = NULL;
  const argand_error_kind kind = ARGAND_ERROR_VALUE;
  FAILS(argand_tensor_dim(NULL, &n), kind, "argand_tensor_dim: tensor is NULL");
  FAILS(argand_tensor_share(NULL, &out), kind, "tensor is NULL");
  FAILS(argand_tensor_numel(NULL, &i), kind, "tensor is NULL");
  FAILS(argand_tensor_size(NULL, 0, &i), kind, "tensor is NULL");
  FAILS(argand_tensor_sizes(NULL, &i, 1), kind, "tensor is NULL");
  FAILS(argand_tensor_text(NULL, &text), kind, "tensor is NULL");
  FAILS(argand_tensor_item_double(NULL, &d), kind, "tensor is NULL");
  FAILS(argand_tensor_copy_to(NULL, &d, 8), kind, "tensor is NULL");
  FAILS(argand_tensor_requires_grad(NULL, &flag), kind, "tensor is NULL");
  FAILS(argand_tensor_backward(NULL, NULL, false, false), kind, "tensor is NULL");
  FAILS(argand_tensor_grad(NULL, &out), kind, "tensor is NULL");
  FAILS(argand_tensor_set_grad(NULL, NULL), kind, "tensor is NULL");
  FAILS(argand_backward(&t, NULL, 1, NULL, 0, false, false), kind, "roots is NULL");
  FAILS(argand_backward(NULL, NULL, 1, NULL, 0, false, false), kind, "roots is NULL, but its length is 1");
  FAILS(argand_state_dict_save(NULL, "x"), kind, "state is NULL");
  FAILS(argand_state_dict_load(NULL, (argand_device){ARGAND_CPU, -1}, &state), kind, "path is NULL");
  FAILS(argand_module_train(NULL, true), kind, "module is NULL");
  FAILS(argand_module_new(NULL, NULL, 0, &module), kind, "name is NULL");
  FAILS(argand_optimizer_step(NULL), kind, "optimizer is NULL");
  FAILS(argand_optimizer_new("SGD", &t, 1, NULL, 0, &optimizer), kind, "parameters is NULL");
  FAILS(argand_function_find(NULL, &function), kind, "name is NULL");
  FAILS(argand_function_call(NULL, NULL, 0, NULL, 0, NULL), kind, "function is NULL");
  FAILS(argand_call(NULL, NULL, 0, NULL, 0, NULL, 0, NULL), kind, "name is NULL");
  FAILS(argand_call("relu", NULL, 1, NULL, 0, NULL, 0, NULL), kind, "arguments is NULL");
  FAILS(argand_generator_manual_seed(NULL, 1), kind, "generator is NULL");
  FAILS(argand_stream_synchronize(NULL), kind, "stream is NULL");
  FAILS(argand_device_parse(NULL, NULL), kind, "is NULL");
  t = floats((const float[]){1, 2}, 2);
  FAILS(argand_tensor_dim(t, NULL), kind, "argand_tensor_dim: dim is NULL");
  FAILS(argand_tensor_share(t, NULL), kind, "result is NULL");
  FAILS(argand_tensor_sizes(t, NULL, 1), kind, "is NULL");
  FAILS(argand_grad(&t, NULL, 1, &t, 1, false, false, false, NULL), kind, "grads is NULL");
  CHECK(!out && !state && !module && !optimizer && !function && !text);
  argand_tensor_free(t);
}

/* An error of each kind that a program without a GPU and a second process can cause. */
static void kinds(void) {
  argand_tensor *a = floats((const float[]){1, 2}, 2), *b = floats((const float[]){1, 2, 3}, 3), *out = NULL;
  argand_tensor* whole = NULL;
  const argand_device cpu = {ARGAND_CPU, -1};
  const int64_t huge = INT64_MAX / 64;
  argand_state_dict* state = NULL;
  FAILS(argand_op_add(a, argand_value_tensor(b), argand_value_none(), &out), ARGAND_ERROR_SHAPE, "add");
  OK(argand_op_to__dtype(a, ARGAND_INT64, false, false, ARGAND_MEMORY_FORMAT_NONE, &whole));
  FAILS(argand_op_dropout(whole, 2.0, true, &out), ARGAND_ERROR_VALUE, "dropout");
  FAILS(argand_tensor_set_requires_grad(whole, true), ARGAND_ERROR_GRAD, "int64");
  FAILS(argand_tensor_size(a, 5, (int64_t[]){0}), ARGAND_ERROR_INDEX, "5");
  FAILS(argand_tensor_backward(a, NULL, false, false), ARGAND_ERROR_GRAD, "");
  FAILS(argand_op_empty(&huge, 1, NULL, ARGAND_MEMORY_FORMAT_NONE, &out), ARGAND_ERROR_OUT_OF_MEMORY, "");
  FAILS(argand_state_dict_load("no/such/file", cpu, &state), ARGAND_ERROR_IO, "no/such/file");
  FAILS(argand_stream_get_current(cpu, (argand_stream*[]){NULL}), ARGAND_ERROR_DEVICE, "expected an accelerator");
  FAILS(argand_tensor_from_copy(&huge, &huge, 1, 77, &out), ARGAND_ERROR_DTYPE, "no dtype of number 77");
  int64_t shape[] = {2, 3};
  const int64_t far[] = {INT64_MAX, INT64_MAX};
  FAILS(argand_tensor_from_memory(&shape, shape, far, 2, ARGAND_INT64, cpu, NULL, NULL, &out), ARGAND_ERROR_VALUE,
        "beyond the address space");
  const argand_options bad = {77, {ARGAND_DEVICE_NONE, -1}, false, false};
  FAILS(argand_op_zeros(shape, 2, &bad, &out), ARGAND_ERROR_DTYPE, "zeros: there is no dtype of number 77");
  argand_tensor* large = floats((const float[]){1e30f}, 1);
  FAILS(argand_tensor_item_int(large, (int64_t[]){0}), ARGAND_ERROR_VALUE, "is not in the range of int64");
  argand_tensor_free(large);
  argand_tensor* singular = matrix((const float[]){1, 2, 2, 4}, 2, 2);
  FAILS(argand_op_linalg_inv(singular, &out), ARGAND_ERROR_LINALG, "");
  argand_tensor_free(singular);
  CHECK(!out && !state);
  argand_tensor_free(a);
  argand_tensor_free(b);
  argand_tensor_free(whole);
}

void test_errors(void) {
  CHECK(argand_abi_version() == ARGAND_ABI_VERSION);
  CHECK(strlen(argand_version()) >= 5);
  null_handles();
  kinds();
  argand_error* own = argand_error_new(ARGAND_ERROR_IO, "mine");
  CHECK(argand_error_get_kind(own) == ARGAND_ERROR_IO);
  CHECK(strcmp(argand_error_get_message(own), "mine") == 0);
  CHECK(strcmp(argand_error_kind_name(ARGAND_ERROR_IO), "IoError") == 0);
  argand_error_free(own);
  argand_error_free(NULL);
  argand_tensor_free(NULL);
  argand_values_free(NULL, 0);
  CHECK(argand_error_get_kind(NULL) == 0);
  CHECK(*argand_error_get_message(NULL) == '\0' && *argand_error_kind_name(99) == '\0');
}
