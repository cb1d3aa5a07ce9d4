# cmake --install: the library, its headers, the package files for find_package and pkg-config, and the command.
include(CMakePackageConfigHelpers)
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sherd)

install(TARGETS sherd EXPORT sherd)
install(FILES LICENSE LICENSES/zstd.txt DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/sherd)
install(DIRECTORY include/sherd DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
install(EXPORT sherd NAMESPACE sherd:: FILE sherd-targets.cmake DESTINATION ${config_dir})
if(TARGET sherd_command)
  install(TARGETS sherd_command)
endif()

# Completion scripts come from the command itself, so they are there where it can run.
function(install_completion shell file folder)
  set(script ${PROJECT_BINARY_DIR}/completion/${file})
  add_custom_command(OUTPUT ${script} COMMAND sherd_command completion ${shell} > ${script} VERBATIM)
  add_custom_target(sherd_completion_${shell} ALL DEPENDS ${script})
  install(FILES ${script} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder})
endfunction()
if(TARGET sherd_command AND NOT CMAKE_CROSSCOMPILING)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/completion)
  install_completion(bash sherd bash-completion/completions)
  install_completion(zsh _sherd zsh/site-functions)
  install_completion(fish sherd.fish fish/vendor_completions.d)
endif()

# A shared Sherd carries no trace of the libraries below it; a static one hands them on.
set(link_dependencies "")
set(pc_requires "")
set(pc_libs "-lsherd")
if(NOT BUILD_SHARED_LIBS)
  set(draco OFF)
  if(SHERD_DRACO_MODULES)
    set(draco ON)
  endif()
  set(zfp OFF)
  if(SHERD_ZFP_LIBRARY)
    set(zfp ON)
    set(pc_zfp " -lzfp")
  endif()
  set(szip OFF)
  if(SHERD_SZIP_LIBRARY)
    set(szip ON)
    set(pc_szip " -laec")
  endif()
  string(CONCAT link_dependencies "set(SHERD_DRACO ${draco})\nset(SHERD_ZFP ${zfp})\nset(SHERD_SZIP ${szip})\n"
    "set(SHERD_NETCDF OFF)\n"
    "include(\${CMAKE_CURRENT_LIST_DIR}/Dependencies.cmake)")
  install(FILES cmake/Dependencies.cmake DESTINATION ${config_dir})
  list(JOIN SHERD_COMPRESSION_MODULES " " compression)
  list(JOIN SHERD_IMAGE_MODULES " " images)
  set(pc_requires "${compression} ${images} ${SHERD_DRACO_MODULES}")
  set(pc_libs "-lsherd -lbz2${pc_zfp}${pc_szip} -pthread")
endif()

configure_package_config_file(cmake/sherd-config.cmake.in sherd-config.cmake INSTALL_DESTINATION ${config_dir}
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(sherd-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/sherd-config.cmake ${PROJECT_BINARY_DIR}/sherd-config-version.cmake
  DESTINATION ${config_dir})

# Relative, for `cmake --install --prefix` may move it all.
file(RELATIVE_PATH pc_up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/sherd.pc.in sherd.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/sherd.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
