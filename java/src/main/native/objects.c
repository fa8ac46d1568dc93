/* Random numbers, threads, devices, state dicts and optimizers. */
#include "shared.h"

/* ---- random numbers, threads, devices */

JAVA(void, manualSeed)(JNIEnv* env, jobject self, jlong seed) {
  (void)self;
  raised(env, argand_manual_seed((uint64_t)seed));
}

JAVA(jlong, newGenerator)(JNIEnv* env, jobject self, jint type, jint index, jlong seed) {
  (void)self;
  argand_generator* out = NULL;
  raised(env, argand_generator_new((argand_device){type, index}, (uint64_t)seed, &out));
  return ADDRESS(out);
}

JAVA(void, freeGenerator)(JNIEnv* env, jobject self, jlong generator) {
  (void)env, (void)self;
  argand_generator_free(POINTER(argand_generator, generator));
}

JAVA(jint, numThreads)(JNIEnv* env, jobject self) {
  (void)env, (void)self;
  return argand_get_num_threads();
}

JAVA(void, setNumThreads)(JNIEnv* env, jobject self, jint count) {
  (void)self;
  raised(env, argand_set_num_threads(count));
}

JAVA(jint, deviceCount)(JNIEnv* env, jobject self, jint type) {
  (void)self;
  int32_t out = 0;
  raised(env, argand_device_count(type, &out));
  return out;
}

JAVA(void, synchronize)(JNIEnv* env, jobject self, jint type, jint index) {
  (void)self;
  raised(env, argand_synchronize((argand_device){type, index}));
}

/* ---- state dicts */

#define STATE(x) POINTER(argand_state_dict, x)

JAVA(jlong, newState)(JNIEnv* env, jobject self) {
  (void)self;
  argand_state_dict* out = NULL;
  raised(env, argand_state_dict_new(&out));
  return ADDRESS(out);
}

JAVA(jlong, loadState)(JNIEnv* env, jobject self, jbyteArray path, jint type, jint index) {
  (void)self;
  argand_state_dict* out = NULL;
  char* const text = bytes_of(env, path);
  if (text) raised(env, argand_state_dict_load(text, (argand_device){type, index}, &out));
  free(text);
  return ADDRESS(out);
}

JAVA(void, saveState)(JNIEnv* env, jobject self, jlong state, jbyteArray path) {
  (void)self;
  char* const text = bytes_of(env, path);
  if (text) raised(env, argand_state_dict_save(STATE(state), text));
  free(text);
}

JAVA(void, freeState)(JNIEnv* env, jobject self, jlong state) {
  (void)env, (void)self;
  argand_state_dict_free(STATE(state));
}

JAVA(jint, stateSize)(JNIEnv* env, jobject self, jlong state) {
  (void)self;
  size_t out = 0;
  raised(env, argand_state_dict_size(STATE(state), &out));
  return (jint)out;
}

JAVA(jbyteArray, stateName)(JNIEnv* env, jobject self, jlong state, jint index) {
  (void)self;
  const char* name = NULL;
  return raised(env, argand_state_dict_at(STATE(state), (size_t)index, &name, NULL)) ? NULL : new_bytes(env, name);
}

JAVA(jlongArray, stateTensor)(JNIEnv* env, jobject self, jlong state, jint index) {
  (void)self;
  argand_tensor* out = NULL;
  return raised(env, argand_state_dict_at(STATE(state), (size_t)index, NULL, &out)) ? NULL : new_tensor(env, out);
}

JAVA(void, setStateTensor)(JNIEnv* env, jobject self, jlong state, jbyteArray name, jlong tensor) {
  (void)self;
  char* const text = bytes_of(env, name);
  if (text) raised(env, argand_state_dict_set(STATE(state), text, TENSOR(tensor)));
  free(text);
}

