# The libraries that the engine uses, all private to it. An installed static Sherd includes this file too. The targets
# are global, so that a project that adds a static Sherd as a subdirectory can link them.
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

# An installed static Sherd includes this file with SHERD_DRACO set to ON or OFF, as it was built.
if(NOT DEFINED SHERD_DRACO)
  set(SHERD_DRACO AUTO CACHE STRING "Decode Draco fragments of meshes with libdraco: ON, OFF, AUTO: where it is installed")
endif()
set(SHERD_DRACO_MODULES "")
if(SHERD_DRACO STREQUAL AUTO)
  pkg_check_modules(SHERD_MESHES IMPORTED_TARGET GLOBAL draco)
elseif(SHERD_DRACO)
  pkg_check_modules(SHERD_MESHES REQUIRED IMPORTED_TARGET GLOBAL draco)
endif()

# libnetcdf is loaded when the first netCDF file is opened, and never linked: it depends on some forty other libraries,
# which would add several milliseconds to every start of the command. Only its headers are needed here.
if(NOT DEFINED SHERD_NETCDF)
  set(SHERD_NETCDF AUTO CACHE STRING "Read and write netCDF files with libnetcdf: ON, OFF, AUTO: where it is installed")
endif()
set(SHERD_NETCDF_LIBRARY "")
if(SHERD_NETCDF STREQUAL AUTO)
  pkg_check_modules(SHERD_NETCDF_C netcdf>=4.9)
elseif(SHERD_NETCDF)
  pkg_check_modules(SHERD_NETCDF_C REQUIRED netcdf>=4.9)
endif()
if(SHERD_NETCDF_C_FOUND AND SHERD_NETCDF)
  find_library(SHERD_NETCDF_C_PATH netcdf REQUIRED HINTS ${SHERD_NETCDF_C_LIBRARY_DIRS})
  file(REAL_PATH ${SHERD_NETCDF_C_PATH} netcdf_file)
  cmake_path(GET netcdf_file FILENAME netcdf_file)
  # The dynamic linker knows it by a name with the first number only.
  string(REGEX REPLACE "(\\.so\\.[0-9]+).*" "\\1" SHERD_NETCDF_LIBRARY ${netcdf_file})
endif()

# Components that consist of one library and may have no pkg-config module: ON, OFF or AUTO (if it is installed). zfp's
# own CMake package is not used, since it requires OpenMP of every project that links it.
macro(sherd_component name codecs library header package)
  if(NOT DEFINED SHERD_${name})
    set(SHERD_${name} AUTO CACHE STRING "Build ${codecs} with ${library}: ON, OFF, AUTO: where it is installed")
  endif()
  set(SHERD_${name}_LIBRARY "")
  if(SHERD_${name})
    find_library(SHERD_${name}_FILE ${library})
    find_path(SHERD_${name}_INCLUDE_DIR ${header})
    if(SHERD_${name}_FILE AND SHERD_${name}_INCLUDE_DIR)
      if(NOT TARGET sherd_lib${library})
        add_library(sherd_lib${library} UNKNOWN IMPORTED GLOBAL)
        set_target_properties(sherd_lib${library} PROPERTIES IMPORTED_LOCATION ${SHERD_${name}_FILE}
          INTERFACE_INCLUDE_DIRECTORIES ${SHERD_${name}_INCLUDE_DIR})
      endif()
      set(SHERD_${name}_LIBRARY sherd_lib${library})
    elseif(NOT SHERD_${name} STREQUAL AUTO)
      message(FATAL_ERROR "SHERD_${name} is ON, and ${library} was not found; install ${package}")
    endif()
  endif()
endmacro()
sherd_component(ZFP "the codecs zfp and zfpy" zfp zfp.h libzfp-dev)
sherd_component(SZIP "the codec szip" aec libaec.h libaec-dev)

set(SHERD_LIBRARIES ${SHERD_ZSTD_LIBRARY} PkgConfig::SHERD_COMPRESSION PkgConfig::SHERD_IMAGES BZip2::BZip2 Threads::Threads
  ${CMAKE_DL_LIBS} ${SHERD_ZFP_LIBRARY} ${SHERD_SZIP_LIBRARY})
if(TARGET PkgConfig::SHERD_MESHES)
  list(APPEND SHERD_LIBRARIES PkgConfig::SHERD_MESHES)
  set(SHERD_DRACO_MODULES draco)
endif()
