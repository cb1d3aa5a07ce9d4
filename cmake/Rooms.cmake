# A room is a folder of src/, compiled to an object library. Rooms stand in layer order: each may use those before it.
# The target sherd_layers proves that to the linker: it links every room with the rooms before it and nothing else.
set(SHERD_ROOMS base os codec store shard kv array format precomputed tools)
set(SHERD_OBJECTS)

configure_file(cmake/version.cpp.in version.cpp @ONLY)
add_custom_target(sherd_layers)

function(sherd_add_room room)
  add_library(sherd_${room} OBJECT ${ARGN})
  target_include_directories(sherd_${room} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_compile_options(sherd_${room} PRIVATE ${SHERD_WARNINGS})
  target_link_libraries(sherd_${room} PRIVATE ${SHERD_LIBRARIES})
  set(objects ${SHERD_OBJECTS} $<TARGET_OBJECTS:sherd_${room}>)
  set(SHERD_OBJECTS ${objects} PARENT_SCOPE)

  add_library(sherd_upto_${room} MODULE EXCLUDE_FROM_ALL ${objects})
  set_target_properties(sherd_upto_${room} PROPERTIES LINKER_LANGUAGE CXX
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/layers)
  target_link_libraries(sherd_upto_${room} PRIVATE ${SHERD_LIBRARIES})
  target_link_options(sherd_upto_${room} PRIVATE -Wl,-z,defs)
  add_dependencies(sherd_layers sherd_upto_${room})
endfunction()

foreach(room IN LISTS SHERD_ROOMS)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}/*.cpp)
  if(room STREQUAL base)
    list(APPEND sources ${PROJECT_BINARY_DIR}/version.cpp)
  endif()
  if(sources)
    sherd_add_room(${room} ${sources})
  endif()
endforeach()

if(SHERD_DRACO_MODULES)
  target_compile_definitions(sherd_precomputed PRIVATE SHERD_DRACO)
endif()

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.cpp)
if(sources)
  sherd_add_room(registry ${sources})
endif()
