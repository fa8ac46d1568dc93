#include "check.h"

static argand_tensor* forward(argand_module* module, argand_tensor* x) {
  const argand_value input = argand_value_tensor(x);
  argand_value r = argand_value_none();
  size_t count = 0;
  OK(argand_module_forward(module, &input, 1, &r, 1, &count));
  CHECK(count == 1 && r.kind == ARGAND_KIND_TENSOR);
  return r.as.tensor;
}

void test_networks(void) {
  argand_module *net = NULL, *copy = NULL;
  argand_state_dict *state = NULL, *parameters = NULL, *loaded = NULL;
  argand_tensor *x = NULL, *y = NULL, *z = NULL;
  const int64_t image[] = {1, 3, 64, 64};
  const char* const path = "c_test_network.safetensors";
  const argand_device cpu = {ARGAND_CPU, -1};
  size_t size = 0;
  bool training = false, close = false;
  FAILS(argand_module_new("resnet19", NULL, 0, &net), ARGAND_ERROR_VALUE, "resnet18");
  FAILS(argand_module_new("resnet18", "no/such/file", 0, &net), ARGAND_ERROR_VALUE, "no/such/file");
  FAILS(argand_module_new("resnet18", NULL, -3, &net), ARGAND_ERROR_VALUE, "num_classes");
  OK(argand_manual_seed(1));
  OK(argand_module_new("resnet18", NULL, 10, &net));
  OK(argand_module_parameters(net, &parameters));
  OK(argand_state_dict_size(parameters, &size));
  CHECK(size == 62);
  OK(argand_module_is_training(net, &training));
  CHECK(training);
  OK(argand_module_train(net, false));
  OK(argand_op_ones(image, 4, NULL, &x));
  y = forward(net, x);
  OK(argand_module_state_dict(net, &state));
  OK(argand_state_dict_save(state, path));
  /* Another network with the weights of the file, then with those of the state dict, folded. */
  OK(argand_module_new("resnet18", path, 0, &copy));
  OK(argand_module_train(copy, false));
  z = forward(copy, x);
  OK(argand_op_equal(y, z, &close));
  CHECK(close);
  argand_tensor_free(z);
  OK(argand_state_dict_load(path, cpu, &loaded));
  OK(argand_module_load_state_dict(copy, loaded, true));
  OK(argand_module_fuse(copy));
  z = forward(copy, x);
  OK(argand_op_allclose(y, z, 1e-3, 1e-3, false, &close));
  CHECK(close);
  FAILS(argand_module_load_state_dict(copy, loaded, true), ARGAND_ERROR_VALUE, "");
  OK(argand_module_to(net, ARGAND_FLOAT64, (argand_device){ARGAND_DEVICE_NONE, -1}));
  FAILS(argand_module_forward(net, NULL, 0, NULL, 0, NULL), ARGAND_ERROR_VALUE, "takes one tensor, got 0");
  const argand_value text = argand_value_string("cat.jpg");
  FAILS(argand_module_forward(net, &text, 1, NULL, 0, NULL), ARGAND_ERROR_VALUE, "takes one tensor");
  argand_value names = argand_value_none(), weight = argand_value_none();
  char* signature = NULL;
  OK(argand_module_names(net, ARGAND_METHODS, &names));
  CHECK(names.length == 1 && strcmp(names.as.values[0].as.text, "forward") == 0);
  argand_values_free(&names, 1);
  OK(argand_module_signature(net, "forward", &signature));
  argand_text_free(signature);
  OK(argand_module_get(net, "bn1.running_mean", &weight));
  CHECK(weight.kind == ARGAND_KIND_TENSOR);
  argand_values_free(&weight, 1);
  FAILS(argand_module_get(net, "conv9.weight", &weight), ARGAND_ERROR_VALUE, "conv9.weight");
  FAILS(argand_module_call(net, "predict", NULL, 0, NULL, 0, &weight), ARGAND_ERROR_VALUE, "predict");
  FAILS(argand_module_names(net, ARGAND_CHILDREN, &names), ARGAND_ERROR_NOT_IMPLEMENTED, "ResNet");
  FAILS(argand_module_set(net, "conv1.weight", &text), ARGAND_ERROR_NOT_IMPLEMENTED, "load_state_dict");
  FAILS(argand_module_child(net, "layer1", &copy), ARGAND_ERROR_NOT_IMPLEMENTED, "layer1");
  CHECK(remove(path) == 0);
  argand_tensor_free(x);
  argand_tensor_free(y);
  argand_tensor_free(z);
  argand_state_dict_free(state);
  argand_state_dict_free(parameters);
  argand_state_dict_free(loaded);
  argand_module_free(net);
  argand_module_free(copy);
}
