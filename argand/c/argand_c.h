/* Argand for C: tensors, every operator, gradients, networks, TorchScript, optimizers, devices.  Plain C11; docs/c.md
 * has examples.
 *
 * Errors.  A function that can fail returns an argand_error*: NULL if it succeeded, otherwise an error with a kind and
 * a text, which the caller frees.  After an error no result has been written.  Nothing aborts, and no C++ exception
 * leaves a function.  A handle or an address that must not be NULL and is NULL is an error of kind ARGAND_ERROR_VALUE.
 *
 * Handles.  A result that is a handle belongs to the caller, who frees it by the function of its type.  Freeing NULL
 * does nothing.  A NULL tensor stands for "no tensor" where a parameter or a result may be absent.
 *
 * Threads.  Any function may be called from any thread.  Different threads may use the same handle at the same time as
 * long as none of them changes what is behind it; the caller orders changes against other uses.  Settings that are
 * said to be of the calling thread do not concern other threads.
 *
 * Versions.  A library with the same ARGAND_ABI_VERSION serves programs that were compiled with an older header: names,
 * structs and numbers stay, functions and operators are added. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ARGAND_C_API __attribute__((visibility("default")))
#define ARGAND_ABI_VERSION 1

ARGAND_C_API uint32_t argand_abi_version(void); /* of the library */
ARGAND_C_API const char* argand_version(void);  /* "0.1.0" */

typedef struct argand_error argand_error;
typedef struct argand_tensor argand_tensor;
typedef struct argand_generator argand_generator;
typedef struct argand_function argand_function;
typedef struct argand_state_dict argand_state_dict;
typedef struct argand_module argand_module;
typedef struct argand_optimizer argand_optimizer;
typedef struct argand_stream argand_stream;

/* ---- errors */

typedef int32_t argand_error_kind;
enum {
  ARGAND_ERROR_OTHER = 1, /* an exception of another library */
  ARGAND_ERROR_SHAPE,     /* sizes that do not fit together */
  ARGAND_ERROR_DTYPE,     /* a dtype that the operator does not take */
  ARGAND_ERROR_DEVICE,    /* operands on different devices, or no such device */
  ARGAND_ERROR_INDEX,     /* a dimension or an index out of range */
  ARGAND_ERROR_VALUE,     /* any other argument out of its domain, or of the wrong kind */
  ARGAND_ERROR_GRAD,      /* misuse of autograd */
  ARGAND_ERROR_OUT_OF_MEMORY,
  ARGAND_ERROR_IO, /* files: missing, damaged, full disk */
  ARGAND_ERROR_DISTRIBUTED,
  ARGAND_ERROR_LINALG, /* a matrix that has no inverse, a decomposition that does not converge */
  ARGAND_ERROR_NOT_IMPLEMENTED,
  ARGAND_ERROR_INTERNAL /* a bug of Argand; please report it */
};

ARGAND_C_API argand_error_kind argand_error_get_kind(const argand_error* error); /* 0 for NULL */
ARGAND_C_API const char* argand_error_kind_name(argand_error_kind kind);         /* "ShapeError"; "" if unknown */
ARGAND_C_API const char* argand_error_get_message(const argand_error* error);    /* "" for NULL; lives as the error */
ARGAND_C_API void argand_error_free(argand_error* error);
/* An error of the caller's own, for callbacks that return one. */
ARGAND_C_API argand_error* argand_error_new(argand_error_kind kind, const char* message);

/* Frees a text that a function gave to the caller. */
ARGAND_C_API void argand_text_free(char* text);

/* ---- dtypes, devices, layouts; the numbers are PyTorch's */

