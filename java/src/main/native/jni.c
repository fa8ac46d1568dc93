#include "shared.h"

JavaVM* vm;
static jclass exception_class;
static jmethodID exception_init;

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM* machine, void* reserved) {
  (void)reserved;
  vm = machine;
  JNIEnv* env = NULL;
  if ((*machine)->GetEnv(machine, (void**)&env, JNI_VERSION_10) != JNI_OK) return JNI_ERR;
  const jclass found = (*env)->FindClass(env, "org/argand/ArgandException");
  if (!found) return JNI_ERR;
  exception_class = (*env)->NewGlobalRef(env, found);
  exception_init = (*env)->GetMethodID(env, found, "<init>", "(ILjava/lang/String;)V");
  return exception_class && exception_init ? JNI_VERSION_10 : JNI_ERR;
}

void throw_new(JNIEnv* env, const char* type, const char* text) {
  const jclass found = (*env)->FindClass(env, type);
  if (found) (*env)->ThrowNew(env, found, text);
}
void throw_no_memory(JNIEnv* env) { throw_new(env, "java/lang/OutOfMemoryError", "no memory of the host is left"); }

bool raised(JNIEnv* env, argand_error* error) {
  if (!error) return false;
  /* Any bytes may be in a text; NewStringUTF wants the encoding of class files, which is UTF-8 for what is no error. */
  const char* const from = argand_error_get_message(error);
  const size_t length = strlen(from);
  jstring text = NULL;
  const jbyteArray bytes = (*env)->NewByteArray(env, (jsize)length);
  if (bytes) {
    (*env)->SetByteArrayRegion(env, bytes, 0, (jsize)length, (const jbyte*)from);
    const jclass string = (*env)->FindClass(env, "java/lang/String");
    const jmethodID make = string ? (*env)->GetMethodID(env, string, "<init>", "([BLjava/lang/String;)V") : NULL;
    const jstring utf8 = make ? (*env)->NewStringUTF(env, "UTF-8") : NULL;
    if (utf8) text = (*env)->NewObject(env, string, make, bytes, utf8);
  }
  if (text) {
    const jobject thrown =
        (*env)->NewObject(env, exception_class, exception_init, (jint)argand_error_get_kind(error), text);
    if (thrown) (*env)->Throw(env, thrown);
  }
  argand_error_free(error);
  return true;
}

char* bytes_of(JNIEnv* env, jbyteArray array) {
  if (!array) return NULL;
  const jsize length = (*env)->GetArrayLength(env, array);
  char* const out = malloc((size_t)length + 1);
  if (!out) {
    throw_no_memory(env);
    return NULL;
  }
  (*env)->GetByteArrayRegion(env, array, 0, length, (jbyte*)out);
  out[length] = '\0';
  return out;
}
int64_t* longs_of(JNIEnv* env, jlongArray array, jsize* length) {
  *length = array ? (*env)->GetArrayLength(env, array) : 0;
  int64_t* const out = malloc(((size_t)*length + 1) * sizeof(int64_t));
  if (!out) {
    throw_no_memory(env);
    return NULL;
  }
  if (array) (*env)->GetLongArrayRegion(env, array, 0, *length, (jlong*)out);
  return out;
}

jlongArray new_longs(JNIEnv* env, const jlong* values, jsize count) {
  const jlongArray out = (*env)->NewLongArray(env, count);
  if (out) (*env)->SetLongArrayRegion(env, out, 0, count, values);
  return out;
}
jbyteArray new_bytes(JNIEnv* env, const char* text) {
  const jsize length = (jsize)strlen(text);
  const jbyteArray out = (*env)->NewByteArray(env, length);
  if (out) (*env)->SetByteArrayRegion(env, out, 0, length, (const jbyte*)text);
  return out;
}
jlong bytes_in(argand_tensor* tensor) {
  size_t bytes = 0;
  if (tensor) argand_error_free(argand_tensor_nbytes(tensor, &bytes));
  return (jlong)bytes;
}
jlongArray new_tensor(JNIEnv* env, argand_tensor* tensor) {
  if (!tensor) return NULL;
  const jlong pair[] = {ADDRESS(tensor), bytes_in(tensor)};
  const jlongArray out = new_longs(env, pair, 2);
  if (!out) argand_tensor_free(tensor);
  return out;
}
