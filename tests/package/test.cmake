# Installs the build into an empty prefix; then configures, builds and runs against it the consumer beside this file, and
# the README's example from the README's own lines.
set(work ${BUILD}/package-test)
file(REMOVE_RECURSE ${work})
function(run)
  execute_process(COMMAND ${ARGV} WORKING_DIRECTORY ${work} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
function(build_and_run source program)
  run(${CMAKE_COMMAND} -S ${source} -B ${work}/${program} -G Ninja -D CMAKE_CXX_COMPILER=${CXX}
    -D CMAKE_PREFIX_PATH=${work}/prefix -D CMAKE_BUILD_TYPE=Release)
  run(${CMAKE_COMMAND} --build ${work}/${program})
  run(${work}/${program}/${program})
endfunction()

# The text of the first block of FILE that is fenced as LANGUAGE.
function(first_block file language out)
  file(READ ${file} text)
  string(FIND "${text}" "```${language}\n" begin)
  if(begin EQUAL -1)
    message(FATAL_ERROR "${file}: no block of ${language}")
  endif()
  string(LENGTH "```${language}\n" fence)
  math(EXPR begin "${begin} + ${fence}")
  string(SUBSTRING "${text}" ${begin} -1 text)
  string(FIND "${text}" "```" end)
  string(SUBSTRING "${text}" 0 ${end} text)
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

file(MAKE_DIRECTORY ${work}/readme)
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${work}/prefix)
build_and_run(${SOURCE} consumer)

first_block(${SOURCE}/../../README.md cpp program)
first_block(${SOURCE}/../../README.md cmake lines)
file(WRITE ${work}/readme/main.cpp "${program}")
file(WRITE ${work}/readme/CMakeLists.txt
  "cmake_minimum_required(VERSION 3.25)\nproject(app LANGUAGES CXX)\nadd_executable(app main.cpp)\n${lines}")
build_and_run(${work}/readme app)
