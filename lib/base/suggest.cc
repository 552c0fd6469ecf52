#include "base/suggest.h"

#include <algorithm>

#include "base/text.h"

namespace hone {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

int EditDistance(std::string_view a, std::string_view b) {
  // Three rows of the optimal string alignment table: two back, one back, current.
  std::vector<int> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, above);
    std::swap(above, row);
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      int change = Lower(a[i - 1]) == Lower(b[j - 1]) ? 0 : 1;
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + change});
      bool swapped = i > 1 && j > 1 && Lower(a[i - 1]) == Lower(b[j - 2]) && Lower(a[i - 2]) == Lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::optional<std::string> Suggest(std::string_view word, const std::vector<std::string>& candidates) {
  int limit = std::max<int>(1, static_cast<int>(word.size()) / 3);
  const std::string* best = nullptr;
  for (const std::string& candidate : candidates) {
    int distance = EditDistance(word, candidate);
    // If half of a short word differs, it is another word and not a typing error.
    if (distance > limit || 2 * distance > static_cast<int>(std::max(word.size(), candidate.size()))) continue;
    best = &candidate;
    limit = distance - 1;
  }
  if (best == nullptr) return std::nullopt;
  return *best;
}

std::string SuggestionText(std::string_view word, const std::vector<std::string>& candidates) {
  if (std::optional<std::string> near = Suggest(word, candidates)) return "; did you mean `" + *near + "`?";
  return candidates.empty() ? "" : "; known: " + Join(candidates, ", ");
}

}  // namespace hone
