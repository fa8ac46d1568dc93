# libargand_gloo and libargand_mpi: messages between processes, by libraries that libargand opens when a program first
# asks for them (argand/runtime/transport.h).  Each is built where its library is installed; ARGAND_ENGINES lists them.
set(ARGAND_ENGINES "" CACHE INTERNAL "")

# argand_engine(NAME HEADER LIBRARY): argand/runtime/NAME, if HEADER and LIBRARY are found.
function(argand_engine name header library)
  find_path(ARGAND_${name}_INCLUDE ${header} PATH_SUFFIXES x86_64-linux-gnu/mpi aarch64-linux-gnu/mpi openmpi)
  find_library(ARGAND_${name}_LIBRARY ${library})
  mark_as_advanced(ARGAND_${name}_INCLUDE ARGAND_${name}_LIBRARY)
  if(NOT ARGAND_${name}_INCLUDE OR NOT ARGAND_${name}_LIBRARY)
    message(STATUS "No ${header} or lib${library}: without the backend ${name} of process groups")
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/argand/runtime/${name}/*.cpp)
  add_library(argand_${name} SHARED ${sources})
  target_include_directories(argand_${name} SYSTEM PRIVATE ${ARGAND_${name}_INCLUDE})
  target_link_libraries(argand_${name} PRIVATE argand_flags argand_headers argand ${ARGAND_${name}_LIBRARY})
  target_link_options(argand_${name} PRIVATE LINKER:-z,nodelete)
  set(ARGAND_ENGINES ${ARGAND_ENGINES} argand_${name} CACHE INTERNAL "")
endfunction()

argand_engine(gloo gloo/context.h gloo)
argand_engine(mpi mpi.h mpi)
