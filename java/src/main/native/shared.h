/* What the native functions of org.argand.internal.Jni share.  They stand over the C interface.  An error becomes an
 * ArgandException.  No JNI function is called while one is pending. */
#ifndef ARGAND_JAVA_JNI_H
#define ARGAND_JAVA_JNI_H
#include <argand/c/argand_ops.h>
#include <jni.h>
#include <stdlib.h>
#include <string.h>

#define JAVA(result, name) JNIEXPORT result JNICALL Java_org_argand_internal_Jni_##name
#define TENSOR(x) ((argand_tensor*)(uintptr_t)(x))
#define POINTER(type, x) ((type*)(uintptr_t)(x))
#define ADDRESS(x) ((jlong)(uintptr_t)(x))

extern JavaVM* vm;

void throw_new(JNIEnv* env, const char* type, const char* text);
void throw_no_memory(JNIEnv* env);
/* Whether it is an error, which is then pending in Java. */
bool raised(JNIEnv* env, argand_error* error);
/* A copy of a text or of numbers, which the caller frees; NULL for null, or with an exception pending. */
char* bytes_of(JNIEnv* env, jbyteArray array);
int64_t* longs_of(JNIEnv* env, jlongArray array, jsize* length);
jlongArray new_longs(JNIEnv* env, const jlong* values, jsize count);
jbyteArray new_bytes(JNIEnv* env, const char* text);
#define FEW 96 /* words and values of most calls */
/* The arguments of a call, which Arguments.java wrote as words. */
struct arguments {
  argand_value* values;
  void* more; /* NULL: there was room enough here */
  argand_value few_values[FEW];
  argand_options few_options[FEW / 6];
};
/* False with an exception pending; then there is nothing to free. */
bool read_arguments(JNIEnv* env, jlong words, jint used, jint count, struct arguments* out);
void free_arguments(struct arguments* arguments);
/* The words that Values.java reads; NULL with an exception pending.  Frees the value, whose tensors Java has now. */
jlongArray give_value(JNIEnv* env, argand_value* value);
/* Of the elements of a tensor. */
jlong bytes_in(argand_tensor* tensor);
/* Handle and bytes of a tensor; null for none. */
jlongArray new_tensor(JNIEnv* env, argand_tensor* tensor);

#endif
