# Read by the project() of the copy in build/mutants: the files in planted/files.txt, which compute, find the headers
# with faults before those without.
cmake_language(DEFER DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} CALL planted_headers_first)
function(planted_headers_first)
  file(STRINGS ${CMAKE_SOURCE_DIR}/planted/files.txt files)
  list(TRANSFORM files PREPEND ${CMAKE_SOURCE_DIR}/)
  set_property(SOURCE ${files} DIRECTORY ${CMAKE_SOURCE_DIR}/argand APPEND PROPERTY
    INCLUDE_DIRECTORIES ${CMAKE_SOURCE_DIR}/planted)
endfunction()
