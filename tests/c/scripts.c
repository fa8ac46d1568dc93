/* Modules of TorchScript archives. */
#include "check.h"

static const argand_device kNowhere = {ARGAND_DEVICE_NONE, -1}, kCpu = {ARGAND_CPU, -1};

static argand_value call(argand_module* net, const char* method, const argand_value* arguments, size_t count) {
  argand_value out = argand_value_none();
  OK(argand_module_call(net, method, arguments, count, NULL, 0, &out));
  return out;
}
#define CALL(net, method, ...)                           \
  call(net, method, (const argand_value[]){__VA_ARGS__}, \
       sizeof((const argand_value[]){__VA_ARGS__}) / sizeof(argand_value))

static bool is_text(argand_value v, const char* text) {
  return v.kind == ARGAND_KIND_STRING && v.length == (int64_t)strlen(text) && strcmp(v.as.text, text) == 0;
}
/* Whether it is a tuple of `count` values; they can be looked at only then. */
static bool is_tuple(argand_value v, int64_t count) { return v.kind == ARGAND_KIND_TUPLE && v.length == count; }

static argand_module* loaded(const char* path) {
  argand_module* net = NULL;
  OK(argand_module_load(path, kNowhere, NULL, 0, &net));
  return net;
}

static void loading(const char* path) {
  argand_named_value extra[] = {{"labels.txt", argand_value_none()}, {"nothing.txt", argand_value_none()}};
  argand_module* net = NULL;
  OK(argand_module_load(path, kCpu, extra, 2, &net));
  CHECK(is_text(extra[0].value, "cat\nd\xc3\xb6g\n") && extra[1].value.kind == ARGAND_KIND_NONE);
  argand_values_free(&extra[0].value, 1);
  char* name = NULL;
  OK(argand_module_type_name(net, &name));
  CHECK(name && strcmp(name, "__torch__.Net") == 0);
  argand_text_free(name);
  argand_module_free(net);
  net = NULL;
  FAILS(argand_module_load("no/such/net.pt", kCpu, NULL, 0, &net), ARGAND_ERROR_IO, "no/such/net.pt");
  FAILS(argand_module_load(NULL, kCpu, NULL, 0, &net), ARGAND_ERROR_VALUE, "path");
  FAILS(argand_module_load(path, kCpu, NULL, 1, &net), ARGAND_ERROR_VALUE, "extra_files");
  FAILS(argand_module_load(path, kCpu, NULL, 0, NULL), ARGAND_ERROR_VALUE, "result");
  FAILS(argand_module_load(path, (argand_device){77, 0}, NULL, 0, &net), ARGAND_ERROR_DEVICE, "77");

  /* From memory, whole and cut at every place of a stride. */
  FILE* const file = fopen(path, "rb");
  static char bytes[1 << 16];
  const size_t size = file ? fread(bytes, 1, sizeof(bytes), file) : 0;
  if (file) fclose(file);
  CHECK(size > 1000 && size < sizeof(bytes));
  for (size_t cut = 0; cut < size; cut += 97)
    FAILS(argand_module_load_bytes(bytes, cut, kCpu, NULL, 0, &net), ARGAND_ERROR_IO, "memory");
  FAILS(argand_module_load_bytes(NULL, 5, kCpu, NULL, 0, &net), ARGAND_ERROR_VALUE, "bytes");
  CHECK(!net);
  OK(argand_module_load_bytes(bytes, size, kCpu, NULL, 0, &net));
  argand_module_free(net);
}