typedef int32_t argand_dtype;
enum {
  ARGAND_DTYPE_NONE = -1, /* in options: the default */
  ARGAND_UINT8 = 0,
  ARGAND_INT8 = 1,
  ARGAND_INT16 = 2,
  ARGAND_INT32 = 3,
  ARGAND_INT64 = 4,
  ARGAND_FLOAT16 = 5,
  ARGAND_FLOAT32 = 6,
  ARGAND_FLOAT64 = 7,
  ARGAND_COMPLEX64 = 9,
  ARGAND_COMPLEX128 = 10,
  ARGAND_BOOL = 11,
  ARGAND_BFLOAT16 = 15
};
ARGAND_C_API argand_error* argand_dtype_parse(const char* name, argand_dtype* dtype); /* "float32" */
ARGAND_C_API const char* argand_dtype_name(argand_dtype dtype);                       /* "" if unknown */
ARGAND_C_API size_t argand_dtype_size(argand_dtype dtype);                            /* bytes; 0 if unknown */
/* The dtype of factory functions without one; float32 unless set. */
ARGAND_C_API argand_dtype argand_get_default_dtype(void);
ARGAND_C_API argand_error* argand_set_default_dtype(argand_dtype dtype);

typedef int32_t argand_device_type;
enum {
  ARGAND_DEVICE_NONE = -1, /* in options: the default */
  ARGAND_CPU = 0,
  ARGAND_CUDA = 1,
  ARGAND_XPU = 12,
  ARGAND_MPS = 13,
  ARGAND_META = 14,
  ARGAND_PRIVATEUSE1 = 20
};
typedef struct argand_device {
  argand_device_type type;
  int32_t index; /* -1: the current device of the type */
} argand_device;

typedef int32_t argand_memory_format;
enum {
  ARGAND_MEMORY_FORMAT_NONE = -1, /* where it may be absent */
  ARGAND_CONTIGUOUS = 0,
  ARGAND_PRESERVE = 1,
  ARGAND_CHANNELS_LAST = 2,
  ARGAND_CHANNELS_LAST_3D = 3
};

/* What a factory function makes.  Take ARGAND_DEFAULT_OPTIONS and set what differs. */
typedef struct argand_options {
  argand_dtype dtype;
  argand_device device;
  bool requires_grad, pin_memory;
} argand_options;
#define ARGAND_DEFAULT_OPTIONS \
  { ARGAND_DTYPE_NONE, {ARGAND_DEVICE_NONE, -1}, false, false }

/* ---- values: arguments and results of operators and of modules */

typedef int32_t argand_kind;
enum {
  ARGAND_KIND_NONE = 0, /* as an argument: the default of the parameter, or None */
  ARGAND_KIND_BOOL,
  ARGAND_KIND_INT,
  ARGAND_KIND_DOUBLE,
  ARGAND_KIND_COMPLEX,
  ARGAND_KIND_STRING,
  ARGAND_KIND_DTYPE,
  ARGAND_KIND_DEVICE,
  ARGAND_KIND_MEMORY_FORMAT,
  ARGAND_KIND_OPTIONS,
  ARGAND_KIND_GENERATOR,
  ARGAND_KIND_TENSOR, /* NULL as an argument: None */
  ARGAND_KIND_INTS,
  ARGAND_KIND_DOUBLES,
  ARGAND_KIND_BOOLS,
  ARGAND_KIND_NUMBERS, /* values of the kinds bool, int, double, complex */
  ARGAND_KIND_TENSORS,
  /* Of TorchScript, not of operators: */
  ARGAND_KIND_LIST, /* values of any kinds.  A result of ints, doubles, tensors, or one bool or more, has a kind above
                     */
  ARGAND_KIND_TUPLE,
  ARGAND_KIND_DICT /* entries in their order; keys are ints, doubles, bools, texts and tensors */
};

struct argand_entry;

/* A value of one of these kinds.  An argument's text, list or handle stays the caller's and must live during the call.
 * A result owns what it points to (argand_values_free). */
typedef struct argand_value {
  argand_kind kind;
  int32_t reserved; /* 0 */
  int64_t length;   /* of a text in bytes, of a list in elements */
  union {
    bool boolean;
    int64_t integer;
    double number;
    double complex_number[2]; /* real part, imaginary part */
    const char* text;         /* UTF-8, ends with a zero byte */
    argand_dtype dtype;
    argand_device device;
    argand_memory_format memory_format;
    const argand_options* options;
    argand_generator* generator;
    argand_tensor* tensor;
    const int64_t* integers;
    const double* doubles;
    const bool* booleans;
    const struct argand_value* numbers;
    argand_tensor* const* tensors;
    const struct argand_value* values; /* of a list or a tuple */
    const struct argand_entry* entries;
  } as;
} argand_value;

