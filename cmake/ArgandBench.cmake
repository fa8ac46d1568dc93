# bench/*.cpp: each file is one Google Benchmark executable, bench_<file>.  `benches` builds them all.
add_custom_target(benches)
file(GLOB bench_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.cpp)
foreach(file IN LISTS bench_files)
  cmake_path(GET file STEM name)
  add_executable(bench_${name} ${file})
  target_link_libraries(bench_${name} PRIVATE argand_flags argand_deps argand benchmark::benchmark)
  add_dependencies(benches bench_${name})
endforeach()
