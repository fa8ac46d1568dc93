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
/* Of the elements of a tensor. */
jlong bytes_in(argand_tensor* tensor);
/* Handle and bytes of a tensor; null for none. */
jlongArray new_tensor(JNIEnv* env, argand_tensor* tensor);

#endif
