# How every target is compiled. Directory scope: a project that adds Sherd as a subdirectory keeps its own settings.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(SHERD_WARNINGS -Wall -Wextra -Wshadow)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False positives: GCC bug 105651 for "text" + std::string, GCC bug 80635 for std::optional.
  list(APPEND SHERD_WARNINGS -Wno-restrict -Wno-maybe-uninitialized)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  # libstdc++ 12's own std::stable_sort calls std::get_temporary_buffer, which C++17 deprecates.
  list(APPEND SHERD_WARNINGS -Wno-deprecated-declarations)
endif()

# A layer's files are compiled as one, which takes a third of the processor time (docs/decisions/0047).
function(sherd_compile_together target)
  if(SHERD_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage)  # mistakes an included .cpp file for a header
    endif()
  endif()
endfunction()

# Clones share what clang compiled with a target's precompiled headers: ccache makes the path of the header relative,
# and hashes the text of the headers, because the precompiled ones contain the clone's path.
function(sherd_share_precompiled target headers)
  list(TRANSFORM headers REPLACE "(.+)" "#include \\1\n" OUTPUT_VARIABLE text)
  list(JOIN text "" text)
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/${target}_text.cc "${text}")
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 -E -P ${CMAKE_CURRENT_BINARY_DIR}/${target}_text.cc
    OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  string(SHA256 sum "${text}")
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/cmake_pch.hxx.pch.sum ${sum})
  set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -include <PCH_HEADER> PARENT_SCOPE)
endfunction()

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(NOT CMAKE_BUILD_TYPE AND NOT multi_config)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug, RelWithDebInfo or MinSizeRel" FORCE)
  endif()
  find_program(SHERD_CCACHE ccache)
  if(SHERD_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # Clones share compiled objects: paths below the tree are hashed relative to it, and the clone's own path is not
    # hashed. The language of warnings is hashed, so it is the same for all; Python sets LC_CTYPE if LANG is not set.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env --unset=LC_ALL --unset=LC_CTYPE --unset=LC_MESSAGES LANG=C.UTF-8
      CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=true CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_PCH_EXTSUM=true
      ${SHERD_CCACHE})
    set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
  endif()
endif()
