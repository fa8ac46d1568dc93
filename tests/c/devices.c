#include "check.h"

static void generators(void) {
  const int64_t size = 4;
  argand_generator *a = NULL, *b = NULL;
  argand_tensor *x = NULL, *y = NULL;
  bool equal = false;
  OK(argand_generator_new((argand_device){ARGAND_CPU, -1}, 7, &a));
  OK(argand_generator_new((argand_device){ARGAND_CPU, -1}, 8, &b));
  OK(argand_generator_manual_seed(b, 7));
  const argand_named_value of_a = {"generator", argand_value_generator(a)};
  const argand_named_value of_b = {"generator", argand_value_generator(b)};
  const argand_value shape = argand_value_ints(&size, 1);
  argand_value r;
  OK(argand_call("rand", &shape, 1, &of_a, 1, &r, 1, NULL));
  x = r.as.tensor;
  OK(argand_call("rand", &shape, 1, &of_b, 1, &r, 1, NULL));
  y = r.as.tensor;
  OK(argand_op_equal(x, y, &equal));
  CHECK(equal);
  argand_tensor_free(x);
  argand_tensor_free(y);
  argand_generator_free(a);
  argand_generator_free(b);
  /* The first numbers of torch.manual_seed(0); torch.rand(2). */
  OK(argand_manual_seed(0));
  OK(argand_call("rand", (argand_value[]){argand_value_ints((const int64_t[]){2}, 1)}, 1, NULL, 0, &r, 1, NULL));
  SAME(r.as.tensor, 0.4962565899f, 0.7682217956f);
  argand_values_free(&r, 1);
}

void test_devices(void) {
  generators();
  const int32_t threads = argand_get_num_threads();
  int32_t count = -1, index = 0;
  OK(argand_set_num_threads(2));
  CHECK(argand_get_num_threads() == 2);
  FAILS(argand_set_num_threads(0), ARGAND_ERROR_VALUE, "");
  OK(argand_set_num_threads(threads));
  const argand_device cpu = {ARGAND_CPU, -1}, cuda = {ARGAND_CUDA, -1};
  OK(argand_device_count(ARGAND_CPU, &count));
  CHECK(count == 1);
  OK(argand_synchronize(cpu));
  FAILS(argand_set_current_device(cpu), ARGAND_ERROR_DEVICE, "expected an accelerator");
  OK(argand_device_count(ARGAND_CUDA, &count));
  argand_stream *stream = NULL, *current = NULL;
  if (count == 0) {
    FAILS(argand_get_current_device(ARGAND_CUDA, &index), ARGAND_ERROR_DEVICE, "");
    FAILS(argand_stream_new(cuda, 0, &stream), ARGAND_ERROR_DEVICE, "");
    FAILS(argand_synchronize(cuda), ARGAND_ERROR_DEVICE, "");
    return;
  }
  bool done = false;
  void* native = NULL;
  argand_device device = cpu;
  OK(argand_get_current_device(ARGAND_CUDA, &index));
  FAILS(argand_set_current_device((argand_device){ARGAND_CUDA, 120}), ARGAND_ERROR_DEVICE, "below");
  OK(argand_stream_new(cuda, 0, &stream));
  OK(argand_stream_get_current(cuda, &current));
  OK(argand_stream_wait(stream, current));
  OK(argand_stream_set_current(stream));
  OK(argand_stream_synchronize(stream));
  OK(argand_stream_query(stream, &done));
  OK(argand_stream_device(stream, &device));
  OK(argand_stream_native(stream, &native));
  CHECK(done && device.type == ARGAND_CUDA && native != NULL);
  OK(argand_stream_set_current(current));
  OK(argand_synchronize(cuda));
  argand_stream_free(stream);
  argand_stream_free(current);
}
