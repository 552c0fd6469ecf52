// Text for a terminal as much as for Markdown.
#pragma once

#include <string>
#include <vector>

namespace hone::report {

// One line of plain characters, at most `width` of them: no control characters (a terminal obeys them), no table
// borders, and nothing that Markdown would take for a tag or a link. Bytes that are not UTF-8 become question marks.
std::string Plain(const std::string& text, size_t width);

// A Markdown table whose columns line up: the first ones to the left, the last `numbers` to the right.
std::string TextTable(const std::vector<std::vector<std::string>>& rows, size_t numbers);

}  // namespace hone::report