static void calls(argand_module* net) {
  argand_tensor* const x = floats((const float[]){1, 1, 1}, 3);
  argand_value y = CALL(net, "forward", argand_value_tensor(x));
  SAME(y.as.tensor, 1, 2, 3); /* training, as it was saved */
  argand_values_free(&y, 1);
  bool training = false;
  OK(argand_module_is_training(net, &training));
  CHECK(training);
  OK(argand_module_train(net, false));
  y = CALL(net, "forward", argand_value_tensor(x), argand_value_int(2));
  SAME(y.as.tensor, 1.5f, 4.5f, 9.5f);
  argand_values_free(&y, 1);
  const argand_value input = argand_value_tensor(x);
  argand_named_value named[] = {{"times", argand_value_int(0)}, {"times", argand_value_int(1)}};
  OK(argand_module_call(net, "forward", &input, 1, named, 1, &y));
  SAME(y.as.tensor, 1.5f, 1.5f, 1.5f);
  argand_values_free(&y, 1);
  size_t count = 0;
  OK(argand_module_forward(net, &input, 1, &y, 1, &count));
  CHECK(count == 1 && y.kind == ARGAND_KIND_TENSOR);
  argand_values_free(&y, 1);

  FAILS(argand_module_call(net, "backward", NULL, 0, NULL, 0, &y), ARGAND_ERROR_VALUE, "backward");
  FAILS(argand_module_call(net, NULL, NULL, 0, NULL, 0, &y), ARGAND_ERROR_VALUE, "method");
  FAILS(argand_module_call(NULL, "forward", NULL, 0, NULL, 0, &y), ARGAND_ERROR_VALUE, "module");
  FAILS(argand_module_call(net, "forward", &input, 1, NULL, 0, NULL), ARGAND_ERROR_VALUE, "result");
  FAILS(argand_module_call(net, "forward", NULL, 0, NULL, 0, &y), ARGAND_ERROR_VALUE, "'x'");
  FAILS(argand_module_call(net, "forward", &input, 1, named, 2, &y), ARGAND_ERROR_VALUE, "'times' is given twice");
  named[0].name = "time";
  FAILS(argand_module_call(net, "forward", &input, 1, named, 1, &y), ARGAND_ERROR_VALUE, "'time'");
  const argand_value text = argand_value_string("cat.jpg");
  FAILS(argand_module_call(net, "forward", &text, 1, NULL, 0, &y), ARGAND_ERROR_VALUE,
        "expected a value of type Tensor");
  argand_tensor* const two = floats((const float[]){1, 1}, 2);
  const argand_value wrong = argand_value_tensor(two), numbers[] = {argand_value_int(7), argand_value_int(0)};
  FAILS(argand_module_call(net, "forward", &wrong, 1, NULL, 0, &y), ARGAND_ERROR_SHAPE, "in code/__torch__.py");
  FAILS(argand_module_call(net, "divide", numbers, 2, NULL, 0, &y), ARGAND_ERROR_VALUE, "divide");
  FAILS(argand_module_call(net, "part", NULL, 0, NULL, 0, &y), ARGAND_ERROR_NOT_IMPLEMENTED, "__torch__.Layer");
  CHECK(y.kind == ARGAND_KIND_NONE);
  argand_tensor_free(two);
  argand_tensor_free(x);
}

