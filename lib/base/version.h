// The version of Hone, from CMakeLists.txt, and the versions of parts that results depend on.
#pragma once

#include <string_view>

namespace hone {

inline constexpr char kVersion[] = HONE_VERSION;

// The version of a part ("codegen", "protocol", a template's name): `own`, unless a test overrides it.
int VersionOf(std::string_view part, int own);

// For tests of raised versions: overrides them by "dense_packed=9,codegen=4". Call it once, before VersionOf. Ignores
// a malformed list.
void PretendVersions(std::string_view text);

}  // namespace hone
