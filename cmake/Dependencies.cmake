# The libraries below the engine, all private to it. An installed static Sherd looks them up with this file too.
# Global targets, so that a project that adds a static Sherd as a subdirectory can link them.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
set(SHERD_COMPRESSION_MODULES libdeflate libisal zlib liblz4 liblzma blosc)
set(SHERD_IMAGE_MODULES libjpeg libpng libtiff-4 pugixml)

if(TARGET sherd_zstd)
  set(SHERD_ZSTD_LIBRARY sherd_zstd)
else()
  list(APPEND SHERD_COMPRESSION_MODULES libzstd)
  set(SHERD_ZSTD_LIBRARY PkgConfig::SHERD_COMPRESSION)
endif()

find_package(Threads REQUIRED)
find_package(BZip2 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(SHERD_COMPRESSION REQUIRED IMPORTED_TARGET GLOBAL ${SHERD_COMPRESSION_MODULES})
if(NOT TARGET sherd_zstd AND SHERD_COMPRESSION_libzstd_VERSION VERSION_LESS 1.5.4)
  message(FATAL_ERROR "Sherd needs libzstd 1.5.4 or newer; this is ${SHERD_COMPRESSION_libzstd_VERSION}")
endif()
pkg_check_modules(SHERD_IMAGES REQUIRED IMPORTED_TARGET GLOBAL ${SHERD_IMAGE_MODULES})
unset(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL)

# An installed static Sherd comes here with SHERD_DRACO ON or OFF, as it was built.
if(NOT DEFINED SHERD_DRACO)
  set(SHERD_DRACO AUTO CACHE STRING "Decode Draco fragments of meshes with libdraco: ON, OFF, AUTO: where it is installed")
endif()
set(SHERD_DRACO_MODULES "")
if(SHERD_DRACO STREQUAL AUTO)
  pkg_check_modules(SHERD_MESHES IMPORTED_TARGET GLOBAL draco)
elseif(SHERD_DRACO)
  pkg_check_modules(SHERD_MESHES REQUIRED IMPORTED_TARGET GLOBAL draco)
endif()

set(SHERD_LIBRARIES ${SHERD_ZSTD_LIBRARY} PkgConfig::SHERD_COMPRESSION PkgConfig::SHERD_IMAGES BZip2::BZip2 Threads::Threads)
if(TARGET PkgConfig::SHERD_MESHES)
  list(APPEND SHERD_LIBRARIES PkgConfig::SHERD_MESHES)
  set(SHERD_DRACO_MODULES draco)
endif()