/* Values of every kind, there and back. */
static void values(argand_module* net) {
  argand_tensor* const x = floats((const float[]){1, 2}, 2);
  argand_value r = CALL(net, "single", argand_value_bool(true), argand_value_int(-5), argand_value_int(2),
                        argand_value_string("d\xc3\xb6g"),
                        argand_value_tuple((const argand_value[]){argand_value_int(1), argand_value_string("a")}, 2));
  if (is_tuple(r, 6)) {
    const argand_value* const v = r.as.values;
    CHECK(v[0].kind == ARGAND_KIND_BOOL && v[0].as.boolean);
    CHECK(v[1].kind == ARGAND_KIND_INT && v[1].as.integer == -5);
    CHECK(v[2].kind == ARGAND_KIND_DOUBLE && v[2].as.number == 2); /* an int where it takes a float */
    CHECK(is_text(v[3], "d\xc3\xb6g"));
    CHECK(is_tuple(v[4], 2) && is_text(v[4].as.values[1], "a"));
    CHECK(v[5].kind == ARGAND_KIND_NONE);
  } else {
    CHECK(!"a tuple of 6");
  }
  argand_values_free(&r, 1);
  CHECK(r.kind == ARGAND_KIND_NONE);

  const bool flags[] = {true, false};
  const int64_t ints[] = {3, 4};
  const double doubles[] = {0.5};
  const argand_value texts[] = {argand_value_string("a"), argand_value_string("b")};
  argand_tensor* const tensors[] = {x, x};
  r = CALL(net, "lists", argand_value_bools(flags, 2), argand_value_ints(ints, 2), argand_value_doubles(doubles, 1),
           argand_value_tensors(tensors, 2), argand_value_list(texts, 2));
  if (is_tuple(r, 5)) {
    const argand_value* const v = r.as.values;
    CHECK(v[0].kind == ARGAND_KIND_BOOLS && v[0].length == 2 && v[0].as.booleans[0] && !v[0].as.booleans[1]);
    CHECK(v[1].kind == ARGAND_KIND_INTS && v[1].length == 2 && v[1].as.integers[1] == 4);
    CHECK(v[2].kind == ARGAND_KIND_DOUBLES && v[2].length == 1 && v[2].as.doubles[0] == 0.5);
    CHECK(v[3].kind == ARGAND_KIND_TENSORS && v[3].length == 2);
    SAME(v[3].as.tensors[1], 1, 2);
    CHECK(v[4].kind == ARGAND_KIND_LIST && v[4].length == 2 && is_text(v[4].as.values[1], "b"));
  } else {
    CHECK(!"a tuple of 5");
  }
  argand_values_free(&r, 1);
  /* Lists of any values may stand for those with a kind of their own, and nothing for an empty one. */
  const argand_value mixed[] = {argand_value_int(1), argand_value_double(2.5)};
  r = CALL(net, "lists", argand_value_bools(NULL, 0), argand_value_list(mixed, 1), argand_value_numbers(mixed, 2),
           argand_value_list(NULL, 0), argand_value_list(NULL, 0));
  if (is_tuple(r, 5)) {
    CHECK(r.as.values[0].length == 0 && r.as.values[3].kind == ARGAND_KIND_TENSORS);
    CHECK(r.as.values[1].kind == ARGAND_KIND_INTS && r.as.values[1].as.integers[0] == 1);
    CHECK(r.as.values[2].kind == ARGAND_KIND_DOUBLES && r.as.values[2].as.doubles[1] == 2.5);
  } else {
    CHECK(!"a tuple of 5");
  }
  argand_values_free(&r, 1);

  const argand_entry named[] = {{argand_value_string("x"), argand_value_tensor(x)}};
  const argand_entry numbered[] = {{argand_value_int(7), argand_value_double(1.5)},
                                   {argand_value_int(-1), argand_value_int(2)},
                                   {argand_value_int(7), argand_value_double(3.5)}}; /* the last counts */
  r = CALL(net, "dicts", argand_value_dict(named, 1), argand_value_dict(numbered, 3));
  if (is_tuple(r, 2) && r.as.values[0].kind == ARGAND_KIND_DICT && r.as.values[1].kind == ARGAND_KIND_DICT) {
    const argand_entry *const by_name = r.as.values[0].as.entries, *const by_number = r.as.values[1].as.entries;
    CHECK(r.as.values[0].length == 1 && is_text(by_name[0].key, "x") && r.as.values[1].length == 2);
    SAME(by_name[0].value.as.tensor, 1, 2);
    CHECK(by_number[0].key.as.integer == 7 && by_number[0].value.as.number == 3.5);
    CHECK(by_number[1].key.as.integer == -1 && by_number[1].value.as.number == 2);
  } else {
    CHECK(!"two dicts");
  }
  argand_values_free(&r, 1);

  r = CALL(net, "place", argand_value_device(kCpu), argand_value_complex(1, -2));
  CHECK(is_tuple(r, 2) && r.as.values[0].kind == ARGAND_KIND_DEVICE && r.as.values[0].as.device.type == ARGAND_CPU);
  CHECK(is_tuple(r, 2) && r.as.values[1].kind == ARGAND_KIND_COMPLEX && r.as.values[1].as.complex_number[1] == -2);
  argand_values_free(&r, 1);
  r = CALL(net, "nested", argand_value_int(3));
  CHECK(r.kind == ARGAND_KIND_LIST && r.length == 3);
  if (r.kind == ARGAND_KIND_LIST && r.length == 3 && r.as.values[2].kind == ARGAND_KIND_DICT) {
    const argand_value last = r.as.values[2].as.entries[0].value;
    CHECK(is_tuple(last, 2) && last.as.values[0].as.integer == 2 && last.as.values[1].as.doubles[1] == 1.5);
  }
  argand_values_free(&r, 1);
  r = call(net, "empty", NULL, 0);
  CHECK(is_tuple(r, 2) && r.as.values[0].kind == ARGAND_KIND_LIST && r.as.values[1].kind == ARGAND_KIND_DICT);
  argand_values_free(&r, 1);

  /* Numbers for dtypes and memory formats, and a list in which a tensor is absent. */
  argand_tensor* const some[] = {x, NULL};
  r = CALL(net, "same", argand_value_tensors(some, 2));
  CHECK(r.kind == ARGAND_KIND_LIST && r.length == 2 && r.as.values[1].kind == ARGAND_KIND_NONE);
  argand_values_free(&r, 1);
  r = CALL(net, "same", argand_value_dtype(ARGAND_FLOAT64));
  CHECK(r.kind == ARGAND_KIND_INT && r.as.integer == ARGAND_FLOAT64);
  argand_values_free(&r, 1);
  r = CALL(net, "same", argand_value_tensor(NULL));
  CHECK(r.kind == ARGAND_KIND_NONE);

  /* What no program can take. */
  argand_value itself = argand_value_list(&itself, 1), wrong = argand_value_of_kind(99, 0);
  FAILS(argand_module_call(net, "same", &itself, 1, NULL, 0, &r), ARGAND_ERROR_VALUE, "nested");
  FAILS(argand_module_call(net, "same", &wrong, 1, NULL, 0, &r), ARGAND_ERROR_VALUE, "kind 99");
  wrong = argand_value_list(&itself, -3);
  FAILS(argand_module_call(net, "same", &wrong, 1, NULL, 0, &r), ARGAND_ERROR_VALUE, "-3");
  wrong = argand_value_of_kind(ARGAND_KIND_DICT, 3);
  FAILS(argand_module_call(net, "same", &wrong, 1, NULL, 0, &r), ARGAND_ERROR_VALUE, "NULL");
  const argand_entry no_key = {argand_value_list(NULL, 0), argand_value_int(1)};
  wrong = argand_value_dict(&no_key, 1);
  FAILS(argand_module_call(net, "same", &wrong, 1, NULL, 0, &r), ARGAND_ERROR_VALUE, "key");
  const argand_options options = ARGAND_DEFAULT_OPTIONS;
  wrong = argand_value_options(&options);
  FAILS(argand_module_call(net, "same", &wrong, 1, NULL, 0, &r), ARGAND_ERROR_VALUE, "options");
  wrong = argand_value_list(texts, 2);
  FAILS(argand_call("cat", &wrong, 1, NULL, 0, NULL, 0, NULL), ARGAND_ERROR_VALUE, "TorchScript");
  argand_tensor_free(x);
}