/* Of a dict. */
typedef struct argand_entry {
  argand_value key, value;
} argand_entry;

typedef struct argand_named_value {
  const char* name;
  argand_value value;
} argand_named_value;

static inline argand_value argand_value_none(void) {
  argand_value v = {ARGAND_KIND_NONE, 0, 0, {0}};
  return v;
}
static inline argand_value argand_value_of_kind(argand_kind kind, int64_t length) {
  argand_value v = argand_value_none();
  v.kind = kind;
  v.length = length;
  return v;
}
#define ARGAND_VALUE_MAKER(name, type, kind, member)       \
  static inline argand_value argand_value_##name(type x) { \
    argand_value v = argand_value_of_kind(kind, 0);        \
    v.as.member = x;                                       \
    return v;                                              \
  }
ARGAND_VALUE_MAKER(bool, bool, ARGAND_KIND_BOOL, boolean)
ARGAND_VALUE_MAKER(int, int64_t, ARGAND_KIND_INT, integer)
ARGAND_VALUE_MAKER(double, double, ARGAND_KIND_DOUBLE, number)
ARGAND_VALUE_MAKER(dtype, argand_dtype, ARGAND_KIND_DTYPE, dtype)
ARGAND_VALUE_MAKER(device, argand_device, ARGAND_KIND_DEVICE, device)
ARGAND_VALUE_MAKER(memory_format, argand_memory_format, ARGAND_KIND_MEMORY_FORMAT, memory_format)
ARGAND_VALUE_MAKER(options, const argand_options*, ARGAND_KIND_OPTIONS, options)   /* NULL: the default */
ARGAND_VALUE_MAKER(generator, argand_generator*, ARGAND_KIND_GENERATOR, generator) /* NULL: the default */
ARGAND_VALUE_MAKER(tensor, argand_tensor*, ARGAND_KIND_TENSOR, tensor)
#undef ARGAND_VALUE_MAKER
static inline argand_value argand_value_complex(double real, double imaginary) {
  argand_value v = argand_value_of_kind(ARGAND_KIND_COMPLEX, 0);
  v.as.complex_number[0] = real;
  v.as.complex_number[1] = imaginary;
  return v;
}
/* A text that ends with a zero byte; NULL: None. */
static inline argand_value argand_value_string(const char* text) {
  argand_value v = argand_value_of_kind(text ? ARGAND_KIND_STRING : ARGAND_KIND_NONE, -1); /* -1: up to the zero byte */
  v.as.text = text;
  return v;
}
/* Lists.  NULL with a length of 0 is an empty list; NULL with another length is None. */
#define ARGAND_VALUE_LIST_MAKER(name, type, kind_, member)                                          \
  static inline argand_value argand_value_##name(type items, int64_t length) {                      \
    argand_value v = argand_value_of_kind(items || length == 0 ? kind_ : ARGAND_KIND_NONE, length); \
    v.as.member = items;                                                                            \
    return v;                                                                                       \
  }
ARGAND_VALUE_LIST_MAKER(ints, const int64_t*, ARGAND_KIND_INTS, integers)
ARGAND_VALUE_LIST_MAKER(doubles, const double*, ARGAND_KIND_DOUBLES, doubles)
ARGAND_VALUE_LIST_MAKER(bools, const bool*, ARGAND_KIND_BOOLS, booleans)
ARGAND_VALUE_LIST_MAKER(numbers, const argand_value*, ARGAND_KIND_NUMBERS, numbers)
ARGAND_VALUE_LIST_MAKER(tensors, argand_tensor* const*, ARGAND_KIND_TENSORS, tensors)
ARGAND_VALUE_LIST_MAKER(list, const argand_value*, ARGAND_KIND_LIST, values)
ARGAND_VALUE_LIST_MAKER(tuple, const argand_value*, ARGAND_KIND_TUPLE, values)
ARGAND_VALUE_LIST_MAKER(dict, const argand_entry*, ARGAND_KIND_DICT, entries)
#undef ARGAND_VALUE_LIST_MAKER
/* Optional values: NULL is None. */
static inline argand_value argand_value_optional_bool(const bool* x) {
  return x ? argand_value_bool(*x) : argand_value_none();
}
static inline argand_value argand_value_optional_int(const int64_t* x) {
  return x ? argand_value_int(*x) : argand_value_none();
}
static inline argand_value argand_value_optional_double(const double* x) {
  return x ? argand_value_double(*x) : argand_value_none();
}

