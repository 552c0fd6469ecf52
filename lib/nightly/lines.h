// Append-only files with one JSON object per line: shared code of all readers in this folder. Heavy, like
// base/fields.h.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fields.h"
#include "nightly/history.h"

namespace hone::nightly {

void ListLayers(Fields* f, std::vector<Layer>* layers);  // "layers": [[NODE, SECONDS], ..]; optional

// Parses every complete line as a T, by its ListFields. Ignores a last line without a newline. A malformed line is
// skipped, and `damaged` gets the reason. Returns kUnsupported for a line of a newer version.
template <typename T>
Result<std::vector<T>> ParseLines(std::string_view text, const std::string& path, std::vector<std::string>* damaged) {
  std::vector<T> items;
  int line = 0;
  for (size_t end; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1)) {
    Result<T> item = ParseFields<T>(text.substr(0, end), fmt::format("{}, line {}", path, ++line));
    if (item.ok()) {
      items.push_back(std::move(*item));
    } else if (item.status().kind() == StatusKind::kUnsupported) {
      return item.status();
    } else {
      damaged->push_back(item.status().message());
    }
  }
  return items;
}

}  // namespace hone::nightly
