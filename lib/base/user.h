// Whose process this is.
#pragma once

#include <string>

namespace hone {

std::string UserName();  // its number, if it has none

}  // namespace hone