/* Frees what results own, and makes them None. */
ARGAND_C_API void argand_values_free(argand_value* values, size_t count);

/* ---- operators */

/* Calls the operator `name` ("add", "add_", "sum", "torchvision::nms") with these arguments, which may be given by
 * position or by name; the rest have their defaults.  The first overload that takes the arguments is called.  Writes
 * the first `capacity` results; `count`, unless NULL, is how many there are.  ARGAND_ERROR_VALUE if there is no such
 * operator, and with all signatures if no overload takes the arguments. */
ARGAND_C_API argand_error* argand_call(const char* name, const argand_value* arguments, size_t num_arguments,
                                       const argand_named_value* named, size_t num_named, argand_value* results,
                                       size_t capacity, size_t* count);

/* One overload, found once and called often.  `name` is "sum", or "max.dim" for an overload with a name; where
 * several overloads have one name, "sum#2" is the second in the order of docs/operators.md.  Lives as the process. */
ARGAND_C_API argand_error* argand_function_find(const char* name, const argand_function** function);
/* All of them, in the order of their names. */
ARGAND_C_API size_t argand_function_count(void);
ARGAND_C_API argand_error* argand_function_at(size_t index, const argand_function** function);
/* "add(Tensor self, Tensor|Scalar other, *, Scalar alpha=...)" */
ARGAND_C_API argand_error* argand_function_signature(const argand_function* function, char** signature);
ARGAND_C_API argand_error* argand_function_sizes(const argand_function* function, size_t* parameters, size_t* results);
/* Values in the order of the parameters; those that are not given have their defaults. */
ARGAND_C_API argand_error* argand_function_call(const argand_function* function, const argand_value* arguments,
                                                size_t num_arguments, argand_value* results, size_t capacity,
                                                size_t* count);
/* The same for the functions of argand_ops.h: finds the function at the first call and keeps it in `cache`. */
ARGAND_C_API argand_error* argand_function_call_cached(const argand_function** cache, const char* name,
                                                       const argand_value* arguments, size_t num_arguments,
                                                       argand_value* results, size_t capacity);

/* ---- tensors */

ARGAND_C_API void argand_tensor_free(argand_tensor* tensor);
/* Another handle for the same tensor. */
ARGAND_C_API argand_error* argand_tensor_share(argand_tensor* tensor, argand_tensor** result);

typedef void (*argand_release)(void* context, void* data);
/* A tensor over memory of the caller, on any device.  Strides count elements; NULL: row by row.  `release`, unless
 * NULL, is called once with `context` and `data` when nothing uses the memory any more, from whatever thread; if the
 * call fails, it is not called.  Without it the memory must outlive all tensors over it. */
ARGAND_C_API argand_error* argand_tensor_from_memory(void* data, const int64_t* sizes, const int64_t* strides,
                                                     size_t dim, argand_dtype dtype, argand_device device,
                                                     argand_release release, void* context, argand_tensor** result);
/* A tensor on the CPU with a copy of these elements, row by row. */
ARGAND_C_API argand_error* argand_tensor_from_copy(const void* data, const int64_t* sizes, size_t dim,
                                                   argand_dtype dtype, argand_tensor** result);
/* Copies the elements row by row to memory of the host; `nbytes` must be argand_tensor_nbytes(). */
ARGAND_C_API argand_error* argand_tensor_copy_to(argand_tensor* tensor, void* data, size_t nbytes);

