# Copies the libraries FILES, stripped, to OUT under their NAMES, and writes OUT/libraries: a hash over all of them, then
# the names.  The hash names the folder to which the jar is unpacked.
file(REMOVE_RECURSE ${OUT})
file(MAKE_DIRECTORY ${OUT})
set(sums)
foreach(file name IN ZIP_LISTS FILES NAMES)
  execute_process(COMMAND ${STRIP} -o ${OUT}/${name} ${file} COMMAND_ERROR_IS_FATAL ANY)
  file(SHA256 ${OUT}/${name} sum)
  string(APPEND sums "${sum}")
endforeach()
string(SHA256 hash "${sums}")
list(JOIN NAMES "\n" lines)
file(WRITE ${OUT}/libraries "${hash}\n${lines}\n")
