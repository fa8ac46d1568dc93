# argand_install_headers(FOLDER [COMPONENT NAME]): installs our headers, and LibTorch's, below FOLDER.
function(argand_install_headers folder)
  foreach(root ${PROJECT_SOURCE_DIR}/argand ${ARGAND_GENERATED_DIR}/argand)
    if(EXISTS ${root})
      install(DIRECTORY ${root} DESTINATION ${folder} ${ARGN}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.inc" PATTERN "*_test*" EXCLUDE)
    endif()
  endforeach()
  # Not below argand/, so that only targets that link argand::torch find <torch/torch.h>.  The headers that are written at
  # build time come first: one of an earlier build gives way to a source of its name.
  install(DIRECTORY ${PROJECT_BINARY_DIR}/compat/torch/include/ ${PROJECT_SOURCE_DIR}/compat/torch/
    DESTINATION ${folder}/argand/compat ${ARGN}
    FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "CMakeFiles" EXCLUDE)
endfunction()
