/* Tensors and their gradients. */
#include "shared.h"

JAVA(void, free)(JNIEnv* env, jobject self, jlong tensor) {
  (void)env, (void)self;
  argand_tensor_free(TENSOR(tensor));
}

JAVA(jlong, shown)(JNIEnv* env, jobject self, jlong tensor) {
  (void)self;
  struct DLManagedTensor* managed = NULL;
  argand_tensor* out = NULL;
  if (!raised(env, argand_tensor_to_dlpack(TENSOR(tensor), &managed))) /* which the new tensor takes over */
    raised(env, argand_tensor_from_dlpack(managed, &out));
  return ADDRESS(out);
}

static jlongArray dims(JNIEnv* env, argand_tensor* tensor, const jlong* before, size_t extra,
                       argand_error* (*get)(argand_tensor*, int64_t*, size_t)) {
  size_t dim = 0;
  if (raised(env, argand_tensor_dim(tensor, &dim))) return NULL;
  jlong* const all = malloc((dim + extra + 1) * sizeof(jlong));
  if (!all) {
    throw_no_memory(env);
    return NULL;
  }
  if (extra) memcpy(all, before, extra * sizeof(jlong));
  jlongArray out = NULL;
  if (!raised(env, get(tensor, (int64_t*)all + extra, dim))) out = new_longs(env, all, (jsize)(dim + extra));
  free(all);
  return out;
}

JAVA(jlongArray, describe)(JNIEnv* env, jobject self, jlong tensor) {
  (void)self;
  argand_dtype dtype = 0;
  argand_device device = {0, 0};
  if (raised(env, argand_tensor_dtype(TENSOR(tensor), &dtype))) return NULL;
  if (raised(env, argand_tensor_device(TENSOR(tensor), &device))) return NULL;
  const jlong facts[] = {dtype, device.type, device.index};
  return dims(env, TENSOR(tensor), facts, 3, argand_tensor_sizes);
}

JAVA(jlongArray, strides)(JNIEnv* env, jobject self, jlong tensor) {
  (void)self;
  return dims(env, TENSOR(tensor), NULL, 0, argand_tensor_strides);
}

JAVA(jboolean, flag)(JNIEnv* env, jobject self, jlong tensor, jint which) {
  (void)self;
  bool out = false;
  if (which == 0)
    raised(env, argand_tensor_requires_grad(TENSOR(tensor), &out));
  else if (which == 1)
    raised(env, argand_tensor_is_leaf(TENSOR(tensor), &out));
  else
    raised(env, argand_tensor_is_contiguous(TENSOR(tensor), which - 2, &out));
  return out;
}

JAVA(jdouble, itemDouble)(JNIEnv* env, jobject self, jlong tensor) {
  (void)self;
  double out = 0;
  raised(env, argand_tensor_item_double(TENSOR(tensor), &out));
  return out;
}

JAVA(jlong, itemLong)(JNIEnv* env, jobject self, jlong tensor) {
  (void)self;
  int64_t out = 0;
  raised(env, argand_tensor_item_int(TENSOR(tensor), &out));
  return out;
}

JAVA(jbyteArray, text)(JNIEnv* env, jobject self, jlong tensor) {
  (void)self;
  char* text = NULL;
  if (raised(env, argand_tensor_text(TENSOR(tensor), &text))) return NULL;
  const jbyteArray out = new_bytes(env, text);
  argand_text_free(text);
  return out;
}

