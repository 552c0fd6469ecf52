# Shortens a full build: headers that nearly every file includes are precompiled.
option(HONE_PRECOMPILE "read the common headers once and not in each file" ON)

# hone_headers(NAME KIND HEADER... [LIBS target...]): precompiled headers for targets of KIND, OBJECT (for libraries, whose
# code is position-independent) or EXECUTABLE. LIBS: targets whose definitions affect the headers;
# users of the headers must link them. Files compiled with other settings read the headers as usual.
function(hone_headers name kind)
  cmake_parse_arguments(arg "" "" "LIBS" ${ARGN})
  set(source ${CMAKE_BINARY_DIR}/${name}.cc)
  if(kind STREQUAL EXECUTABLE)
    file(CONFIGURE OUTPUT ${source} CONTENT "int main() {}\n")
    add_executable(${name} EXCLUDE_FROM_ALL ${source})
  else()
    file(CONFIGURE OUTPUT ${source} CONTENT "")
    add_library(${name} OBJECT EXCLUDE_FROM_ALL ${source})
  endif()
  target_link_libraries(${name} PRIVATE fmt::fmt ${arg_LIBS})
  if(HONE_PRECOMPILE)
    target_precompile_headers(${name} PRIVATE ${arg_UNPARSED_ARGUMENTS})
  endif()
endfunction()

# hone_use_headers(TARGET NAME): TARGET uses the precompiled headers NAME.
function(hone_use_headers target name)
  target_link_libraries(${target} PRIVATE fmt::fmt)
  if(HONE_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${name})
  endif()
endfunction()

set(common <fmt/format.h> <algorithm> <cstdint> <functional> <map> <memory> <optional> <set> <string> <utility> <vector>)
hone_headers(hone_layer_headers OBJECT ${common} <nlohmann/json.hpp>)
hone_headers(hone_test_headers EXECUTABLE ${common} <gtest/gtest.h> LIBS GTest::gtest)
hone_optimize(hone_test_headers -O0)  # as tests/CMakeLists.txt
