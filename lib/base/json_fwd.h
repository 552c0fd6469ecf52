// The name of the JSON type for headers; base/json.h has the whole. Objects keep the order of their keys.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace hone {
using Json = nlohmann::ordered_json;
}  // namespace hone
