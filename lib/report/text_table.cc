#include "report/text_table.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "base/utf8.h"

namespace hone::report {

std::string Plain(const std::string& text, size_t width) {
  std::vector<std::string> out;
  for (std::string_view rest = text; !rest.empty() && out.size() <= width;) {
    const size_t length = SequenceLength(rest);
    const std::string_view sequence = rest.substr(0, length);
    const bool bad = length == 0 || IsControl(sequence) || sequence == "\n" || sequence == "\t";
    // "<b>" and "[text](address)" would be markup, "|" the end of a cell.
    const bool link = sequence == "(" && !out.empty() && out.back() == "]";
    out.emplace_back(bad ? "?" : link ? "{" : sequence == "|" ? "/" : sequence == "<" ? "\xE2\x80\xB9" : sequence);
    rest.remove_prefix(std::max<size_t>(length, 1));
  }
  if (out.size() > width) {
    out.resize(width);
    for (size_t i = width - std::min<size_t>(width, 2); i < width; ++i) out[i] = ".";
  }
  return Join(out, "");
}

namespace {

size_t Width(const std::string& text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

}  // namespace

std::string TextTable(const std::vector<std::vector<std::string>>& rows, size_t numbers) {
  std::vector<size_t> widths(rows[0].size(), 3);
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Width(row[i]));
  }
  std::string text;
  for (size_t r = 0; r < rows.size(); ++r) {
    std::string rule;
    for (size_t i = 0; i < rows[r].size(); ++i) {
      const bool right = i + numbers >= rows[r].size();
      const std::string space(widths[i] - Width(rows[r][i]), ' ');
      text += "| " + (right ? space + rows[r][i] : rows[r][i] + space) + " ";
      rule += "|" + std::string(widths[i] + 1, '-') + (right ? ":" : "-");
    }
    text += "|\n";
    if (r == 0) text += rule + "|\n";
  }
  return text;
}

}  // namespace hone::report
