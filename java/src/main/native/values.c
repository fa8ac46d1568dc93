/* Values as words: those that Arguments.java writes, and those that Values.java reads. */
#include "shared.h"

/* ---- from Java */

/* Where the next word is read, and where what values point to is written. */
struct reader {
  const int64_t* word;
  argand_value* room;
  argand_options* options;
};

static void read_values(struct reader* from, int64_t count, argand_value* values);
static argand_value* read_list(struct reader* from, int64_t length) {
  argand_value* const list = from->room;
  from->room += length;
  read_values(from, length, list);
  return list;
}

static void read_values(struct reader* from, int64_t count, argand_value* values) {
  for (int64_t i = 0; i < count; ++i) {
    const int64_t* word = from->word;
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
        v.as.options = from->options;
        from->options->dtype = (argand_dtype)word[0];
        from->options->device.type = (argand_device_type)word[1];
        from->options->device.index = (int32_t)word[2];
        from->options->requires_grad = word[3] != 0;
        from->options++->pin_memory = word[4] != 0;
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
        v.as.numbers = from->room;
        for (int64_t n = 0; n < length; ++n, word += 3) {
          argand_value* const number = from->room++;
          *number = argand_value_of_kind((argand_kind)word[0], 0);
          memcpy(&number->as, word + 1, 16);
        }
        break;
      case ARGAND_KIND_TENSORS:
        v.as.tensors = (argand_tensor* const*)word;
        word += length;
        break;
      case ARGAND_KIND_LIST:
      case ARGAND_KIND_TUPLE:
        from->word = word;
        v.as.values = read_list(from, length);
        word = from->word;
        break;
      case ARGAND_KIND_DICT:
        from->word = word;
        v.as.entries = (const argand_entry*)read_list(from, 2 * length);
        word = from->word;
        break;
      default:
        break;
    }
    from->word = word;
    values[i] = v;
  }
}

bool read_arguments(JNIEnv* env, jlong words, jint used, jint count, struct arguments* out) {
  /* A value has a word at least, whether it is an argument or in a list; options have six. */
  struct reader from = {POINTER(const int64_t, words), out->few_values, out->few_options};
  out->more = NULL;
  if (used > FEW) {
    const size_t n = (size_t)used;
    out->more = malloc(n * (sizeof(argand_value) + sizeof(argand_options)));
    if (!out->more) {
      throw_no_memory(env);
      return false;
    }
    from.room = out->more;
    from.options = (argand_options*)(from.room + n);
  }
  out->values = read_list(&from, count);
  return true;
}

void free_arguments(struct arguments* arguments) { free(arguments->more); }

/* ---- to Java */

static int64_t words_in(const argand_value* values, int64_t count) {
  int64_t n = count;
  for (const argand_value* v = values; v != values + count; ++v) switch (v->kind) {
      case ARGAND_KIND_BOOL:
      case ARGAND_KIND_INT:
      case ARGAND_KIND_DOUBLE:
      case ARGAND_KIND_DEVICE:
        n += 1;
        break;
      case ARGAND_KIND_COMPLEX:
      case ARGAND_KIND_TENSOR:
        n += 2;
        break;
      case ARGAND_KIND_STRING:
      case ARGAND_KIND_BOOLS:
        n += v->length / 8 + 1;
        break;
      case ARGAND_KIND_INTS:
      case ARGAND_KIND_DOUBLES:
        n += v->length;
        break;
      case ARGAND_KIND_TENSORS:
        n += 2 * v->length;
        break;
      case ARGAND_KIND_LIST:
      case ARGAND_KIND_TUPLE:
        n += words_in(v->as.values, v->length);
        break;
      case ARGAND_KIND_DICT:
        n += words_in(&v->as.entries[0].key, 2 * v->length);
        break;
      default:
        break;
    }
  return n;
}

static jlong* write_tensor(jlong* word, argand_tensor* tensor) {
  word[0] = ADDRESS(tensor);
  word[1] = bytes_in(tensor);
  return word + 2;
}

/* Takes the tensors out of the values. */
static jlong* write_values(jlong* word, argand_value* values, int64_t count) {
  for (argand_value* v = values; v != values + count; ++v) {
    *word++ = v->kind | v->length << 8;
    switch (v->kind) {
      case ARGAND_KIND_BOOL:
        *word++ = v->as.boolean;
        break;
      case ARGAND_KIND_INT:
        *word++ = v->as.integer;
        break;
      case ARGAND_KIND_DOUBLE:
        memcpy(word++, &v->as.number, 8);
        break;
      case ARGAND_KIND_DEVICE:
        *word++ = (jlong)(uint32_t)v->as.device.type | (jlong)v->as.device.index * (INT64_C(1) << 32);
        break;
      case ARGAND_KIND_COMPLEX:
        memcpy(word, v->as.complex_number, 16);
        word += 2;
        break;
      case ARGAND_KIND_TENSOR:
        word = write_tensor(word, v->as.tensor);
        v->as.tensor = NULL;
        break;
      case ARGAND_KIND_STRING:
      case ARGAND_KIND_BOOLS:
        memcpy(word, v->as.text, (size_t)v->length);
        word += v->length / 8 + 1;
        break;
      case ARGAND_KIND_INTS:
      case ARGAND_KIND_DOUBLES:
        memcpy(word, v->as.integers, 8 * (size_t)v->length);
        word += v->length;
        break;
      case ARGAND_KIND_TENSORS:
        for (int64_t i = 0; i < v->length; ++i) {
          word = write_tensor(word, v->as.tensors[i]);
          ((argand_tensor**)v->as.tensors)[i] = NULL;
        }
        break;
      case ARGAND_KIND_LIST:
      case ARGAND_KIND_TUPLE:
        word = write_values(word, (argand_value*)v->as.values, v->length);
        break;
      case ARGAND_KIND_DICT:
        word = write_values(word, (argand_value*)&v->as.entries[0].key, 2 * v->length);
        break;
      default:
        break;
    }
  }
  return word;
}

static bool has_generator(const argand_value* values, int64_t count) {
  for (const argand_value* v = values; v != values + count; ++v) {
    if (v->kind == ARGAND_KIND_GENERATOR) return true;
    if ((v->kind == ARGAND_KIND_LIST || v->kind == ARGAND_KIND_TUPLE) && has_generator(v->as.values, v->length))
      return true;
    if (v->kind == ARGAND_KIND_DICT && has_generator(&v->as.entries[0].key, 2 * v->length)) return true;
  }
  return false;
}

jlongArray give_value(JNIEnv* env, argand_value* value) {
  jlongArray out = NULL;
  const int64_t count = words_in(value, 1);
  if (has_generator(value, 1)) {
    throw_new(env, "java/lang/UnsupportedOperationException", "a value is a generator, which Java cannot take over");
  } else if (count > INT32_MAX - 8 || !(out = (*env)->NewLongArray(env, (jsize)count))) {
    if (!(*env)->ExceptionCheck(env)) throw_no_memory(env);
  } else {
    jlong* const words = calloc((size_t)count, sizeof(jlong));
    if (words) {
      write_values(words, value, 1);
      (*env)->SetLongArrayRegion(env, out, 0, (jsize)count, words);
    } else {
      throw_no_memory(env);
    }
    free(words);
  }
  argand_values_free(value, 1);
  return out;
}
