/* Modules of TorchScript archives. */
#include "shared.h"

#define MODULE(x) POINTER(argand_module, x)

/* Texts of an array of arrays of bytes; NULL with an exception pending.  free_names() frees them. */
static argand_named_value* names_of(JNIEnv* env, jobjectArray array, jsize count) {
  argand_named_value* const out = calloc((size_t)count + 1, sizeof(argand_named_value));
  bool well = out != NULL;
  if (!well) throw_no_memory(env);
  for (jsize i = 0; well && i < count; ++i) {
    const jbyteArray name = (*env)->GetObjectArrayElement(env, array, i);
    out[i].name = bytes_of(env, name);
    (*env)->DeleteLocalRef(env, name);
    well = out[i].name != NULL;
  }
  if (well) return out;
  for (jsize i = 0; out && i < count; ++i) free((char*)out[i].name);
  free(out);
  return NULL;
}
static void free_names(argand_named_value* names, jsize count) {
  for (jsize i = 0; i < count; ++i) free((char*)names[i].name);
  free(names);
}

/* Of its parameters and buffers. */
static jlong bytes_of_tensors(argand_module* module) {
  argand_state_dict* state = NULL;
  size_t count = 0;
  jlong bytes = 0;
  argand_error* error = argand_module_state_dict(module, &state);
  if (!error) error = argand_state_dict_size(state, &count);
  for (size_t i = 0; !error && i < count; ++i) {
    argand_tensor* tensor = NULL;
    error = argand_state_dict_at(state, i, NULL, &tensor);
    bytes += bytes_in(tensor);
    argand_tensor_free(tensor);
  }
  argand_error_free(error);
  argand_state_dict_free(state);
  return bytes;
}

/* Puts the contents of extra files that are there into an array; false with an exception pending. */
static bool give_files(JNIEnv* env, argand_named_value* files, jsize count, jobjectArray contents) {
  bool well = true;
  for (jsize i = 0; i < count; ++i) {
    argand_value* const v = &files[i].value;
    if (well && v->kind == ARGAND_KIND_STRING) {
      const jbyteArray bytes = v->length <= INT32_MAX - 8 ? (*env)->NewByteArray(env, (jsize)v->length) : NULL;
      if (bytes) {
        (*env)->SetByteArrayRegion(env, bytes, 0, (jsize)v->length, (const jbyte*)v->as.text);
        (*env)->SetObjectArrayElement(env, contents, i, bytes);
        (*env)->DeleteLocalRef(env, bytes);
      } else if (!(*env)->ExceptionCheck(env)) {
        throw_no_memory(env);
      }
      well = !(*env)->ExceptionCheck(env);
    }
    argand_values_free(v, 1);
  }
  return well;
}

JAVA(jlongArray, loadModule)
(JNIEnv* env, jobject self, jbyteArray path, jbyteArray archive, jint type, jint index, jobjectArray names,
 jobjectArray contents) {
  (void)self;
  const jsize count = (*env)->GetArrayLength(env, names);
  const argand_device device = {type, index};
  argand_module* module = NULL;
  jlongArray out = NULL;
  char* const source = bytes_of(env, path ? path : archive);
  argand_named_value* const files = source ? names_of(env, names, count) : NULL;
  if (files) {
    argand_error* const error = path ? argand_module_load(source, device, files, (size_t)count, &module)
                                     : argand_module_load_bytes(source, (size_t)(*env)->GetArrayLength(env, archive),
                                                                device, files, (size_t)count, &module);
    if (!raised(env, error) && give_files(env, files, count, contents)) {
      const jlong pair[] = {ADDRESS(module), bytes_of_tensors(module)};
      out = new_longs(env, pair, 2);
    }
    if (!out) argand_module_free(module);
    free_names(files, count);
  }
  free(source);
  return out;
}

JAVA(void, freeModule)(JNIEnv* env, jobject self, jlong module) {
  (void)env, (void)self;
  argand_module_free(MODULE(module));
}