ARGAND_C_API argand_error* argand_tensor_dim(argand_tensor* tensor, size_t* dim);
/* The first `capacity` sizes (strides, in elements). */
ARGAND_C_API argand_error* argand_tensor_sizes(argand_tensor* tensor, int64_t* sizes, size_t capacity);
ARGAND_C_API argand_error* argand_tensor_strides(argand_tensor* tensor, int64_t* strides, size_t capacity);
ARGAND_C_API argand_error* argand_tensor_size(argand_tensor* tensor, int64_t dim, int64_t* size); /* -1: the last */
ARGAND_C_API argand_error* argand_tensor_numel(argand_tensor* tensor, int64_t* numel);
ARGAND_C_API argand_error* argand_tensor_nbytes(argand_tensor* tensor, size_t* nbytes); /* of its elements */
ARGAND_C_API argand_error* argand_tensor_dtype(argand_tensor* tensor, argand_dtype* dtype);
ARGAND_C_API argand_error* argand_tensor_device(argand_tensor* tensor, argand_device* device);
ARGAND_C_API argand_error* argand_tensor_is_contiguous(argand_tensor* tensor, argand_memory_format format,
                                                       bool* result);
ARGAND_C_API argand_error* argand_tensor_is_same(argand_tensor* a, argand_tensor* b, bool* result);
/* The address of element 0, in the memory of the tensor's device; valid while the tensor lives.  Work on the tensor is
 * never delayed from then on.  On a GPU, synchronize first. */
ARGAND_C_API argand_error* argand_tensor_data(argand_tensor* tensor, void** data);
/* The only element, as a bool, int, double or complex value. */
ARGAND_C_API argand_error* argand_tensor_item(argand_tensor* tensor, argand_value* item);
ARGAND_C_API argand_error* argand_tensor_item_double(argand_tensor* tensor, double* item);
ARGAND_C_API argand_error* argand_tensor_item_int(argand_tensor* tensor, int64_t* item);
/* "tensor([1., 2.])", as Python prints it. */
ARGAND_C_API argand_error* argand_tensor_text(argand_tensor* tensor, char** text);

/* Makes the tensor one over the memory of `source`, with its sizes, dtype and device: every holder of the tensor, such
 * as an optimizer, sees it. */
ARGAND_C_API argand_error* argand_tensor_set_data(argand_tensor* tensor, argand_tensor* source);

/* DLPack (https://dmlc.github.io/dlpack), without copies.  A tensor takes over a managed tensor and calls its deleter
 * at the end; after an error the caller still owns it.  An exported one keeps the memory until its deleter is called.
 */
struct DLManagedTensor;
struct DLManagedTensorVersioned;
ARGAND_C_API argand_error* argand_tensor_from_dlpack(struct DLManagedTensor* managed, argand_tensor** result);
ARGAND_C_API argand_error* argand_tensor_to_dlpack(argand_tensor* tensor, struct DLManagedTensor** result);
ARGAND_C_API argand_error* argand_tensor_from_dlpack_versioned(struct DLManagedTensorVersioned* managed,
                                                               argand_tensor** result);
ARGAND_C_API argand_error* argand_tensor_to_dlpack_versioned(argand_tensor* tensor,
                                                             struct DLManagedTensorVersioned** result);

/* ---- gradients */

/* Whether operators of the calling thread record what backward needs; true at first. */
ARGAND_C_API bool argand_get_grad_enabled(void);
ARGAND_C_API void argand_set_grad_enabled(bool enabled);

ARGAND_C_API argand_error* argand_tensor_requires_grad(argand_tensor* tensor, bool* result);
ARGAND_C_API argand_error* argand_tensor_set_requires_grad(argand_tensor* tensor, bool requires_grad);
ARGAND_C_API argand_error* argand_tensor_is_leaf(argand_tensor* tensor, bool* result);
/* NULL: there is no gradient. */
ARGAND_C_API argand_error* argand_tensor_grad(argand_tensor* tensor, argand_tensor** grad);
ARGAND_C_API argand_error* argand_tensor_set_grad(argand_tensor* tensor, argand_tensor* grad);
/* Adds gradients to those of the leaves.  `gradient` may be NULL for a tensor of one element. */
ARGAND_C_API argand_error* argand_tensor_backward(argand_tensor* tensor, argand_tensor* gradient, bool retain_graph,
                                                  bool create_graph);
