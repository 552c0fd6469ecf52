// "Did you mean": the closest known word to an unknown one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

// Edits (insert, delete, change a character, swap two neighbours) that lead from a to b; upper and lower case
// count as equal. Bytes, not characters.
int EditDistance(std::string_view a, std::string_view b);

// The candidate with the smallest distance (the first of equals) if that is near enough to be a slip: at most a third
// of the word's length, at least 1; else nothing.
std::optional<std::string> Suggest(std::string_view word, const std::vector<std::string>& candidates);

// "; did you mean `x`?", or, without a near candidate, "; known: a, b, c" (or nothing if there are none).
std::string SuggestionText(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace hone