/* Copies elements of a primitive array whose type has the size of the dtype. */
static void get_region(JNIEnv* env, jobject array, argand_dtype dtype, jsize length, void* to) {
  switch (dtype) {
    case ARGAND_BOOL:
      (*env)->GetBooleanArrayRegion(env, array, 0, length, to);
      break;
    case ARGAND_INT16:
      (*env)->GetShortArrayRegion(env, array, 0, length, to);
      break;
    case ARGAND_INT32:
      (*env)->GetIntArrayRegion(env, array, 0, length, to);
      break;
    case ARGAND_INT64:
      (*env)->GetLongArrayRegion(env, array, 0, length, to);
      break;
    case ARGAND_FLOAT32:
      (*env)->GetFloatArrayRegion(env, array, 0, length, to);
      break;
    case ARGAND_FLOAT64:
      (*env)->GetDoubleArrayRegion(env, array, 0, length, to);
      break;
    default:
      (*env)->GetByteArrayRegion(env, array, 0, length, to);
  }
}
static void set_region(JNIEnv* env, jobject array, argand_dtype dtype, jsize length, const void* from) {
  switch (dtype) {
    case ARGAND_BOOL:
      (*env)->SetBooleanArrayRegion(env, array, 0, length, from);
      break;
    case ARGAND_INT16:
      (*env)->SetShortArrayRegion(env, array, 0, length, from);
      break;
    case ARGAND_INT32:
      (*env)->SetIntArrayRegion(env, array, 0, length, from);
      break;
    case ARGAND_INT64:
      (*env)->SetLongArrayRegion(env, array, 0, length, from);
      break;
    case ARGAND_FLOAT32:
      (*env)->SetFloatArrayRegion(env, array, 0, length, from);
      break;
    case ARGAND_FLOAT64:
      (*env)->SetDoubleArrayRegion(env, array, 0, length, from);
      break;
    default:
      (*env)->SetByteArrayRegion(env, array, 0, length, from);
  }
}

JAVA(jlongArray, fromArray)(JNIEnv* env, jobject self, jobject array, jlongArray sizes, jint dtype) {
  (void)self;
  jsize dim = 0;
  argand_tensor* made = NULL;
  void* data = NULL;
  int64_t* const shape = longs_of(env, sizes, &dim);
  if (!shape) return NULL;
  argand_options options = ARGAND_DEFAULT_OPTIONS;
  options.dtype = dtype;
  const bool failed = raised(env, argand_op_empty(shape, dim, &options, ARGAND_MEMORY_FORMAT_NONE, &made)) ||
                      raised(env, argand_tensor_data(made, &data));
  free(shape);
  if (!failed) get_region(env, array, dtype, (*env)->GetArrayLength(env, array), data);
  if (failed || (*env)->ExceptionCheck(env)) {
    argand_tensor_free(made);
    return NULL;
  }
  return new_tensor(env, made);
}

JAVA(void, toArray)(JNIEnv* env, jobject self, jlong tensor, jobject array, jint length) {
  (void)self;
  argand_dtype dtype = 0;
  size_t bytes = 0;
  if (raised(env, argand_tensor_dtype(TENSOR(tensor), &dtype))) return;
  if (raised(env, argand_tensor_nbytes(TENSOR(tensor), &bytes))) return;
  if (bytes != (size_t)length * argand_dtype_size(dtype)) { /* another thread has changed the tensor meanwhile */
    throw_new(env, "java/lang/IllegalStateException", "the tensor has another size now");
    return;
  }
  void* const copy = malloc(bytes + 1);
  if (!copy) {
    throw_no_memory(env);
    return;
  }
  if (!raised(env, argand_tensor_copy_to(TENSOR(tensor), copy, bytes))) set_region(env, array, dtype, length, copy);
  free(copy);
}

/* A tensor over a direct buffer holds a reference to it; the thread that drops the tensor may be none of Java's. */
static void release_buffer(void* context, void* data) {
  (void)data;
  JNIEnv* env = NULL;
  if ((*vm)->GetEnv(vm, (void**)&env, JNI_VERSION_10) == JNI_EDETACHED &&
      (*vm)->AttachCurrentThreadAsDaemon(vm, (void**)&env, NULL) != JNI_OK)
    return;
  if (env) (*env)->DeleteGlobalRef(env, context);
}

JAVA(jlongArray, fromBuffer)
(JNIEnv* env, jobject self, jobject buffer, jlong offset, jlong capacity, jlongArray sizes, jint dtype) {
  (void)self, (void)capacity;
  char* const address = (*env)->GetDirectBufferAddress(env, buffer);
  const argand_device cpu = {ARGAND_CPU, -1};
  jsize dim = 0;
  argand_tensor* made = NULL;
  if (!address) {
    throw_new(env, "java/lang/IllegalArgumentException", "the buffer has no memory of its own");
    return NULL;
  }
  int64_t* const shape = longs_of(env, sizes, &dim);
  if (!shape) return NULL;
  const jobject kept = (*env)->NewGlobalRef(env, buffer);
  if (!kept) {
    throw_no_memory(env);
  } else if (raised(env, argand_tensor_from_memory(address + offset, shape, NULL, (size_t)dim, dtype, cpu,
                                                   release_buffer, kept, &made))) {
    (*env)->DeleteGlobalRef(env, kept);
  }
  free(shape);
  return new_tensor(env, made);
}

