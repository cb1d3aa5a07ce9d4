# Each fuzz/NAME.cpp becomes build/PRESET/fuzz/NAME and a test fuzz/NAME that runs it for SHERD_FUZZ_SECONDS (20).
# Seeds are read from fuzz/corpus/NAME; what the fuzzer finds on top is kept in the build folder.
add_custom_target(sherd_fuzz)
file(GLOB fuzz_sources CONFIGURE_DEPENDS fuzz/*.cpp)
foreach(source IN LISTS fuzz_sources)
  cmake_path(GET source STEM name)
  add_executable(fuzz_${name} ${source})
  set_target_properties(fuzz_${name} PROPERTIES
    OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
  target_include_directories(fuzz_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(fuzz_${name} PRIVATE ${SHERD_WARNINGS})
  target_link_libraries(fuzz_${name} PRIVATE sherd_engine)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  add_dependencies(sherd_fuzz fuzz_${name})

  set(seeds ${PROJECT_SOURCE_DIR}/fuzz/corpus/${name})
  if(NOT IS_DIRECTORY ${seeds})
    set(seeds "")
  endif()
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz/corpus/${name})
  add_test(NAME fuzz/${name} COMMAND sh -c "exec \"$@\" -max_total_time=\${SHERD_FUZZ_SECONDS:-20}" sh
    $<TARGET_FILE:fuzz_${name}> -artifact_prefix=${PROJECT_BINARY_DIR}/fuzz/${name}- -print_final_stats=1 -timeout=20
    -rss_limit_mb=1024 ${PROJECT_BINARY_DIR}/fuzz/corpus/${name} ${seeds})
  set_tests_properties(fuzz/${name} PROPERTIES LABELS fuzz)
endforeach()
