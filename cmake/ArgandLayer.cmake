# One folder = one layer = one object library; all of them make one shared library.

# The standard library is half of what the compiler reads, so it is precompiled, but not with ccache: the bytes of a
# precompiled header differ each time, so ccache would not find earlier results.
set(ARGAND_STANDARD_HEADERS <algorithm> <array> <atomic> <cmath> <complex> <cstdint> <cstring> <functional> <limits>
  <memory> <mutex> <optional> <span> <string> <string_view> <unordered_map> <utility> <vector>)
# argand_precompile(TARGET LIKE [HEADERS...]): TARGET reads what was precompiled for LIKE, a target of the same flags; LIKE
# itself has it made, of these headers and the standard ones.
function(argand_precompile target like)
  if(CMAKE_CXX_COMPILER_LAUNCHER OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  if(like STREQUAL target)
    target_precompile_headers(${target} PRIVATE ${ARGAND_STANDARD_HEADERS} ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${like})
  endif()
endfunction()

# argand_batches(TARGET): compiles the C++ sources of TARGET in batches, which read the headers they share once.  Where two
# files of a batch define the same name in a way that tools/batches.py does not see, the compiler says so, and one of them
# gets another name.
function(argand_batches target)
  if(NOT ARGAND_BATCHES)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  if(NOT sources)
    return()
  endif()
  execute_process(COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tools/batches.py ${sources}
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE lines OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" lines "${lines}")
  while(lines)
    list(POP_FRONT lines batch source)
    set_property(SOURCE ${source} TARGET_DIRECTORY ${target} PROPERTY UNITY_GROUP ${target}_${batch})
  endwhile()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # It takes an unnamed namespace of an included file for one of a header.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()

# argand_objects(NAME LIKE SOURCES...): an object library of libargand, which may have no sources; LIKE as for
# argand_precompile().
function(argand_objects name like)
  if(ARGN)
    add_library(${name} OBJECT ${ARGN})
    target_link_libraries(${name} PRIVATE argand_flags argand_deps argand_headers)
    argand_precompile(${name} ${like})
    argand_batches(${name})
    target_sources(argand PRIVATE $<TARGET_OBJECTS:${name}>)
  endif()
endfunction()

# argand_layer(FOLDER [EXCEPT SUBFOLDER...])
# Compiles argand/FOLDER (without the sub-folders that are layers of their own) as argand_<folder> into libargand, and
# its *_test.cpp as argand_<folder>_test.  A folder that does not exist yet, or holds headers only, adds nothing.
function(argand_layer folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "EXCEPT;SOURCES")
  string(REPLACE "/" "_" name argand_${folder})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/argand/${folder}/*.cpp)
  foreach(sub IN LISTS arg_EXCEPT)
    list(FILTER sources EXCLUDE REGEX "^${PROJECT_SOURCE_DIR}/argand/${folder}/${sub}/")
  endforeach()
  list(FILTER sources EXCLUDE REGEX "/cuda/")  # cmake/ArgandCuda.cmake has them
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(APPEND sources ${arg_SOURCES})
  # Loops over elements; the tests of kernels/math compile such loops themselves.
  set(is_loops "/argand/(kernels/(cpu|math)|ops/(pointwise|optim))/")
  set(loops ${sources})
  list(FILTER loops INCLUDE REGEX "${is_loops}")
  list(FILTER sources EXCLUDE REGEX "${is_loops}")
  set(loops_of_tests ${tests})
  list(FILTER loops_of_tests INCLUDE REGEX "/argand/kernels/math/")
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    set_property(SOURCE ${loops_of_tests} PROPERTY COMPILE_OPTIONS -O3)
    set_property(SOURCE ${loops_of_tests} PROPERTY SKIP_PRECOMPILE_HEADERS ON)  # theirs would have to be made for -O3
  endif()
  argand_objects(${name} argand_base ${sources})
  argand_objects(${name}_loops argand_kernels_cpu_loops ${loops})
  if(loops)
    target_compile_options(${name}_loops PRIVATE $<$<CONFIG:Release>:-O3>)
  endif()
  if(tests AND ARGAND_BUILD_TESTS)
    argand_tests(${name}_test ${tests})
  endif()
endfunction()

# Layers whose tests are run once more under each sanitizer by `./dev test --sanitize` (all of them with `all`).
# Address: where memory is owned, shared and parsed.  Thread: where threads meet.
set(ARGAND_FAST_address base core runtime runtime_cpu autograd io jit vision parallel tests_window tests_autograd)
set(ARGAND_FAST_thread base runtime runtime_cpu data parallel tests_window tests_autograd tests_devices tests_loads)
if(ARGAND_BUILD_TESTS)
  add_custom_target(argand_fast_tests)
endif()

# argand_tests(NAME [SHARDS N] SOURCES...): one GoogleTest executable and one ctest entry (a process per test case would
# spend more time in starting than in testing), or N entries that share its cases.  The label `fast` marks the subset
# for the sanitizer of this build.
function(argand_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SHARDS" "")
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE argand_flags argand_deps argand GTest::gtest GTest::gtest_main)
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-Og>)  # 0.6 of the compiler's work at -O2; they run once
  argand_precompile(${name} argand_base_test <gtest/gtest.h>)
  argand_batches(${name})
  string(REGEX REPLACE "^argand_(.*)_test$" "\\1" layer ${name})
  set(entries ${name})
  if(arg_SHARDS)
    set(entries "")
    foreach(shard RANGE 1 ${arg_SHARDS})
      list(APPEND entries ${name}_${shard})
    endforeach()
  endif()
  set(shard 0)
  foreach(entry IN LISTS entries)
    add_test(NAME ${entry} COMMAND ${name} --gtest_brief=1 WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    argand_test_environment(${entry})
    if(arg_SHARDS)
      set_property(TEST ${entry} APPEND PROPERTY ENVIRONMENT GTEST_TOTAL_SHARDS=${arg_SHARDS} GTEST_SHARD_INDEX=${shard})
    endif()
    math(EXPR shard "${shard} + 1")
    if(layer IN_LIST ARGAND_FAST_${ARGAND_SANITIZE})
      set_property(TEST ${entry} APPEND PROPERTY LABELS fast)
      add_dependencies(argand_fast_tests ${name})
    endif()
  endforeach()
endfunction()

# detect_stack_use_after_return stays off: with it, GCC 13 misaligns over-aligned locals (GCC bug 110027).
# PYTHONUNBUFFERED goes: with it, print() writes each word by itself, and those of several processes mix in one line.
function(argand_test_environment test)
  set_property(TEST ${test} PROPERTY TIMEOUT 1200)
  set_property(TEST ${test} PROPERTY ENVIRONMENT_MODIFICATION PYTHONUNBUFFERED=unset:)
  set_property(TEST ${test} PROPERTY ENVIRONMENT
    "ARGAND_CUDA_COMPILE_MEANWHILE=0"
    "ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=0"
    "UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1"
    "TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:suppressions=${PROJECT_SOURCE_DIR}/cmake/tsan_suppressions.txt")
endfunction()
