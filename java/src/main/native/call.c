/* Calls of operators. */
#include "shared.h"

#define RESULTS 8

/* Three words for each result, and their number in the last word.  Gives tensors to Java; returns the lists. */
static jlongArray give_results(JNIEnv* env, argand_value* made, size_t count, jlong* words) {
  jsize listed = 0;
  for (size_t i = 0; i < count; ++i)
    if (made[i].kind == ARGAND_KIND_TENSORS) listed += (jsize)(2 * made[i].length);
  jlong* const lists = listed ? malloc((size_t)listed * sizeof(jlong)) : NULL;
  jsize at = 0;
  if (listed && !lists) {
    argand_values_free(made, count);
    throw_no_memory(env);
    return NULL;
  }
  for (size_t i = 0; i < count; ++i) {
    jlong* const word = words + 3 * i;
    word[0] = made[i].kind;
    switch (made[i].kind) {
      case ARGAND_KIND_TENSOR:
        word[1] = ADDRESS(made[i].as.tensor);
        word[2] = bytes_in(made[i].as.tensor);
        break;
      case ARGAND_KIND_TENSORS:
        word[1] = at;
        word[2] = made[i].length;
        for (int64_t n = 0; n < made[i].length; ++n) {
          argand_tensor* handle = NULL;
          if (made[i].as.tensors[n]) argand_error_free(argand_tensor_share(made[i].as.tensors[n], &handle));
          lists[at++] = ADDRESS(handle);
          lists[at++] = bytes_in(handle);
        }
        argand_values_free(&made[i], 1);
        break;
      case ARGAND_KIND_BOOL:
        word[1] = made[i].as.boolean;
        break;
      case ARGAND_KIND_INT:
        word[1] = made[i].as.integer;
        break;
      case ARGAND_KIND_DOUBLE:
        memcpy(word + 1, &made[i].as.number, 8);
        break;
      case ARGAND_KIND_COMPLEX:
        memcpy(word + 1, made[i].as.complex_number, 16);
        break;
      default:
        argand_values_free(&made[i], 1);
    }
  }
  words[3 * RESULTS - 1] = (jlong)count;
  const jlongArray out = listed ? new_longs(env, lists, listed) : NULL;
  free(lists);
  return out;
}

JAVA(jlongArray, call)
(JNIEnv* env, jobject self, jlong function, jbyteArray name, jlong words, jint used, jint count, jlong results) {
  (void)self;
  struct arguments arguments;
  if (!read_arguments(env, words, used, count, &arguments)) return NULL;
  char* const text = name ? bytes_of(env, name) : NULL;
  argand_value made[RESULTS];
  size_t number = 0;
  jlongArray lists = NULL;
  if (text || function) {
    const size_t capacity = results ? RESULTS - 1 : 0;
    argand_error* const error =
        function ? argand_function_call(POINTER(const argand_function, function), arguments.values, (size_t)count, made,
                                        capacity, &number)
                 : argand_call(text, arguments.values, (size_t)count, NULL, 0, made, capacity, &number);
    if (!raised(env, error) && results)
      lists = give_results(env, made, number < capacity ? number : capacity, POINTER(jlong, results));
  }
  free(text);
  free_arguments(&arguments);
  return lists;
}

JAVA(jlong, address)(JNIEnv* env, jobject self, jobject buffer) {
  (void)self;
  return ADDRESS((*env)->GetDirectBufferAddress(env, buffer));
}

JAVA(jlong, find)(JNIEnv* env, jobject self, jbyteArray name) {
  (void)self;
  char* const text = bytes_of(env, name);
  const argand_function* found = NULL;
  raised(env, argand_function_find(text, &found));
  free(text);
  return ADDRESS(found);
}

JAVA(jbyteArray, version)(JNIEnv* env, jobject self) {
  (void)self;
  return new_bytes(env, argand_version());
}
