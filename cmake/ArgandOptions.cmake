# Options and compiler flags.  Flags live on the interface target argand_flags, so that they reach our own code only.

set(ARGAND_WITH_CUDA AUTO CACHE STRING "Build the CUDA backend: ON, OFF, or AUTO (when nvcc is found)")
set(ARGAND_SANITIZE "" CACHE STRING "Empty, address (with undefined behaviour) or thread")
option(ARGAND_KERNEL_PACK "Compile common CUDA kernels when the library is built, not where it runs first" OFF)
option(ARGAND_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(ARGAND_BUILD_BENCH "Build the benchmarks" OFF)
option(ARGAND_BUILD_JAVA "Build the Java package (needs a JDK of version 17 or newer)" OFF)
option(ARGAND_BUILD_PYTHON "Build the Python package (needs nanobind)" OFF)
set_property(CACHE ARGAND_WITH_CUDA PROPERTY STRINGS AUTO ON OFF)
set_property(CACHE ARGAND_SANITIZE PROPERTY STRINGS "" address thread)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# Release carries no debug information: the library stays a few megabytes and a clean build stays short.
# Only files with loops over elements gain from -O3 (cmake/ArgandLayer.cmake); others cost a fifth more to compile with it
# and are a third larger.
# Dev and the sanitizers optimise a little, because a tensor library at -O0 is too slow to test.
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g")
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

# A build from the start takes half the time in batches (cmake/ArgandLayer.cmake), one after a change longer.  With ccache
# single files are better: it finds all but the changed ones again.
set(batches ON)
if(CMAKE_CXX_COMPILER_LAUNCHER)
  set(batches OFF)
endif()
option(ARGAND_BATCHES "Compile several source files at a time (ON unless there is ccache)" ${batches})

add_library(argand_flags INTERFACE)
# Symbols that a library links from archives are not exported.  Some compilers link libstdc++ in this way: exported, its
# symbols would mix with those of the libstdc++.so that cuDNN loads, whose streams then write nothing or crash.
target_link_options(argand_flags INTERFACE LINKER:--exclude-libs,ALL)
target_compile_options(argand_flags INTERFACE -Wall -Wextra -Wconversion -Wno-sign-conversion -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC guesses these from the flow of inlined code, differently in every version and with sanitizers (-Wrestrict about
  # string + string in GCC 12, -Warray-bounds about a moved SmallVector in GCC 13).  The sanitizers look for the real thing.
  target_compile_options(argand_flags INTERFACE -Wno-restrict -Wno-array-bounds -Wno-maybe-uninitialized
    -Wno-stringop-overflow -Wno-stringop-overread)
elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # The warning that a loop marked for vectorisation was not vectorised: without optimisation none is.
  target_compile_options(argand_flags INTERFACE -Wno-pass-failed)
endif()

# Note [Same bits, fused or not]
# Contraction would turn a*b+c into one rounding where the compiler sees both operations and two where it does not: a
# fused group of pointwise ops would then differ from the same ops run one by one.  It is off everywhere.
# The other two flags change no value: nothing here reads errno after a math function or the floating-point exception
# flags, and without them the compiler may vectorise sqrt, comparisons and selects.
target_compile_options(argand_flags INTERFACE -ffp-contract=off -fno-math-errno -fno-trapping-math)

# One library serves every x86-64 machine of the last fifteen years; code for newer ones is chosen at run time and
# marked by target attributes, so -march=native must never be needed.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_options(argand_flags INTERFACE -march=x86-64-v2)
endif()

if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  target_compile_definitions(argand_flags INTERFACE _GLIBCXX_ASSERTIONS)
endif()

if(ARGAND_SANITIZE STREQUAL "address")
  # Null pointers and the ends of objects are what ASan sees anyway; checks of both at every access are a tenth of the code.
  set(sanitize -fsanitize=address,undefined -fno-sanitize=null,object-size,vptr -fno-sanitize-recover=all)
  # Two thirds of the compiler's work at -O1.  Not for TSan, whose tests then take three times as long.
  set(level -Og)
elseif(ARGAND_SANITIZE STREQUAL "thread")
  set(sanitize -fsanitize=thread)
  set(level -O1)
elseif(ARGAND_SANITIZE)
  message(FATAL_ERROR "ARGAND_SANITIZE: expected address, thread or nothing, got ${ARGAND_SANITIZE}")
endif()
if(ARGAND_SANITIZE)
  target_compile_options(argand_flags INTERFACE ${sanitize} -fno-omit-frame-pointer ${level} -g1)
  target_compile_definitions(argand_flags INTERFACE ARGAND_SANITIZED)
  target_link_options(argand_flags INTERFACE ${sanitize})
endif()
