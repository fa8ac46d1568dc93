# libargand_c: the C interface over libargand (argand/c/argand_c.h), which exports argand_* and nothing else.
file(GLOB c_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/argand/c/*.cpp)
set(c_exports ${PROJECT_SOURCE_DIR}/argand/c/exports.map)
add_library(argand_c SHARED ${c_sources})
add_library(argand::c ALIAS argand_c)
argand_precompile(argand_c argand_base)
argand_batches(argand_c)
set_target_properties(argand_c PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} EXPORT_NAME c
  INSTALL_RPATH "$ORIGIN" BUILD_WITH_INSTALL_RPATH ON LINK_DEPENDS ${c_exports})
target_link_libraries(argand_c PRIVATE argand_flags argand)
target_link_options(argand_c PRIVATE LINKER:--version-script=${c_exports} LINKER:-z,nodelete)
target_compile_definitions(argand_c PRIVATE ARGAND_VERSION="${PROJECT_VERSION}")
target_include_directories(argand_c INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
  $<BUILD_INTERFACE:${ARGAND_GENERATED_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
add_dependencies(argand_c argand_generate)

# The TorchScript archive of the tests of C and Java, and of the programs on their pages.
set(ARGAND_SCRIPT_ARCHIVE ${PROJECT_BINARY_DIR}/tests/net.pt CACHE INTERNAL "")
if(ARGAND_BUILD_TESTS)
  add_custom_command(OUTPUT ${ARGAND_SCRIPT_ARCHIVE}
    COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tests/script_archive.py ${ARGAND_SCRIPT_ARCHIVE}
    DEPENDS ${PROJECT_SOURCE_DIR}/tests/script_archive.py VERBATIM)
  add_custom_target(argand_script_archive ALL DEPENDS ${ARGAND_SCRIPT_ARCHIVE})
endif()

# tests/c/*.c are one program of C, which sees the public headers and the library alone.
if(ARGAND_BUILD_TESTS)
  enable_language(C)
  file(GLOB c_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/c/*.c)
  add_executable(argand_c_test ${c_tests})
  set_target_properties(argand_c_test PROPERTIES C_STANDARD 11 C_EXTENSIONS OFF)
  target_compile_options(argand_c_test PRIVATE -pedantic -Wall -Wextra -Werror)
  target_link_libraries(argand_c_test PRIVATE argand_c Threads::Threads m)
  if(ARGAND_SANITIZE STREQUAL "address")
    target_compile_options(argand_c_test PRIVATE -fsanitize=address,undefined -fno-omit-frame-pointer -g1)
    target_link_options(argand_c_test PRIVATE -fsanitize=address,undefined)
  elseif(ARGAND_SANITIZE STREQUAL "thread")
    target_compile_options(argand_c_test PRIVATE -fsanitize=thread -fno-omit-frame-pointer -g1)
    target_link_options(argand_c_test PRIVATE -fsanitize=thread)
  endif()
  add_dependencies(argand_c_test argand_script_archive)
  add_test(NAME c COMMAND argand_c_test ${ARGAND_SCRIPT_ARCHIVE} WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
  argand_test_environment(c)
  if(Python3_EXECUTABLE AND NOT ARGAND_SANITIZE)
    add_test(NAME c_names COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tests/c/names.py $<TARGET_FILE:argand_c>
      ${ARGAND_GENERATED_DIR}/argand/c/argand_ops.h)
  endif()
  if(ARGAND_SANITIZE)
    target_compile_definitions(argand_c_test PRIVATE ARGAND_FEW_CALLS)
    set_property(TEST c APPEND PROPERTY LABELS fast)
    add_dependencies(argand_fast_tests argand_c_test)
  endif()
endif()
