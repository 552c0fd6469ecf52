// Files of lines, a JSON object each, that are only ever appended to: what all readers of this folder share.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "nightly/history.h"

namespace hone {
class Fields;
class JsonReader;
}

namespace hone::nightly {

void ListLayers(Fields* f, std::vector<Layer>* layers);  // "layers": [[NODE, SECONDS], ..]; may be missing

// Calls `read` for every whole line. A last line without its newline is left out and counts as `torn`; one that is no
// JSON, or that `read` refuses, is left out and `damaged` says why. Only kUnsupported, of a newer version, is passed
// on.
Status ForEachLine(std::string_view text, const std::string& path, int* torn, std::vector<std::string>* damaged,
                   const std::function<Status(JsonReader*)>& read);

}  // namespace hone::nightly
