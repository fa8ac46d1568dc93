# Runs tools/generate/generate.py, which reads the op definitions and writes what is derived from them:
#   ${ARGAND_GENERATED_DIR}/argand/...   headers and sources, on the include path and installed
#   ${ARGAND_GENERATED_DIR}/docs/...     reference pages (`./dev docs` copies them)
# REQUIRES of the generator: it rewrites a file only when its text changed, and the set of files it writes follows from
# the folders and files in argand/ops and from itself alone.

set(ARGAND_GENERATED_DIR ${PROJECT_BINARY_DIR}/generated)
set(ARGAND_GENERATED_SOURCES "")
set(generator ${PROJECT_SOURCE_DIR}/tools/generate/generate.py)
if(NOT EXISTS ${generator})
  return()
endif()

find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(generate ${Python3_EXECUTABLE} ${generator} --out ${ARGAND_GENERATED_DIR})
file(GLOB_RECURSE op_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/argand/ops/*.cpp)
list(FILTER op_files EXCLUDE REGEX "_test\\.cpp$")
file(GLOB_RECURSE generator_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/generate/*.py
  ${PROJECT_SOURCE_DIR}/python/bindings/*.pyi.in)

# Once now, to learn which files there are; again whenever that may have changed.
execute_process(COMMAND ${generate} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} COMMAND_ERROR_IS_FATAL ANY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${generator_files})
file(GLOB_RECURSE written ${ARGAND_GENERATED_DIR}/argand/*)
set(ARGAND_GENERATED_SOURCES ${written})
list(FILTER ARGAND_GENERATED_SOURCES INCLUDE REGEX "\\.cpp$")

# An unchanged output keeps its time, so an edit inside one op rebuilds only what really changed (ninja's restat).
set(stamp ${ARGAND_GENERATED_DIR}/stamp)
add_custom_command(OUTPUT ${stamp} BYPRODUCTS ${written}
  COMMAND ${generate}
  COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
  DEPENDS ${op_files} ${generator_files}
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} COMMENT "Generating the API from argand/ops" VERBATIM)
add_custom_target(argand_generate DEPENDS ${stamp})
