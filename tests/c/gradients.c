#include "check.h"

void test_gradients(void) {
  argand_tensor *x = floats((const float[]){1, 2, 3}, 3), *square = NULL, *y = NULL, *grad = NULL;
  bool requires = false;
  OK(argand_tensor_set_requires_grad(x, true));
  OK(argand_tensor_requires_grad(x, &requires));
  CHECK(requires);
  OK(argand_op_mul(x, argand_value_tensor(x), &square));
  OK(argand_op_sum__2(square, ARGAND_DTYPE_NONE, &y));
  OK(argand_tensor_grad(x, &grad));
  CHECK(grad == NULL);
  OK(argand_tensor_backward(y, NULL, true, false));
  OK(argand_tensor_grad(x, &grad));
  SAME(grad, 2, 4, 6);
  argand_tensor_free(grad);
  OK(argand_tensor_backward(y, NULL, false, false));
  OK(argand_tensor_grad(x, &grad));
  SAME(grad, 4, 8, 12); /* sums */
  FAILS(argand_tensor_backward(y, NULL, false, false), ARGAND_ERROR_GRAD, "");
  FAILS(argand_tensor_set_grad(x, y), ARGAND_ERROR_SHAPE, "size");
  OK(argand_tensor_set_grad(x, NULL));
  argand_tensor_free(grad);
  OK(argand_tensor_grad(x, &grad));
  CHECK(grad == NULL);
  argand_tensor_free(square);
  argand_tensor_free(y);

  /* The second derivative of the sum of cubes. */
  argand_tensor *cube = NULL, *first = NULL, *second = NULL, *unused = floats((const float[]){1}, 1);
  const argand_value three = argand_value_int(3);
  const argand_value power[] = {argand_value_tensor(x), three};
  argand_value r;
  OK(argand_call("pow", power, 2, NULL, 0, &r, 1, NULL));
  cube = r.as.tensor;
  OK(argand_op_sum__2(cube, ARGAND_DTYPE_NONE, &y));
  OK(argand_grad(&y, NULL, 1, &x, 1, true, true, false, &first));
  SAME(first, 3, 12, 27);
  argand_tensor* ones = floats((const float[]){1, 1, 1}, 3);
  OK(argand_grad(&first, &ones, 1, &x, 1, false, false, false, &second));
  SAME(second, 6, 12, 18);
  OK(argand_tensor_set_requires_grad(unused, true));
  argand_tensor* none = x;
  FAILS(argand_grad(&y, NULL, 1, &unused, 1, true, false, false, &none), ARGAND_ERROR_GRAD, "");
  CHECK(none == x); /* nothing is written after an error */
  OK(argand_grad(&y, NULL, 1, &unused, 1, true, false, true, &none));
  CHECK(none == NULL);
  OK(argand_backward(&y, NULL, 1, &x, 1, false, false));
  OK(argand_tensor_grad(x, &grad));
  SAME(grad, 3, 12, 27);
  argand_tensor_free(grad);

  CHECK(argand_get_grad_enabled());
  argand_set_grad_enabled(false);
  argand_tensor* plain = NULL;
  OK(argand_op_mul(x, argand_value_double(2), &plain));
  OK(argand_tensor_requires_grad(plain, &requires));
  CHECK(!requires);
  argand_set_grad_enabled(true);
  argand_tensor* all[] = {x, y, cube, first, second, unused, ones, plain};
  for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); ++i) argand_tensor_free(all[i]);
}
