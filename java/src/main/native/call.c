/* Calls of operators. */
#include "shared.h"

#define FEW 96 /* words and values of most calls */

/* Reads the words that Arguments.java writes. `options` and `numbers` have room for all. */
static void read_values(const int64_t* word, int count, argand_value* values, argand_options* options,
                        argand_value* numbers) {
  for (int i = 0; i < count; ++i) {
    const argand_kind kind = (argand_kind)(*word & 255);
    const int64_t length = *word++ >> 8;
    argand_value v = argand_value_of_kind(kind, length);
    switch (kind) {
      case ARGAND_KIND_BOOL:
        v.as.boolean = *word++ != 0;
        break;
      case ARGAND_KIND_INT:
        v.as.integer = *word++;
        break;
      case ARGAND_KIND_DOUBLE:
        memcpy(&v.as.number, word++, 8);
        break;
      case ARGAND_KIND_COMPLEX:
        memcpy(v.as.complex_number, word, 16);
        word += 2;
        break;
      case ARGAND_KIND_STRING:
        v.as.text = (const char*)word;
        word += length / 8 + 1;
        break;
      case ARGAND_KIND_DTYPE:
        v.as.dtype = (argand_dtype)*word++;
        break;
      case ARGAND_KIND_DEVICE:
        v.as.device.type = (int32_t)*word;
        v.as.device.index = (int32_t)(*word++ >> 32);
        break;
      case ARGAND_KIND_MEMORY_FORMAT:
        v.as.memory_format = (argand_memory_format)*word++;
        break;
      case ARGAND_KIND_OPTIONS:
        options->dtype = (argand_dtype)word[0];
        options->device.type = (argand_device_type)word[1];
        options->device.index = (int32_t)word[2];
        options->requires_grad = word[3] != 0;
        options->pin_memory = word[4] != 0;
        v.as.options = options++;
        word += 5;
        break;
      case ARGAND_KIND_GENERATOR:
        v.as.generator = POINTER(argand_generator, *word++);
        break;
      case ARGAND_KIND_TENSOR:
        v.as.tensor = TENSOR(*word++);
        break;
      case ARGAND_KIND_INTS:
        v.as.integers = word;
        word += length;
        break;
      case ARGAND_KIND_DOUBLES:
        v.as.doubles = (const double*)word;
        word += length;
        break;
      case ARGAND_KIND_BOOLS:
        v.as.booleans = (const bool*)word;
        word += length / 8 + 1;
        break;
      case ARGAND_KIND_NUMBERS:
        v.as.numbers = numbers;
        for (int64_t n = 0; n < length; ++n, word += 3) {
          argand_value* const number = numbers++;
          *number = argand_value_of_kind((argand_kind)word[0], 0);
          memcpy(&number->as, word + 1, 16);
        }
        break;
      case ARGAND_KIND_TENSORS:
        v.as.tensors = (argand_tensor* const*)word;
        word += length;
        break;
      default:
        break;
    }
    values[i] = v;
  }
}

#define RESULTS 8

/* Three words for each result, and their number in the last word.  Gives tensors to Java; returns the lists. */
static jlongArray give_results(JNIEnv* env, argand_value* made, size_t count, jlongArray results) {
  jlong words[3 * RESULTS] = {0};
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
  (*env)->SetLongArrayRegion(env, results, 0, 3 * RESULTS, words);
  const jlongArray out = listed ? new_longs(env, lists, listed) : NULL;
  free(lists);
  return out;
}

JAVA(jlongArray, call)
(JNIEnv* env, jobject self, jlong function, jbyteArray name, jlongArray words, jint used, jint count,
 jlongArray results) {
  (void)self;
  int64_t few_words[FEW];
  argand_value few_values[FEW];
  argand_options few_options[FEW / 6];
  const bool many = used > FEW;
  /* A value has a word at least, an element of a list of numbers three, options six. */
  char* const more =
      many ? malloc((size_t)used * (sizeof(int64_t) + 2 * sizeof(argand_value) + sizeof(argand_options))) : NULL;
  if (many && !more) {
    throw_no_memory(env);
    return NULL;
  }
  int64_t* const word = many ? (int64_t*)more : few_words;
  argand_value* const values = many ? (argand_value*)(more + (size_t)used * sizeof(int64_t)) : few_values;
  argand_value* const numbers = values + (many ? used : count);
  argand_options* options = few_options;
  if (many) options = (argand_options*)(void*)(values + 2 * (size_t)used);
  char* const text = bytes_of(env, name);
  argand_value made[RESULTS];
  size_t number = 0;
  jlongArray lists = NULL;
  (*env)->GetLongArrayRegion(env, words, 0, used, (jlong*)word);
  if (!(*env)->ExceptionCheck(env)) {
    read_values(word, count, values, options, numbers);
    const size_t capacity = results ? RESULTS - 1 : 0;
    argand_error* const error = function ? argand_function_call(POINTER(const argand_function, function), values,
                                                                (size_t)count, made, capacity, &number)
                                         : argand_call(text, values, (size_t)count, NULL, 0, made, capacity, &number);
    if (!raised(env, error) && results) lists = give_results(env, made, number < capacity ? number : capacity, results);
  }
  free(text);
  free(more);
  return lists;
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
