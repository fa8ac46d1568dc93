# What Argand needs from the machine (tools/packages.txt names the packages).  Nothing is downloaded.

find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PNG REQUIRED)
find_package(JPEG REQUIRED)

# Everything the library itself links; no header of ours shows any of it.
add_library(argand_deps INTERFACE)
target_link_libraries(argand_deps INTERFACE Threads::Threads ZLIB::ZLIB PNG::PNG JPEG::JPEG ${CMAKE_DL_LIBS})

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
