# The Python package for scikit-build-core: the module sherd._sherd with its stubs, next to the files of python/sherd;
# and the sherd command, which is installed where the environment keeps its programs.
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
  OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE nanobind_ROOT COMMAND_ERROR_IS_FATAL ANY)
find_package(nanobind CONFIG REQUIRED)

add_custom_target(python_package)
file(GLOB python_sources CONFIGURE_DEPENDS python/*.cpp)
if(python_sources)
  nanobind_add_module(_sherd NB_STATIC NOMINSIZE ${python_sources})
  sherd_compile_together(_sherd)
  set_target_properties(nanobind-static PROPERTIES SYSTEM ON)  # its headers use other warnings
  target_include_directories(_sherd PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(_sherd PRIVATE ${SHERD_WARNINGS})
  target_link_libraries(_sherd PRIVATE sherd_engine)
  # The stub generator imports the package that signatures name. It must find this one, in its source folder: an
  # installed Sherd would load an older engine into the same process.
  set(stub_path ${PROJECT_BINARY_DIR}/stub)
  file(WRITE ${stub_path}/sherd.py "__path__ = ['${PROJECT_SOURCE_DIR}/python/sherd']\n")
  nanobind_add_stub(_sherd_stub MODULE _sherd OUTPUT _sherd.pyi PYTHON_PATH $<TARGET_FILE_DIR:_sherd> ${stub_path}
    DEPENDS _sherd)
  add_dependencies(python_package _sherd _sherd_stub)
  if(SKBUILD)
    install(TARGETS _sherd DESTINATION sherd)
    install(FILES ${PROJECT_BINARY_DIR}/_sherd.pyi DESTINATION sherd)
  endif()
endif()
if(TARGET sherd_command)
  add_dependencies(python_package sherd_command)
  if(SKBUILD)
    install(TARGETS sherd_command DESTINATION ${SKBUILD_SCRIPTS_DIR})
  endif()
endif()
