#include "check.h"

/* Steps of sum((w - 3)^2) from w = 1. */
static argand_tensor* train(const char* name, const argand_number* options, size_t count, int steps,
                            argand_optimizer** kept) {
  argand_tensor* w = floats((const float[]){1, 1}, 2);
  argand_optimizer* optimizer = NULL;
  OK(argand_tensor_set_requires_grad(w, true));
  OK(argand_optimizer_new(name, &w, 1, options, count, &optimizer));
  for (int i = 0; i < steps; ++i) {
    argand_tensor *difference = NULL, *square = NULL, *loss = NULL;
    OK(argand_optimizer_zero_grad(optimizer, true));
    OK(argand_op_sub(w, argand_value_double(3), argand_value_none(), &difference));
    OK(argand_op_mul(difference, argand_value_tensor(difference), &square));
    OK(argand_op_sum__2(square, ARGAND_DTYPE_NONE, &loss));
    OK(argand_tensor_backward(loss, NULL, false, false));
    OK(argand_optimizer_step(optimizer));
    argand_tensor_free(difference);
    argand_tensor_free(square);
    argand_tensor_free(loss);
  }
  if (kept)
    *kept = optimizer;
  else
    argand_optimizer_free(optimizer);
  return w;
}

void test_optimizers(void) {
  /* By hand: gradient 2 (w - 3) = -4, so w = 1 + 4 lr; then Adam's first step, which is lr whatever the gradient. */
  const argand_number sgd = {"lr", 0.25}, adam = {"lr", 0.01};
  argand_optimizer* optimizer = NULL;
  argand_tensor* w = train("SGD", &sgd, 1, 1, NULL);
  SAME(w, 2, 2);
  argand_tensor_free(w);
  w = train("Adam", &adam, 1, 1, NULL);
  SAME(w, 1.01f, 1.01f);
  argand_tensor_free(w);
  const char* const names[] = {"AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    argand_tensor *trained = train(names[i], NULL, 0, 3, NULL), *sum = NULL;
    OK(argand_op_sum__2(trained, ARGAND_DTYPE_NONE, &sum));
    CHECK(item(sum) > 2); /* it moved towards 3 */
    argand_tensor_free(trained);
  }

  const argand_number momentum[] = {{"lr", 0.1}, {"momentum", 0.9}, {"nesterov", 1}};
  w = train("SGD", momentum, 3, 2, &optimizer);
  double value = 0;
  size_t groups = 0, size = 0;
  OK(argand_optimizer_get(optimizer, 0, "momentum", &value));
  CHECK(value == 0.9);
  OK(argand_optimizer_set(optimizer, 0, "lr", 0.05));
  OK(argand_optimizer_get(optimizer, 0, "lr", &value));
  CHECK(value == 0.05);
  FAILS(argand_optimizer_set(optimizer, 0, "lr", -1), ARGAND_ERROR_VALUE, "Invalid learning rate");
  FAILS(argand_optimizer_set(optimizer, 0, "beta1", 0), ARGAND_ERROR_VALUE, "it has lr, momentum");
  FAILS(argand_optimizer_get(optimizer, 0, "beta1", &value), ARGAND_ERROR_VALUE, "it has lr, momentum");
  FAILS(argand_optimizer_get(optimizer, 1, "lr", &value), ARGAND_ERROR_INDEX, "1 groups");
  CHECK(value == 0.05);
  argand_tensor* second = floats((const float[]){1}, 1);
  OK(argand_tensor_set_requires_grad(second, true));
  const argand_number slower = {"lr", 0.01};
  OK(argand_optimizer_add_group(optimizer, &second, 1, &slower, 1));
  FAILS(argand_optimizer_add_group(optimizer, &second, 1, NULL, 0), ARGAND_ERROR_VALUE, "more than one");
  OK(argand_optimizer_num_groups(optimizer, &groups));
  OK(argand_optimizer_get(optimizer, 1, "momentum", &value));
  CHECK(groups == 2 && value == 0.9);
  argand_state_dict* state = NULL;
  OK(argand_optimizer_state_dict(optimizer, &state));
  OK(argand_state_dict_size(state, &size));
  CHECK(size > 4);
  OK(argand_optimizer_load_state_dict(optimizer, state));
  argand_optimizer* other = NULL;
  OK(argand_optimizer_new("Adam", &second, 1, NULL, 0, &other));
  FAILS(argand_optimizer_load_state_dict(other, state), ARGAND_ERROR_VALUE, "nothing was changed");
  argand_optimizer_free(other);
  other = NULL;
  FAILS(argand_optimizer_new("Sgd", &second, 1, NULL, 0, &other), ARGAND_ERROR_VALUE, "SGD, Adam");
  FAILS(argand_optimizer_new("Adam", &second, 1, momentum, 3, &other), ARGAND_ERROR_VALUE, "momentum");
  FAILS(argand_optimizer_new("SGD", (argand_tensor*[]){w, w}, 2, NULL, 0, &other), ARGAND_ERROR_VALUE, "duplicate");
  CHECK(!other);
  argand_state_dict_free(state);
  argand_optimizer_free(optimizer);
  argand_tensor_free(second);
  argand_tensor_free(w);
}
