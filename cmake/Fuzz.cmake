# Each fuzz/NAME.cpp becomes build/PRESET/fuzz/NAME and a test fuzz/NAME that runs it for SHERD_FUZZ_SECONDS (10). Every
# run uses the same seed, since a test must not depend on luck; SHERD_FUZZ_SEED sets another one (0: a random one).
# fuzz/codec has one test per row of the codec table, except for rows that read another row's bytes under another name,
# and one per encoding of the precomputed format; SHERD_FUZZ_CODEC selects it. The initial corpus is fuzz/corpus/NAME;
# new inputs are kept in the build folder.
file(STRINGS src/api/registry.cpp codec_rows REGEX "^    &[a-z0-9_]+_codec,$")
list(TRANSFORM codec_rows REPLACE "^    &([a-z0-9_]+)_codec,$" "\\1")
list(FILTER codec_rows EXCLUDE REGEX "^numcodecs_(bitround|blosc|crc32c|gzip|zstd)$")
if(NOT codec_rows)
  message(FATAL_ERROR "no row of the table of codecs was found in src/api/registry.cpp")
endif()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS src/api/registry.cpp)
set(SHERD_FUZZED_CODECS ${codec_rows} compressed_segmentation jpeg png)

add_custom_target(sherd_fuzz)

function(sherd_add_fuzz name source)  # further arguments: compile definitions
  add_executable(fuzz_${name} ${source})
  set_target_properties(fuzz_${name} PROPERTIES
    OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
  target_include_directories(fuzz_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(fuzz_${name} PRIVATE ${ARGN})
  target_compile_options(fuzz_${name} PRIVATE ${SHERD_WARNINGS})
  target_link_libraries(fuzz_${name} PRIVATE sherd_engine)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  add_dependencies(sherd_fuzz fuzz_${name})
endfunction()

function(sherd_add_fuzz_test name target)  # further arguments: environment variables
  set(seeds ${PROJECT_SOURCE_DIR}/fuzz/corpus/${name})
  if(NOT IS_DIRECTORY ${seeds})
    set(seeds "")
  endif()
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz/corpus/${name})
  add_test(NAME fuzz/${name} COMMAND sh -c
    "exec \"$@\" -max_total_time=\${SHERD_FUZZ_SECONDS:-10} -seed=\${SHERD_FUZZ_SEED:-1}" sh
    $<TARGET_FILE:${target}> -artifact_prefix=${PROJECT_BINARY_DIR}/fuzz/${name}- -print_final_stats=1 -timeout=120
    -malloc_limit_mb=1024 -rss_limit_mb=2048 ${PROJECT_BINARY_DIR}/fuzz/corpus/${name} ${seeds})
  set_tests_properties(fuzz/${name} PROPERTIES LABELS fuzz ENVIRONMENT "${ARGN}")
endfunction()

file(GLOB fuzz_sources CONFIGURE_DEPENDS fuzz/*.cpp)
foreach(source IN LISTS fuzz_sources)
  cmake_path(GET source STEM name)
  if(name STREQUAL "precomputed_draco" AND NOT SHERD_DRACO_MODULES)
    continue()
  endif()
  if(name STREQUAL "codec")
    list(TRANSFORM SHERD_FUZZED_CODECS REPLACE "(.+)" "ROW(\\1)" OUTPUT_VARIABLE rows)
    list(JOIN rows " " rows)
    sherd_add_fuzz(${name} ${source} "SHERD_FUZZ_ROWS=${rows}")
    foreach(codec IN LISTS SHERD_FUZZED_CODECS)
      sherd_add_fuzz_test(codec_${codec} fuzz_codec SHERD_FUZZ_CODEC=${codec})
    endforeach()
  else()
    sherd_add_fuzz(${name} ${source})
    sherd_add_fuzz_test(${name} fuzz_${name})
  endif()
endforeach()