JAVA(jlongArray, callModule)
(JNIEnv* env, jobject self, jlong module, jbyteArray method, jlong words, jint used, jint count, jobjectArray names) {
  (void)self;
  struct arguments arguments;
  const jsize named = (*env)->GetArrayLength(env, names);
  if (!read_arguments(env, words, used, count + named, &arguments)) return NULL;
  char* const name = bytes_of(env, method);
  argand_named_value* const by_name = name ? names_of(env, names, named) : NULL;
  argand_value result = argand_value_none();
  jlongArray out = NULL;
  if (by_name) {
    for (jsize i = 0; i < named; ++i) by_name[i].value = arguments.values[count + i];
    if (!raised(env, argand_module_call(MODULE(module), name, arguments.values, (size_t)count, by_name, (size_t)named,
                                        &result)))
      out = give_value(env, &result);
    free_names(by_name, named);
  }
  free(name);
  free_arguments(&arguments);
  return out;
}

JAVA(jlongArray, attribute)(JNIEnv* env, jobject self, jlong module, jbyteArray name) {
  (void)self;
  argand_value out = argand_value_none();
  char* const text = bytes_of(env, name);
  const bool failed = !text || raised(env, argand_module_get(MODULE(module), text, &out));
  free(text);
  return failed ? NULL : give_value(env, &out);
}

JAVA(void, setAttribute)
(JNIEnv* env, jobject self, jlong module, jbyteArray name, jlong words, jint used) {
  (void)self;
  struct arguments arguments;
  if (!read_arguments(env, words, used, 1, &arguments)) return;
  char* const text = bytes_of(env, name);
  if (text) raised(env, argand_module_set(MODULE(module), text, arguments.values));
  free(text);
  free_arguments(&arguments);
}

JAVA(jlong, child)(JNIEnv* env, jobject self, jlong module, jbyteArray name) {
  (void)self;
  argand_module* out = NULL;
  char* const text = bytes_of(env, name);
  if (text) raised(env, argand_module_child(MODULE(module), text, &out));
  free(text);
  return ADDRESS(out);
}

JAVA(jlongArray, moduleNames)(JNIEnv* env, jobject self, jlong module, jint part) {
  (void)self;
  argand_value out = argand_value_none();
  return raised(env, argand_module_names(MODULE(module), part, &out)) ? NULL : give_value(env, &out);
}

/* Frees the text. */
static jbyteArray give_text(JNIEnv* env, argand_error* error, char* text) {
  const jbyteArray out = raised(env, error) ? NULL : new_bytes(env, text);
  argand_text_free(text);
  return out;
}

JAVA(jbyteArray, moduleType)(JNIEnv* env, jobject self, jlong module) {
  (void)self;
  char* name = NULL;
  argand_error* const error = argand_module_type_name(MODULE(module), &name);
  return give_text(env, error, name);
}

JAVA(jbyteArray, signature)(JNIEnv* env, jobject self, jlong module, jbyteArray method) {
  (void)self;
  char *const name = bytes_of(env, method), *text = NULL;
  argand_error* const error = name ? argand_module_signature(MODULE(module), name, &text) : NULL;
  free(name);
  return name ? give_text(env, error, text) : NULL;
}

JAVA(void, train)(JNIEnv* env, jobject self, jlong module, jboolean on) {
  (void)self;
  raised(env, argand_module_train(MODULE(module), on));
}

JAVA(jboolean, isTraining)(JNIEnv* env, jobject self, jlong module) {
  (void)self;
  bool out = false;
  raised(env, argand_module_is_training(MODULE(module), &out));
  return out;
}

JAVA(void, moveModule)(JNIEnv* env, jobject self, jlong module, jint dtype, jint type, jint index) {
  (void)self;
  raised(env, argand_module_to(MODULE(module), dtype, (argand_device){type, index}));
}

JAVA(jlong, moduleState)(JNIEnv* env, jobject self, jlong module, jint which) {
  (void)self;
  argand_state_dict* out = NULL;
  raised(env, which == 0   ? argand_module_parameters(MODULE(module), &out)
              : which == 1 ? argand_module_buffers(MODULE(module), &out)
                           : argand_module_state_dict(MODULE(module), &out));
  return ADDRESS(out);
}

JAVA(void, loadModuleState)(JNIEnv* env, jobject self, jlong module, jlong state, jboolean strict) {
  (void)self;
  raised(env, argand_module_load_state_dict(MODULE(module), POINTER(argand_state_dict, state), strict));
}
