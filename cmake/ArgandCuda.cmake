# libargand_cuda: the CUDA backend, which libargand loads at run time.  Its kernels are texts that NVRTC compiles where
# they run, so building it needs the toolkit's headers and libraries but no device compiler; tools/pack has NVRTC compile
# the most usual ones already.

# Sources stand in folders named cuda, next to what they extend.
file(GLOB_RECURSE cuda_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/argand/*/cuda/*.cpp)
set(cuda_tests ${cuda_sources})
list(FILTER cuda_sources EXCLUDE REGEX "_test\\.cpp$")
list(FILTER cuda_tests INCLUDE REGEX "_test\\.cpp$")

file(GLOB_RECURSE cuda_headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/argand/*.cuh)
# The mathematics that bodies of pointwise ops are written in, the order of elements, recurrent cells, the rules of
# optimizers, resampling, regions of interest, deformable convolution and samples by rejection.
foreach(name sort_key recurrent_cell rejection step_rules resample_dim resample_taps roi_bins deform_tap math math/airy math/base math/basic math/activation math/composite math/incomplete math/logic math/special math/device)
  list(APPEND cuda_headers argand/kernels/${name}.h)
endforeach()
set(embedded ${PROJECT_BINARY_DIR}/cuda/embedded.cpp)  # apart from what generate.py writes
list(TRANSFORM cuda_headers PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE cuda_header_files)
add_custom_command(OUTPUT ${embedded}
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/generate/embed.py --out ${embedded} ${cuda_headers}
  DEPENDS ${cuda_header_files} ${PROJECT_SOURCE_DIR}/tools/generate/embed.py
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} COMMENT "Embedding the headers of CUDA kernels" VERBATIM)

add_library(argand_cuda SHARED ${cuda_sources} ${embedded})
argand_precompile(argand_cuda argand_base)
argand_batches(argand_cuda)
target_link_libraries(argand_cuda PRIVATE argand_flags argand_headers argand CUDA::cudart_static CUDA::nvrtc ZLIB::ZLIB
  ${CMAKE_DL_LIBS})
target_link_options(argand_cuda PRIVATE LINKER:-z,nodelete)
# Matrix products; loaded when first used, and without it they run on our own kernels.
get_target_property(cublaslt_path CUDA::cublasLt IMPORTED_LOCATION)
target_compile_definitions(argand_cuda PRIVATE ARGAND_CUBLASLT_PATH="${cublaslt_path}")
# Linear algebra; loaded in the same way.
foreach(library cusolver cublas)
  get_target_property(path CUDA::${library} IMPORTED_LOCATION)
  string(TOUPPER ${library} upper)
  target_compile_definitions(argand_cuda PRIVATE ARGAND_${upper}_PATH="${path}")
endforeach()
# argand_open_at_run_time(NAME HEADER): the library is loaded in the same way.  Without its header, the code that calls
# it is left out of the build.
function(argand_open_at_run_time name header)
  string(TOUPPER ${name} upper)
  find_path(ARGAND_${upper}_INCLUDE ${header} HINTS ${CUDAToolkit_INCLUDE_DIRS})
  find_library(ARGAND_${upper}_LIBRARY ${name}
    HINTS ${CUDAToolkit_LIBRARY_DIR} ${CUDAToolkit_TARGET_DIR} ${CUDAToolkit_LIBRARY_ROOT} PATH_SUFFIXES lib lib64)
  mark_as_advanced(ARGAND_${upper}_INCLUDE ARGAND_${upper}_LIBRARY)
  if(ARGAND_${upper}_INCLUDE AND ARGAND_${upper}_LIBRARY)
    target_include_directories(argand_cuda SYSTEM PRIVATE ${ARGAND_${upper}_INCLUDE})
    target_compile_definitions(argand_cuda PRIVATE ARGAND_${upper}=1 ARGAND_${upper}_PATH="${ARGAND_${upper}_LIBRARY}")
  endif()
endfunction()
argand_open_at_run_time(cufft cufftXt.h)      # Fourier transforms
argand_open_at_run_time(cudnn cudnn_graph.h)  # convolutions
argand_open_at_run_time(nccl nccl.h)          # collectives between GPUs
if(cuda_tests AND ARGAND_BUILD_TESTS)
  argand_tests(argand_cuda_test ${cuda_tests})
  target_link_libraries(argand_cuda_test PRIVATE argand_cuda CUDA::cudart_static)
endif()
