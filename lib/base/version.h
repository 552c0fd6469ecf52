// The version of Hone, as CMakeLists.txt has it, and the versions of parts that results depend on.
#pragma once

#include <string>
#include <string_view>

namespace hone {

inline constexpr char kVersion[] = HONE_VERSION;

// The version of a part ("codegen", "protocol", a template's name): `own`, unless a test pretends another one.
int VersionOf(std::string_view part, int own);

// For tests of raised versions: "conv2d_direct=9,codegen=4". Call it once, before VersionOf. A malformed list is
// ignored.
void PretendVersions(std::string_view text);

}  // namespace hone