static void attributes(argand_module* net) {
  argand_value v = argand_value_none();
  OK(argand_module_names(net, ARGAND_METHODS, &v));
  CHECK(v.kind == ARGAND_KIND_LIST && v.length == 11 && is_text(v.as.values[0], "forward"));
  argand_values_free(&v, 1);
  OK(argand_module_names(net, ARGAND_ATTRIBUTES, &v));
  CHECK(v.kind == ARGAND_KIND_LIST && v.length == 5 && is_text(v.as.values[0], "weight"));
  argand_values_free(&v, 1);
  OK(argand_module_names(net, ARGAND_CHILDREN, &v));
  CHECK(v.kind == ARGAND_KIND_LIST && v.length == 1 && is_text(v.as.values[0], "layer"));
  argand_values_free(&v, 1);
  FAILS(argand_module_names(net, 9, &v), ARGAND_ERROR_VALUE, "9");
  char* signature = NULL;
  OK(argand_module_signature(net, "forward", &signature));
  CHECK(signature && strcmp(signature, "forward(x: Tensor, times: int=1) -> Tensor") == 0);
  argand_text_free(signature);
  FAILS(argand_module_signature(net, "backward", &signature), ARGAND_ERROR_VALUE, "backward");

  OK(argand_module_get(net, "layer.bias", &v));
  SAME(v.as.tensor, 0.5f);
  argand_values_free(&v, 1);
  OK(argand_module_get(net, "scale", &v));
  CHECK(v.kind == ARGAND_KIND_DOUBLE && v.as.number == 0.5);
  OK(argand_module_get(net, "sizes", &v));
  CHECK(v.kind == ARGAND_KIND_INTS && v.length == 2 && v.as.integers[1] == 3);
  argand_values_free(&v, 1);
  FAILS(argand_module_get(net, "layer.gain", &v), ARGAND_ERROR_VALUE, "gain");
  FAILS(argand_module_get(net, "weight.x", &v), ARGAND_ERROR_VALUE, "'weight' of __torch__.Net is no module");
  FAILS(argand_module_get(net, "", &v), ARGAND_ERROR_VALUE, "");
  FAILS(argand_module_get(net, "layer", &v), ARGAND_ERROR_NOT_IMPLEMENTED, "argand_module_child");
  const argand_value note = argand_value_string("n"), five = argand_value_int(5);
  OK(argand_module_set(net, "note", &note));
  OK(argand_module_get(net, "note", &v));
  CHECK(is_text(v, "n"));
  argand_values_free(&v, 1);
  FAILS(argand_module_set(net, "note", &five), ARGAND_ERROR_VALUE, "note");
  FAILS(argand_module_set(net, "nothing", &five), ARGAND_ERROR_VALUE, "nothing");

  argand_module* layer = NULL;
  OK(argand_module_child(net, "layer", &layer));
  bool training = true;
  OK(argand_module_is_training(layer, &training));
  CHECK(!training); /* net was switched to evaluation */
  FAILS(argand_module_child(net, "weight", &layer), ARGAND_ERROR_VALUE, "weight");
  argand_module_free(layer);
}

