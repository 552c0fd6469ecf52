// The version of Hone, as CMakeLists.txt has it.
#pragma once

namespace hone {
inline constexpr char kVersion[] = HONE_VERSION;
}  // namespace hone