JAVA(jobject, buffer)(JNIEnv* env, jobject self, jlong tensor) {
  (void)self;
  argand_device device = {0, 0};
  bool contiguous = false;
  size_t bytes = 0;
  void* data = NULL;
  static char nothing;
  if (raised(env, argand_tensor_device(TENSOR(tensor), &device)) ||
      raised(env, argand_tensor_is_contiguous(TENSOR(tensor), ARGAND_CONTIGUOUS, &contiguous)) ||
      raised(env, argand_tensor_nbytes(TENSOR(tensor), &bytes)))
    return NULL;
  if (device.type != ARGAND_CPU || !contiguous || bytes > INT32_MAX) {
    throw_new(env, "java/lang/IllegalStateException",
              "asBuffer: expected a contiguous tensor of the CPU of less than 2 GB");
    return NULL;
  }
  if (raised(env, argand_tensor_data(TENSOR(tensor), &data))) return NULL;
  return (*env)->NewDirectByteBuffer(env, data ? data : &nothing, (jlong)bytes);
}

JAVA(void, setData)(JNIEnv* env, jobject self, jlong tensor, jlong source) {
  (void)self;
  raised(env, argand_tensor_set_data(TENSOR(tensor), TENSOR(source)));
}

/* ---- gradients */

JAVA(void, backward)
(JNIEnv* env, jobject self, jlong tensor, jlong gradient, jboolean retain, jboolean create) {
  (void)self;
  raised(env, argand_tensor_backward(TENSOR(tensor), TENSOR(gradient), retain, create));
}

JAVA(jlongArray, grad)(JNIEnv* env, jobject self, jlong tensor) {
  (void)self;
  argand_tensor* out = NULL;
  return raised(env, argand_tensor_grad(TENSOR(tensor), &out)) ? NULL : new_tensor(env, out);
}

JAVA(void, setGrad)(JNIEnv* env, jobject self, jlong tensor, jlong gradient) {
  (void)self;
  raised(env, argand_tensor_set_grad(TENSOR(tensor), TENSOR(gradient)));
}

JAVA(void, setRequiresGrad)(JNIEnv* env, jobject self, jlong tensor, jboolean on) {
  (void)self;
  raised(env, argand_tensor_set_requires_grad(TENSOR(tensor), on));
}

JAVA(jlongArray, gradients)
(JNIEnv* env, jobject self, jlongArray outputs, jlongArray grad_outputs, jlongArray inputs, jboolean retain,
 jboolean create, jboolean allow_unused) {
  (void)self;
  jsize from = 0, given = 0, to = 0;
  int64_t* const roots = longs_of(env, outputs, &from);
  int64_t* const starts = roots ? longs_of(env, grad_outputs, &given) : NULL;
  int64_t* const leaves = starts ? longs_of(env, inputs, &to) : NULL;
  jlong* const pairs = leaves ? malloc((2 * (size_t)to + 1) * sizeof(jlong)) : NULL;
  argand_tensor** const grads = pairs ? malloc(((size_t)to + 1) * sizeof(argand_tensor*)) : NULL;
  jlongArray out = NULL;
  if (leaves && !grads) throw_no_memory(env);
  if (grads &&
      !raised(env, argand_grad((argand_tensor* const*)roots, given ? (argand_tensor* const*)starts : NULL, (size_t)from,
                               (argand_tensor* const*)leaves, (size_t)to, retain, create, allow_unused, grads))) {
    for (jsize i = 0; i < to; ++i) {
      pairs[2 * i] = ADDRESS(grads[i]);
      pairs[2 * i + 1] = bytes_in(grads[i]);
    }
    out = new_longs(env, pairs, 2 * to);
    for (jsize i = 0; !out && i < to; ++i) argand_tensor_free(grads[i]);
  }
  free(roots);
  free(starts);
  free(leaves);
  free(pairs);
  free(grads);
  return out;
}

JAVA(jboolean, gradEnabled)(JNIEnv* env, jobject self) {
  (void)env, (void)self;
  return argand_get_grad_enabled();
}

JAVA(void, setGradEnabled)(JNIEnv* env, jobject self, jboolean on) {
  (void)env, (void)self;
  argand_set_grad_enabled(on);
}
