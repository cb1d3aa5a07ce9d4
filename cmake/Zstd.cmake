# Compiles libzstd into the engine if script/bootstrap fetched its source: Debian 12's 1.5.4 takes up to four times as
# long to compress a chunk. Its symbols are hidden, because libblosc loads the system's libzstd as well; a static Sherd
# would expose both to its user, so it uses the system's.
set(zstd_source ${PROJECT_SOURCE_DIR}/.cache/zstd)
if(NOT EXISTS ${zstd_source}/zstd.c OR NOT BUILD_SHARED_LIBS)
  set(zstd_source "")
endif()
set(SHERD_ZSTD_SOURCE "${zstd_source}" CACHE PATH "Folder of libzstd's source as one zstd.c; empty for the system's libzstd")

if(SHERD_ZSTD_SOURCE)
  add_library(sherd_zstd STATIC ${SHERD_ZSTD_SOURCE}/zstd.c)
  set_target_properties(sherd_zstd PROPERTIES C_VISIBILITY_PRESET hidden)
  target_compile_definitions(sherd_zstd PRIVATE ZSTDLIB_VISIBLE= ZSTDERRORLIB_VISIBLE= ZDICTLIB_VISIBLE=)
  target_include_directories(sherd_zstd SYSTEM INTERFACE ${SHERD_ZSTD_SOURCE})
endif()
