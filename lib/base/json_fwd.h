// Declares the JSON type for headers; base/json.h defines it. Objects keep the order of their keys.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace hone {
using Json = nlohmann::ordered_json;
}  // namespace hone
