# What Argand needs from the machine (tools/packages.txt names the packages).  Nothing is downloaded.

find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PNG REQUIRED)
find_package(JPEG REQUIRED)

# Everything the library itself links; no header of ours shows any of it.
add_library(argand_deps INTERFACE)
target_link_libraries(argand_deps INTERFACE Threads::Threads ZLIB::ZLIB PNG::PNG JPEG::JPEG ${CMAKE_DL_LIBS})

if(NOT ARGAND_WITH_ONEDNN STREQUAL "OFF")
  # Not by its CMake package: that one insists on the OpenCL headers, which nothing here includes.
  find_path(ONEDNN_INCLUDE_DIR oneapi/dnnl/dnnl.hpp)
  find_library(ONEDNN_LIBRARY dnnl)
  if(ONEDNN_INCLUDE_DIR AND ONEDNN_LIBRARY)
    target_link_libraries(argand_deps INTERFACE ${ONEDNN_LIBRARY})
    target_include_directories(argand_deps SYSTEM INTERFACE ${ONEDNN_INCLUDE_DIR})
    target_compile_definitions(argand_deps INTERFACE ARGAND_HAVE_ONEDNN=1)
  elseif(NOT ARGAND_WITH_ONEDNN STREQUAL "AUTO")
    message(FATAL_ERROR "ARGAND_WITH_ONEDNN is ON, but oneDNN was not found (Debian, Ubuntu: libdnnl-dev)")
  endif()
endif()

set(ARGAND_CUDA OFF)
if(NOT ARGAND_WITH_CUDA STREQUAL "OFF")
  find_package(CUDAToolkit 12.8 QUIET)
  if(CUDAToolkit_FOUND)
    set(ARGAND_CUDA ON)
  elseif(NOT ARGAND_WITH_CUDA STREQUAL "AUTO")
    message(FATAL_ERROR "ARGAND_WITH_CUDA is ON, but the CUDA toolkit (12.8 or newer) was not found; set CUDAToolkit_ROOT")
  endif()
endif()

if(ARGAND_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
if(ARGAND_BUILD_BENCH)
  find_package(benchmark REQUIRED)
endif()