static void tensors(const char* path) {
  argand_module* const net = loaded(path);
  argand_state_dict *parameters = NULL, *buffers = NULL, *state = NULL;
  argand_tensor *weight = NULL, *count = NULL, *grad = NULL;
  const char* name = NULL;
  size_t size = 0;
  OK(argand_module_parameters(net, &parameters));
  OK(argand_module_buffers(net, &buffers));
  OK(argand_module_state_dict(net, &state));
  OK(argand_state_dict_size(state, &size));
  OK(argand_state_dict_at(parameters, 1, &name, NULL));
  CHECK(size == 3 && name && strcmp(name, "layer.bias") == 0);
  argand_value done = call(net, "count_up", NULL, 0);
  CHECK(done.kind == ARGAND_KIND_NONE);
  done = argand_value_none();
  OK(argand_module_get(net, "count", &done));
  CHECK(done.kind == ARGAND_KIND_TENSOR && item(done.as.tensor) == 1);
  OK(argand_state_dict_get(buffers, "count", &count));
  CHECK(item(count) == 0); /* the program put another tensor there */

  /* Gradients, and a step of an optimizer. */
  argand_optimizer* optimizer = NULL;
  const argand_number rate = {"lr", 1};
  OK(argand_state_dict_get(parameters, "weight", &weight));
  OK(argand_tensor_set_requires_grad(weight, true));
  argand_tensor *const x = floats((const float[]){1, 1, 1}, 3), *sum = NULL;
  argand_value y = CALL(net, "forward", argand_value_tensor(x), argand_value_int(2));
  OK(argand_op_sum__2(y.as.tensor, ARGAND_DTYPE_NONE, &sum));
  OK(argand_tensor_backward(sum, NULL, false, false));
  OK(argand_tensor_grad(weight, &grad));
  SAME(grad, 2, 4, 6);
  OK(argand_optimizer_new_for("SGD", parameters, &rate, 1, &optimizer));
  OK(argand_optimizer_step(optimizer));
  SAME(weight, -1, -2, -3);
  argand_values_free(&y, 1);

  FAILS(argand_module_load_state_dict(net, parameters, true), ARGAND_ERROR_VALUE, "missing: count");
  argand_state_dict_free(state);
  OK(argand_module_state_dict(net, &state));
  argand_module* const other = loaded(path);
  OK(argand_module_load_state_dict(other, state, true));
  OK(argand_module_to(other, ARGAND_FLOAT64, kCpu));
  FAILS(argand_module_to(other, ARGAND_INT32, kNowhere), ARGAND_ERROR_DTYPE, "floating point");
  OK(argand_module_get(other, "weight", &y));
  argand_dtype dtype = ARGAND_DTYPE_NONE;
  OK(argand_tensor_dtype(y.as.tensor, &dtype));
  CHECK(dtype == ARGAND_FLOAT64);
  OK(argand_tensor_item_double(sum, &(double){0}));
  argand_values_free(&y, 1);
  FAILS(argand_module_fuse(other), ARGAND_ERROR_NOT_IMPLEMENTED, "__torch__.Net");
  argand_module_free(other);
  argand_optimizer_free(optimizer);
  argand_tensor_free(grad);
  argand_tensor_free(weight);
  argand_tensor_free(sum);
  argand_tensor_free(x);
  argand_state_dict_free(parameters);
  argand_state_dict_free(buffers);
  argand_state_dict_free(state);
  argand_module_free(net);
}

static void many_calls(argand_module* net, int count) {
  const argand_value n = argand_value_int(20);
  for (int i = 0; i < count; ++i) {
    argand_value r = call(net, "nested", &n, 1);
    argand_values_free(&r, 1);
  }
}

static void memory(argand_module* net) {
#ifdef ARGAND_FEW_CALLS /* a sanitizer counts what is left itself, and is slow */
  many_calls(net, 100);
#else
  many_calls(net, 3000);
  const long before = resident_kilobytes();
  many_calls(net, 3000);
  CHECK(resident_kilobytes() - before < 1024);
#endif
}

void test_scripts(const char* archive) {
  loading(archive);
  argand_module* const net = loaded(archive);
  calls(net);
  values(net);
  attributes(net);
  memory(net);
  argand_module_free(net);
  tensors(archive);
}