JAVA(jbyteArray, stateText)(JNIEnv* env, jobject self, jlong state, jbyteArray key) {
  (void)self;
  const char* found = NULL;
  char* const text = bytes_of(env, key);
  const bool failed = !text || raised(env, argand_state_dict_get_text(STATE(state), text, &found));
  free(text);
  return failed || !found ? NULL : new_bytes(env, found);
}

JAVA(void, setStateText)(JNIEnv* env, jobject self, jlong state, jbyteArray key, jbyteArray value) {
  (void)self;
  char *const name = bytes_of(env, key), *const text = name ? bytes_of(env, value) : NULL;
  if (text) raised(env, argand_state_dict_set_text(STATE(state), name, text));
  free(name);
  free(text);
}

/* ---- optimizers */

#define OPTIMIZER(x) POINTER(argand_optimizer, x)

JAVA(jlong, newOptimizer)
(JNIEnv* env, jobject self, jbyteArray name, jlongArray parameters, jobjectArray options, jdoubleArray values) {
  (void)self;
  const jsize count = (*env)->GetArrayLength(env, values);
  jsize given = 0;
  char* const text = bytes_of(env, name);
  int64_t* const all = text ? longs_of(env, parameters, &given) : NULL;
  argand_number* const numbers = all ? calloc((size_t)count + 1, sizeof(argand_number)) : NULL;
  argand_optimizer* out = NULL;
  if (all && !numbers) throw_no_memory(env);
  bool well = numbers != NULL;
  for (jsize i = 0; well && i < count; ++i) {
    (*env)->GetDoubleArrayRegion(env, values, i, 1, &numbers[i].value);
    const jbyteArray key = (*env)->GetObjectArrayElement(env, options, i);
    numbers[i].name = key ? bytes_of(env, key) : NULL;
    (*env)->DeleteLocalRef(env, key);
    well = numbers[i].name != NULL;
  }
  if (well)
    raised(env, argand_optimizer_new(text, (argand_tensor* const*)all, (size_t)given, numbers, (size_t)count, &out));
  for (jsize i = 0; numbers && i < count; ++i) free((char*)numbers[i].name);
  free(numbers);
  free(all);
  free(text);
  return ADDRESS(out);
}

JAVA(void, freeOptimizer)(JNIEnv* env, jobject self, jlong optimizer) {
  (void)env, (void)self;
  argand_optimizer_free(OPTIMIZER(optimizer));
}

JAVA(void, zeroGrad)(JNIEnv* env, jobject self, jlong optimizer, jboolean set_to_none) {
  (void)self;
  raised(env, argand_optimizer_zero_grad(OPTIMIZER(optimizer), set_to_none));
}

JAVA(void, step)(JNIEnv* env, jobject self, jlong optimizer) {
  (void)self;
  raised(env, argand_optimizer_step(OPTIMIZER(optimizer)));
}

JAVA(jdouble, option)(JNIEnv* env, jobject self, jlong optimizer, jint group, jbyteArray name) {
  (void)self;
  double out = 0;
  char* const text = bytes_of(env, name);
  if (text) raised(env, argand_optimizer_get(OPTIMIZER(optimizer), (size_t)group, text, &out));
  free(text);
  return out;
}

JAVA(void, setOption)(JNIEnv* env, jobject self, jlong optimizer, jint group, jbyteArray name, jdouble value) {
  (void)self;
  char* const text = bytes_of(env, name);
  if (text) raised(env, argand_optimizer_set(OPTIMIZER(optimizer), (size_t)group, text, value));
  free(text);
}

JAVA(jlong, optimizerState)(JNIEnv* env, jobject self, jlong optimizer) {
  (void)self;
  argand_state_dict* out = NULL;
  raised(env, argand_optimizer_state_dict(OPTIMIZER(optimizer), &out));
  return ADDRESS(out);
}

JAVA(void, loadOptimizerState)(JNIEnv* env, jobject self, jlong optimizer, jlong state) {
  (void)self;
  raised(env, argand_optimizer_load_state_dict(OPTIMIZER(optimizer), STATE(state)));
}
