#include "check.h"

static int released = 0;
static void release(void* context, void* data) {
  CHECK(context == &released && data != NULL);
  ++released;
}

static void from_memory(void) {
  float data[] = {1, 2, 3, 4, 5, 6};
  const int64_t sizes[] = {2, 3}, columns[] = {1, 2};
  const argand_device cpu = {ARGAND_CPU, -1};
  argand_tensor *t = NULL, *view = NULL, *transposed = NULL;
  void* address = NULL;
  OK(argand_tensor_from_memory(data, sizes, NULL, 2, ARGAND_FLOAT32, cpu, release, &released, &t));
  OK(argand_tensor_data(t, &address));
  CHECK(address == data);
  OK(argand_op_mul_(t, argand_value_double(2)));
  CHECK(data[5] == 12);
  OK(argand_op_select(t, 0, 1, &view));
  argand_tensor_free(t);
  CHECK(released == 0); /* the view still uses the memory */
  SAME(view, 8, 10, 12);
  argand_tensor_free(view);
  CHECK(released == 1);
  OK(argand_tensor_from_memory(data, sizes, columns, 2, ARGAND_FLOAT32, cpu, NULL, NULL, &transposed));
  SAME(transposed, 2, 6, 10, 4, 8, 12);
  int64_t strides[2] = {0, 0};
  bool contiguous = true;
  OK(argand_tensor_strides(transposed, strides, 2));
  OK(argand_tensor_is_contiguous(transposed, ARGAND_CONTIGUOUS, &contiguous));
  CHECK(strides[0] == 1 && strides[1] == 2 && !contiguous);
  argand_tensor_free(transposed);
  const int64_t negative[] = {-1, 2};
  argand_tensor* none = NULL;
  FAILS(argand_tensor_from_memory(data, negative, NULL, 2, ARGAND_FLOAT32, cpu, release, &released, &none),
        ARGAND_ERROR_SHAPE, "negative");
  FAILS(argand_tensor_from_memory(NULL, sizes, NULL, 2, ARGAND_FLOAT32, cpu, release, &released, &none),
        ARGAND_ERROR_VALUE, "null");
  CHECK(released == 1 && !none);
}

static void properties(void) {
  const int64_t sizes[] = {2, 0, 3};
  argand_tensor *t = NULL, *other = NULL, *number = NULL;
  argand_options options = ARGAND_DEFAULT_OPTIONS;
  size_t dim = 0, nbytes = 7;
  int64_t shape[3] = {9, 9, 9}, last = 0;
  argand_dtype dtype = ARGAND_DTYPE_NONE;
  argand_device device = {ARGAND_DEVICE_NONE, 5};
  bool is_same = false, leaf = false;
  char* text = NULL;
  options.dtype = ARGAND_FLOAT64;
  OK(argand_op_zeros(sizes, 3, &options, &t));
  OK(argand_tensor_dim(t, &dim));
  OK(argand_tensor_sizes(t, shape, 2));
  OK(argand_tensor_size(t, -1, &last));
  OK(argand_tensor_nbytes(t, &nbytes));
  OK(argand_tensor_dtype(t, &dtype));
  OK(argand_tensor_device(t, &device));
  OK(argand_tensor_is_leaf(t, &leaf));
  CHECK(dim == 3 && shape[0] == 2 && shape[1] == 0 && shape[2] == 9 && last == 3 && nbytes == 0 && leaf);
  CHECK(dtype == ARGAND_FLOAT64 && device.type == ARGAND_CPU);
  OK(argand_tensor_share(t, &other));
  OK(argand_tensor_is_same(t, other, &is_same));
  CHECK(is_same && t != other);
  OK(argand_tensor_copy_to(t, NULL, 0));
  FAILS(argand_tensor_copy_to(t, shape, 8), ARGAND_ERROR_VALUE, "has 0 bytes, got 8");
  argand_tensor_free(t);
  argand_tensor_free(other);

  const int64_t eleven = 11;
  OK(argand_tensor_from_copy(&eleven, NULL, 0, ARGAND_INT64, &number));
  argand_value item = argand_value_none();
  int64_t whole = 0;
  OK(argand_tensor_item(number, &item));
  OK(argand_tensor_item_int(number, &whole));
  CHECK(item.kind == ARGAND_KIND_INT && item.as.integer == 11 && whole == 11);
  OK(argand_tensor_text(number, &text));
  CHECK(text && strcmp(text, "tensor(11)") == 0);
  argand_text_free(text);
  argand_tensor_free(number);
  t = floats((const float[]){1, 2}, 2);
  FAILS(argand_tensor_item(t, &item), ARGAND_ERROR_VALUE, "");
  other = matrix((const float[]){5, 6, 7, 8}, 2, 2);
  OK(argand_tensor_set_data(t, other));
  SAME(t, 5, 6, 7, 8);
  FAILS(argand_tensor_set_data(t, NULL), ARGAND_ERROR_VALUE, "source is NULL");
  argand_tensor_free(other);
  argand_tensor_free(t);
}

static void names(void) {
  argand_dtype dtype = ARGAND_DTYPE_NONE;
  argand_device device = {0, 0};
  char* text = NULL;
  OK(argand_dtype_parse("bfloat16", &dtype));
  CHECK(dtype == ARGAND_BFLOAT16 && argand_dtype_size(dtype) == 2 && strcmp(argand_dtype_name(dtype), "bfloat16") == 0);
  CHECK(argand_dtype_size(8) == 0 && *argand_dtype_name(-5) == '\0');
  FAILS(argand_dtype_parse("float33", &dtype), ARGAND_ERROR_DTYPE, "float33");
  OK(argand_device_parse("cuda:3", &device));
  CHECK(device.type == ARGAND_CUDA && device.index == 3);
  OK(argand_device_text(device, &text));
  CHECK(text && strcmp(text, "cuda:3") == 0);
  argand_text_free(text);
  FAILS(argand_device_parse("toaster", &device), ARGAND_ERROR_VALUE, "toaster");
  FAILS(argand_device_text((argand_device){77, 0}, &text), ARGAND_ERROR_DEVICE, "77");
  FAILS(argand_device_text((argand_device){ARGAND_CUDA, 1000}, &text), ARGAND_ERROR_DEVICE, "1000");
  OK(argand_set_default_dtype(ARGAND_FLOAT64));
  CHECK(argand_get_default_dtype() == ARGAND_FLOAT64);
  OK(argand_set_default_dtype(ARGAND_FLOAT32));
  FAILS(argand_set_default_dtype(ARGAND_INT32), ARGAND_ERROR_DTYPE, "");
}

void test_tensors(void) {
  from_memory();
  properties();
  names();
}
