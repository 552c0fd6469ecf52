# Unity builds: several C++ files of one layer or test program compile as one, since compiling a file takes
# most of its time for headers. Names in anonymous namespaces must therefore differ within a layer. -DHONE_UNITY=OFF
# compiles file by file.
option(HONE_UNITY "compile several C++ files of a layer or test program as one" ON)
set(HONE_UNITY_BATCH 12 CACHE STRING "how many files at most; 0: all files of a layer")
mark_as_advanced(HONE_UNITY_BATCH)
function(hone_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${HONE_UNITY} UNITY_BUILD_BATCH_SIZE ${HONE_UNITY_BATCH})
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.c$")
  if(sources)
    set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
  endif()
endfunction()

# Layers in which a tuning job spends its time: proposing, lowering, compiling and timing candidates, and those of
# lib/runtime. All others are compiled with -O1, which takes two thirds of the time of -O2. Making a candidate's steps
# (op, schedule) takes below 1 % of the time of compiling it.
set(HONE_FAST_LAYERS task ir semantics arith search_space search_cost search_feature search_tuner codegen_elf
    codegen_llvm lower compile measure)

# hone_optimize(TARGET LEVEL), hone_optimize_sources(LEVEL FILE...): a release build compiles it with LEVEL instead of
# -O2. Builds with sanitizers have one level for everything.
function(hone_optimize target level)
  if(NOT HONE_FUZZ AND NOT HONE_TSAN)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${level}>)
  endif()
endfunction()
function(hone_optimize_sources level)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  if(NOT HONE_FUZZ AND NOT HONE_TSAN)
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:${level}>)
  endif()
endfunction()

# hone_layer(NAME SOURCES a.cc ... [DEPS layer...] [LIBS target...]): one static library for one folder of lib/.
# NAME is the folder with '/' replaced by '_' (codegen/llvm -> codegen_llvm); DEPS are other layers, same spelling.
function(hone_layer name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS;LIBS" ${ARGN})
  add_library(hone_${name} STATIC ${arg_SOURCES})
  hone_unity(hone_${name})
  hone_use_headers(hone_${name} hone_layer_headers)
  if(NOT name IN_LIST HONE_FAST_LAYERS AND NOT name MATCHES "^runtime_")
    hone_optimize(hone_${name} -O1)
  endif()
  list(TRANSFORM arg_DEPS PREPEND hone_)
  target_link_libraries(hone_${name} PUBLIC ${arg_DEPS} PRIVATE ${arg_LIBS})
endfunction()

# hone_backends(RESULT): the folders of the back ends, as lib/target/backends.def names them.
function(hone_backends result)
  set(table ${CMAKE_SOURCE_DIR}/lib/target/backends.def)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${table})
  file(STRINGS ${table} lines REGEX "^HONE_BACKEND\\(")
  list(TRANSFORM lines REPLACE "^HONE_BACKEND\\(([a-z0-9_]+).*" "\\1")
  set(${result} ${lines} PARENT_SCOPE)
endfunction()

# hone_backend_sources(FILE): sets HONE_BACKEND_SOURCES to the calling layer's FOLDER/FILE of each back end that has
# such a file.
function(hone_backend_sources file)
  hone_backends(folders)
  set(sources)
  foreach(folder ${folders})
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/${file})
      list(APPEND sources ${folder}/${file})
    endif()
  endforeach()
  set(HONE_BACKEND_SOURCES ${sources} PARENT_SCOPE)
endfunction()

# hone_backend_layers(PARENT): sets HONE_BACKEND_LAYERS to the layer lib/PARENT/FOLDER of each back end that has one.
function(hone_backend_layers parent)
  hone_backends(folders)
  set(layers)
  foreach(folder ${folders})
    if(EXISTS ${CMAKE_SOURCE_DIR}/lib/${parent}/${folder}/CMakeLists.txt)
      list(APPEND layers ${parent}_${folder})
    endif()
  endforeach()
  set(HONE_BACKEND_LAYERS ${layers} PARENT_SCOPE)
endfunction()

# `ninja tools` builds all programs that users need, without tests and benchmarks.
add_custom_target(tools)

# hone_tool(NAME DEPS layer...): tools/<dir>/main.cc of the calling folder as the program NAME.
function(hone_tool name)
  cmake_parse_arguments(arg "" "" "DEPS;LIBS" ${ARGN})
  add_executable(${name} main.cc)
  hone_optimize(${name} -O1)
  list(TRANSFORM arg_DEPS PREPEND hone_)
  target_link_libraries(${name} PRIVATE ${arg_DEPS} ${arg_LIBS})
  add_dependencies(tools ${name})
endfunction()

# hone_test(NAME SOURCES x_test.cc ... DEPS layer... [LABELS l...] [MEASURES]): one GoogleTest program = one ctest test.
# LABELS: cli, error, fault and device run real tools; `make test` skips those. MEASURES: its tools take the machine lock
# to time kernels, so no two such programs run at the same time: they would wait for each other.
function(hone_test name)
  cmake_parse_arguments(arg "MEASURES" "" "SOURCES;DEPS;LIBS;LABELS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  hone_unity(${name})
  hone_use_headers(${name} hone_test_headers)
  list(TRANSFORM arg_DEPS PREPEND hone_)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${arg_DEPS} ${arg_LIBS} GTest::gtest GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  if(arg_LABELS)
    set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" COST 60)  # long: begins before the others
  endif()
  if(arg_MEASURES)
    set_tests_properties(${name} PROPERTIES RESOURCE_LOCK machine)
  endif()
endfunction()

# hone_test_library(NAME SOURCES x.cc ... DEPS layer...): files that several test programs share, as the library
# hone_NAME, which they name in their DEPS.
function(hone_test_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_library(hone_${name} STATIC ${arg_SOURCES})
  hone_unity(hone_${name})
  # As in a program, for which the headers are precompiled.
  set_target_properties(hone_${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(hone_${name} PRIVATE -fPIE)
  hone_use_headers(hone_${name} hone_test_headers)
  list(TRANSFORM arg_DEPS PREPEND hone_)
  target_include_directories(hone_${name} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(hone_${name} PUBLIC ${arg_DEPS} GTest::gtest)
endfunction()

# hone_plugin(NAME SOURCES x.cc ...): user-defined operators and rules (lib/plugin/plugin.h) as bin/plugins/NAME.so. It
# contains its own copy of the layers it uses and exports only the functions that the tools look for. `ninja tools`
# builds those of examples/.
function(hone_plugin name)
  cmake_parse_arguments(arg "" "" "SOURCES" ${ARGN})
  add_library(${name} MODULE ${arg_SOURCES})
  target_compile_definitions(${name} PRIVATE HONE_PLUGIN)
  # Static variables of templates are separate in each plugin.
  target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
  set_target_properties(${name} PROPERTIES PREFIX "" CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
                        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin/plugins)
  target_link_libraries(${name} PRIVATE hone_op hone_sketch)
  target_link_options(${name} PRIVATE LINKER:--exclude-libs,ALL LINKER:-z,defs LINKER:--gc-sections)
endfunction()

# Adds subdirectories in the given order; a layer's CMakeLists.txt lists its sources. A missing one is an error.
function(hone_subdirectories)
  foreach(dir ${ARGN})
    add_subdirectory(${dir})
  endforeach()
endfunction()
