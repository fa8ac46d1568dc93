/* What the tests of the C interface share: CHECK counts failures and goes on, OK wants success, FAILS wants an error of
 * a kind whose text has these words. */
#ifndef ARGAND_TESTS_C_CHECK_H
#define ARGAND_TESTS_C_CHECK_H
#include <argand/c/argand_ops.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int failures;
void failed(const char* file, int line, const char* what);
void expect_ok(argand_error* error, const char* file, int line);
void expect_error(argand_error* error, argand_error_kind kind, const char* words, const char* file, int line);

#define CHECK(condition) ((condition) ? (void)0 : failed(__FILE__, __LINE__, #condition))
#define OK(call) expect_ok(call, __FILE__, __LINE__)
#define FAILS(call, kind, words) expect_error(call, kind, words, __FILE__, __LINE__)

argand_tensor* floats(const float* values, int64_t count); /* one dimension */
argand_tensor* matrix(const float* values, int64_t rows, int64_t columns);
double item(argand_tensor* tensor); /* frees the tensor */
void same(argand_tensor* tensor, const float* values, int64_t count, const char* file, int line);
#define SAME(tensor, ...) \
  same(tensor, (const float[]){__VA_ARGS__}, sizeof((const float[]){__VA_ARGS__}) / sizeof(float), __FILE__, __LINE__)
long resident_kilobytes(void);

void test_errors(void);
void test_tensors(void);
void test_dlpack(void);
void test_operators(void);
void test_gradients(void);
void test_devices(void);
void test_files(void);
void test_networks(void);
void test_scripts(const char* archive);
void test_optimizers(void);
void test_threads(void);
void test_memory(void);

#endif