/* The same from several tensors; `gradients` may be NULL.  With inputs, only their gradients change. */
ARGAND_C_API argand_error* argand_backward(argand_tensor* const* roots, argand_tensor* const* gradients,
                                           size_t num_roots, argand_tensor* const* inputs, size_t num_inputs,
                                           bool retain_graph, bool create_graph);
/* Writes the gradient of each input to `grads`, and changes no others.  `grad_outputs` may be NULL.  An input that the
 * outputs do not depend on is an error, or has the gradient NULL if `allow_unused`. */
ARGAND_C_API argand_error* argand_grad(argand_tensor* const* outputs, argand_tensor* const* grad_outputs,
                                       size_t num_outputs, argand_tensor* const* inputs, size_t num_inputs,
                                       bool retain_graph, bool create_graph, bool allow_unused, argand_tensor** grads);

/* ---- random numbers */

/* Seeds the default generators of all devices. */
ARGAND_C_API argand_error* argand_manual_seed(uint64_t seed);
/* A generator of its own, for the parameter `generator` of operators. */
ARGAND_C_API argand_error* argand_generator_new(argand_device device, uint64_t seed, argand_generator** result);
ARGAND_C_API argand_error* argand_generator_manual_seed(argand_generator* generator, uint64_t seed);
ARGAND_C_API void argand_generator_free(argand_generator* generator);

/* ---- threads and devices */

ARGAND_C_API int32_t argand_get_num_threads(void);
ARGAND_C_API argand_error* argand_set_num_threads(int32_t count);

ARGAND_C_API argand_error* argand_device_parse(const char* text, argand_device* device); /* "cpu", "cuda:1" */
ARGAND_C_API argand_error* argand_device_text(argand_device device, char** text);
/* How many there are; 0 without a driver, 1 for the CPU. */
ARGAND_C_API argand_error* argand_device_count(argand_device_type type, int32_t* count);
/* The device on which the calling thread works if a device of the type has no index. */
ARGAND_C_API argand_error* argand_get_current_device(argand_device_type type, int32_t* index);
ARGAND_C_API argand_error* argand_set_current_device(argand_device device);
/* Waits for all work of a device, and reports what failed there.  Nothing for the CPU. */
ARGAND_C_API argand_error* argand_synchronize(argand_device device);

/* A queue of work of an accelerator; the handle does not own the queue. */
ARGAND_C_API argand_error* argand_stream_get_current(argand_device device, argand_stream** result);
ARGAND_C_API argand_error* argand_stream_new(argand_device device, int32_t priority, argand_stream** result);
ARGAND_C_API argand_error* argand_stream_set_current(argand_stream* stream); /* of the calling thread */
ARGAND_C_API argand_error* argand_stream_synchronize(argand_stream* stream);
ARGAND_C_API argand_error* argand_stream_query(argand_stream* stream, bool* done);
/* Later work of `stream` begins after the work that `other` has now. */
ARGAND_C_API argand_error* argand_stream_wait(argand_stream* stream, argand_stream* other);
ARGAND_C_API argand_error* argand_stream_device(argand_stream* stream, argand_device* device);
/* The cudaStream_t.  The caller may use it, so work of the stream is not delayed any more. */
ARGAND_C_API argand_error* argand_stream_native(argand_stream* stream, void** native);
ARGAND_C_API void argand_stream_free(argand_stream* stream);

/* ---- files: named tensors in an order, with texts beside them */

