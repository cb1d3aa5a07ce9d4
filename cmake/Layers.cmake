# A layer is a folder of src/, compiled to an object library; docs/architecture.md describes each one. They are listed
# lowest first: a layer may use only those before it. The target sherd_layers makes the linker check this: it links
# every layer with the lower ones and nothing else.
set(SHERD_LAYERS base os codec store remote shard node array format draft2022 neuroglancer netcdf ome io image copy check api)
set(SHERD_OBJECTS)

configure_file(cmake/version.cpp.in version.cpp @ONLY)
add_custom_target(sherd_layers)

function(sherd_add_layer layer)
  add_library(sherd_${layer} OBJECT ${ARGN})
  target_include_directories(sherd_${layer} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_compile_options(sherd_${layer} PRIVATE ${SHERD_WARNINGS})
  target_link_libraries(sherd_${layer} PRIVATE ${SHERD_LIBRARIES})
  if(SHERD_FUZZ)
    target_compile_options(sherd_${layer} PRIVATE -fsanitize=fuzzer-no-link)  # which branches an input reaches
  endif()
  set(objects ${SHERD_OBJECTS} $<TARGET_OBJECTS:sherd_${layer}>)
  set(SHERD_OBJECTS ${objects} PARENT_SCOPE)

  add_library(sherd_upto_${layer} MODULE EXCLUDE_FROM_ALL ${objects})
  set_target_properties(sherd_upto_${layer} PROPERTIES LINKER_LANGUAGE CXX
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/layers)
  target_link_libraries(sherd_upto_${layer} PRIVATE ${SHERD_LIBRARIES})
  target_link_options(sherd_upto_${layer} PRIVATE -Wl,-z,defs)
  add_dependencies(sherd_layers sherd_upto_${layer})
endfunction()

foreach(layer IN LISTS SHERD_LAYERS)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${layer}/*.cpp ${PROJECT_SOURCE_DIR}/src/${layer}/*/*.cpp)
  if(layer STREQUAL base)
    list(APPEND sources ${PROJECT_BINARY_DIR}/version.cpp)
  endif()
  if(sources)
    sherd_add_layer(${layer} ${sources})
    sherd_compile_together(sherd_${layer})
  endif()
endforeach()

if(SHERD_NETCDF_LIBRARY)
  target_compile_definitions(sherd_io PRIVATE SHERD_NETCDF="${SHERD_NETCDF_LIBRARY}")
  target_include_directories(sherd_io SYSTEM PRIVATE ${SHERD_NETCDF_C_INCLUDE_DIRS})
endif()
# libcurl and libcrypto are loaded when the first server is read, and never linked (src/remote/libraries.hpp).
pkg_check_modules(SHERD_REMOTE REQUIRED libcurl libcrypto)
if(SHERD_REMOTE_INCLUDE_DIRS)
  target_include_directories(sherd_remote SYSTEM PRIVATE ${SHERD_REMOTE_INCLUDE_DIRS})
endif()
if(SHERD_DRACO_MODULES)
  target_compile_definitions(sherd_neuroglancer PRIVATE SHERD_DRACO)
endif()
foreach(component ZFP SZIP)
  if(SHERD_${component}_LIBRARY)
    string(TOLOWER ${component} codec)
    file(GLOB codec_sources ${PROJECT_SOURCE_DIR}/src/codec/${codec}*.cpp)
    set_source_files_properties(${codec_sources} PROPERTIES COMPILE_DEFINITIONS SHERD_${component})
  endif()
endforeach()
