// The user of this process.
#pragma once

#include <string>

namespace hone {

std::string UserName();  // the numeric id if the user has no name

}  // namespace hone