ARGAND_C_API argand_error* argand_state_dict_new(argand_state_dict** result);
ARGAND_C_API void argand_state_dict_free(argand_state_dict* state);
/* A file of safetensors or PyTorch, or the index of several; the content decides.  Only data is read. */
ARGAND_C_API argand_error* argand_state_dict_load(const char* path, argand_device device, argand_state_dict** result);
/* Writes safetensors.  The file at `path` is the old one or the whole new one at any moment. */
ARGAND_C_API argand_error* argand_state_dict_save(argand_state_dict* state, const char* path);
ARGAND_C_API argand_error* argand_state_dict_size(argand_state_dict* state, size_t* size);
/* Name and tensor number `index`; either may be NULL.  The name lives until the state dict is changed. */
ARGAND_C_API argand_error* argand_state_dict_at(argand_state_dict* state, size_t index, const char** name,
                                                argand_tensor** tensor);
ARGAND_C_API argand_error* argand_state_dict_get(argand_state_dict* state, const char* name, argand_tensor** tensor);
/* Adds the tensor, or replaces the one of this name. */
ARGAND_C_API argand_error* argand_state_dict_set(argand_state_dict* state, const char* name, argand_tensor* tensor);
/* Texts of safetensors.  `text` is NULL if there is none; it lives until the state dict is changed. */
ARGAND_C_API argand_error* argand_state_dict_get_text(argand_state_dict* state, const char* key, const char** text);
ARGAND_C_API argand_error* argand_state_dict_set_text(argand_state_dict* state, const char* key, const char* text);

/* ---- modules: published networks, and those of TorchScript archives */

/* A published network ("resnet18", "mobilenet_v3_small", ...) with new weights, or with `weights`: a file, or a
 * published name.  `num_classes` 0: those of the weights, otherwise 1000. */
ARGAND_C_API argand_error* argand_module_new(const char* name, const char* weights, int64_t num_classes,
                                             argand_module** result);
/* The module of a TorchScript archive (torch.jit.save), with its program.  Reading runs nothing; the program can reach
 * no file and no process.  Tensors come to `device`; ARGAND_DEVICE_NONE: to where they were saved.  Each of
 * `extra_files` gets the archive's extra file of its name as a text, which the caller frees (argand_values_free), or
 * None if there is no such file. */
ARGAND_C_API argand_error* argand_module_load(const char* path, argand_device device, argand_named_value* extra_files,
                                              size_t num_extra_files, argand_module** result);
/* The same from memory, which is not used any more afterwards. */
ARGAND_C_API argand_error* argand_module_load_bytes(const void* bytes, size_t size, argand_device device,
                                                    argand_named_value* extra_files, size_t num_extra_files,
                                                    argand_module** result);
ARGAND_C_API void argand_module_free(argand_module* module);
/* "ResNet", "__torch__.net.Net" */
ARGAND_C_API argand_error* argand_module_type_name(argand_module* module, char** name);

/* Calls a method with values, which are checked against the types of its parameters; the rest have their defaults.
 * Lists and dicts are copied, so that a program which changes them does not change the caller's.  `result` is one
 * value: a tuple for a method that returns several, None for one that returns nothing.  A published network has
 * "forward". */
ARGAND_C_API argand_error* argand_module_call(argand_module* module, const char* method, const argand_value* arguments,
                                              size_t num_arguments, const argand_named_value* named, size_t num_named,
                                              argand_value* result);
/* "forward(x: Tensor, times: int=1) -> Tensor" */
ARGAND_C_API argand_error* argand_module_signature(argand_module* module, const char* method, char** signature);
/* "forward" with results that are written as by argand_call(); a script module has one. */
ARGAND_C_API argand_error* argand_module_forward(argand_module* module, const argand_value* inputs, size_t num_inputs,
                                                 argand_value* results, size_t capacity, size_t* count);

