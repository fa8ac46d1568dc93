#include "check.h"

void test_files(void) {
  const argand_device cpu = {ARGAND_CPU, -1};
  argand_state_dict *state = NULL, *read = NULL;
  argand_tensor *a = matrix((const float[]){1, 2, 3, 4}, 2, 2), *b = floats((const float[]){5}, 1), *back = NULL;
  const char *name = NULL, *text = NULL;
  size_t size = 0;
  const char* const path = "c_test.safetensors";
  OK(argand_state_dict_new(&state));
  OK(argand_state_dict_set(state, "layer.weight", b));
  OK(argand_state_dict_set(state, "layer.weight", a)); /* replaces */
  OK(argand_state_dict_set(state, "layer.bias", b));
  OK(argand_state_dict_set_text(state, "made by", "a test"));
  OK(argand_state_dict_save(state, path));
  argand_state_dict_free(state);
  OK(argand_state_dict_load(path, cpu, &read));
  OK(argand_state_dict_size(read, &size));
  CHECK(size == 2);
  OK(argand_state_dict_get(read, "layer.weight", &back));
  SAME(back, 1, 2, 3, 4);
  argand_tensor_free(back);
  OK(argand_state_dict_at(read, 1, &name, &back));
  CHECK(name && (strcmp(name, "layer.bias") == 0 || strcmp(name, "layer.weight") == 0));
  argand_tensor_free(back);
  OK(argand_state_dict_get_text(read, "made by", &text));
  CHECK(text && strcmp(text, "a test") == 0);
  OK(argand_state_dict_get_text(read, "made where", &text));
  CHECK(text == NULL);
  back = NULL;
  FAILS(argand_state_dict_get(read, "layer.gain", &back), ARGAND_ERROR_VALUE, "layer.gain");
  FAILS(argand_state_dict_at(read, 2, &name, &back), ARGAND_ERROR_INDEX, "2 tensors");
  FAILS(argand_state_dict_save(read, "no/such/folder/x"), ARGAND_ERROR_IO, "no/such/folder");
  CHECK(!back);
  argand_state_dict_free(read);
  read = NULL;
  /* A file that was cut. */
  FILE* const file = fopen(path, "r+");
  CHECK(file && fseek(file, 0, SEEK_END) == 0);
  const long bytes = file ? ftell(file) : 0;
  char* const content = malloc((size_t)bytes + 1);
  if (file) {
    rewind(file);
    CHECK(fread(content, 1, (size_t)bytes, file) == (size_t)bytes);
    fclose(file);
  }
  FILE* const cut = fopen(path, "w");
  if (cut) {
    CHECK(fwrite(content, 1, (size_t)bytes - 3, cut) == (size_t)bytes - 3);
    fclose(cut);
  }
  free(content);
  FAILS(argand_state_dict_load(path, cpu, &read), ARGAND_ERROR_IO, path);
  CHECK(!read && remove(path) == 0);
  argand_tensor_free(a);
  argand_tensor_free(b);
}
