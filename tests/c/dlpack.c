/* With the structs as https://dmlc.github.io/dlpack describes them. */
#include "check.h"

typedef struct {
  int32_t device_type, device_id;
} DLDevice;
typedef struct {
  uint8_t code, bits;
  uint16_t lanes;
} DLDataType;
typedef struct {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
} DLTensor;
struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensor*);
};
struct DLManagedTensorVersioned {
  struct {
    uint32_t major, minor;
  } version;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned*);
  uint64_t flags;
  DLTensor dl_tensor;
};

static int deleted = 0;
static void deleter(struct DLManagedTensor* managed) {
  (void)managed;
  ++deleted;
}

void test_dlpack(void) {
  argand_tensor *t = matrix((const float[]){1, 2, 3, 4}, 2, 2), *back = NULL;
  struct DLManagedTensor* managed = NULL;
  OK(argand_tensor_to_dlpack(t, &managed));
  CHECK(managed->dl_tensor.ndim == 2 && managed->dl_tensor.shape[1] == 2 && managed->dl_tensor.dtype.code == 2 &&
        managed->dl_tensor.dtype.bits == 32 && managed->dl_tensor.device.device_type == 1);
  OK(argand_op_add_(t, argand_value_double(1), argand_value_none())); /* the memory is shared */
  CHECK(((float*)managed->dl_tensor.data)[3] == 5);
  argand_tensor_free(t);
  OK(argand_tensor_from_dlpack(managed, &back)); /* takes it over */
  SAME(back, 2, 3, 4, 5);
  struct DLManagedTensorVersioned* versioned = NULL;
  OK(argand_tensor_to_dlpack_versioned(back, &versioned));
  argand_tensor_free(back);
  CHECK(versioned->version.major == 1);
  versioned->version.major = 2;
  FAILS(argand_tensor_from_dlpack_versioned(versioned, &back), ARGAND_ERROR_VALUE, "version 2");
  versioned->version.major = 1;
  OK(argand_tensor_from_dlpack_versioned(versioned, &back));
  SAME(back, 2, 3, 4, 5);
  argand_tensor_free(back);

  double data[] = {1.5, 2.5, 3.5};
  int64_t shape[] = {2}, strides[] = {2};
  struct DLManagedTensor own = {{data, {1, 0}, 1, {2, 64, 1}, shape, strides, 0}, NULL, deleter};
  back = NULL;
  own.dl_tensor.dtype.lanes = 4;
  FAILS(argand_tensor_from_dlpack(&own, &back), ARGAND_ERROR_VALUE, "4 lanes");
  CHECK(deleted == 0 && !back);
  own.dl_tensor.dtype.lanes = 1;
  OK(argand_tensor_from_dlpack(&own, &back));
  argand_tensor* sum = NULL;
  OK(argand_op_sum__2(back, ARGAND_DTYPE_NONE, &sum));
  CHECK(item(sum) == 5);
  argand_tensor_free(back);
  CHECK(deleted == 1);
  FAILS(argand_tensor_from_dlpack(NULL, &back), ARGAND_ERROR_VALUE, "managed is NULL");
}