typedef int32_t argand_module_part;
enum {
  ARGAND_METHODS = 1,
  ARGAND_ATTRIBUTES, /* with parameters and buffers, without modules; of a script module also those that are None */
  ARGAND_CHILDREN    /* modules */
};
/* A list of texts: the names of what the module has itself, and not the modules below it. */
ARGAND_C_API argand_error* argand_module_names(argand_module* module, argand_module_part part, argand_value* names);
/* An attribute, constant, parameter or buffer.  A name with dots leads to modules below: "layer.0.weight". */
ARGAND_C_API argand_error* argand_module_get(argand_module* module, const char* name, argand_value* result);
/* Sets an attribute of a script module to a value of its declared type. */
ARGAND_C_API argand_error* argand_module_set(argand_module* module, const char* name, const argand_value* value);
/* Another handle for a module below: "layer.0". */
ARGAND_C_API argand_error* argand_module_child(argand_module* module, const char* name, argand_module** result);

ARGAND_C_API argand_error* argand_module_train(argand_module* module, bool on);
ARGAND_C_API argand_error* argand_module_is_training(argand_module* module, bool* result);
/* Converts in place; ARGAND_DTYPE_NONE keeps the dtype, ARGAND_DEVICE_NONE the device. */
ARGAND_C_API argand_error* argand_module_to(argand_module* module, argand_dtype dtype, argand_device device);
/* Folds batch norms into convolutions, of a published network in evaluation mode.  It cannot be trained afterwards. */
ARGAND_C_API argand_error* argand_module_fuse(argand_module* module);
/* Parameters by name, which share the module's tensors: what an optimizer is given. */
ARGAND_C_API argand_error* argand_module_parameters(argand_module* module, argand_state_dict** result);
ARGAND_C_API argand_error* argand_module_buffers(argand_module* module, argand_state_dict** result);
/* Parameters and buffers, detached; they share the module's memory. */
ARGAND_C_API argand_error* argand_module_state_dict(argand_module* module, argand_state_dict** result);
/* Copies into parameters and buffers.  One error lists all names that are missing, unexpected or of another shape; then
 * nothing has changed. */
ARGAND_C_API argand_error* argand_module_load_state_dict(argand_module* module, argand_state_dict* state, bool strict);

/* ---- optimizers */

typedef struct argand_number {
  const char* name; /* "lr", "momentum", "beta1", "weight_decay", "nesterov" (0 or 1), ... */
  double value;
} argand_number;

/* SGD, Adam, AdamW, RMSprop, Adagrad, Adadelta, Adamax, NAdam or RAdam with these options; the rest have PyTorch's
 * defaults. */
ARGAND_C_API argand_error* argand_optimizer_new(const char* name, argand_tensor* const* parameters,
                                                size_t num_parameters, const argand_number* options, size_t num_options,
                                                argand_optimizer** result);
/* The same for all tensors of a state dict, such as argand_module_parameters(). */
ARGAND_C_API argand_error* argand_optimizer_new_for(const char* name, argand_state_dict* parameters,
                                                    const argand_number* options, size_t num_options,
                                                    argand_optimizer** result);
ARGAND_C_API void argand_optimizer_free(argand_optimizer* optimizer);
/* Another group of parameters.  What its options do not name is as in the first group's. */
ARGAND_C_API argand_error* argand_optimizer_add_group(argand_optimizer* optimizer, argand_tensor* const* parameters,
                                                      size_t num_parameters, const argand_number* options,
                                                      size_t num_options);
ARGAND_C_API argand_error* argand_optimizer_num_groups(argand_optimizer* optimizer, size_t* count);
ARGAND_C_API argand_error* argand_optimizer_zero_grad(argand_optimizer* optimizer, bool set_to_none);
ARGAND_C_API argand_error* argand_optimizer_step(argand_optimizer* optimizer);
ARGAND_C_API argand_error* argand_optimizer_get(argand_optimizer* optimizer, size_t group, const char* option,
                                                double* value);
ARGAND_C_API argand_error* argand_optimizer_set(argand_optimizer* optimizer, size_t group, const char* option,
                                                double value);
ARGAND_C_API argand_error* argand_optimizer_state_dict(argand_optimizer* optimizer, argand_state_dict** result);
ARGAND_C_API argand_error* argand_optimizer_load_state_dict(argand_optimizer* optimizer, argand_state_dict* state);

#ifdef __cplusplus
}
#endif
