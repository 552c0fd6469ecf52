// "Did you mean": the closest known word to an unknown one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

// The number of edits (insert, delete or change a character, swap two neighbours) that turn a into b, ignoring case.
// Works on bytes, not characters.
int EditDistance(std::string_view a, std::string_view b);

// The closest candidate (the first in a tie) if its distance is small enough for a typing error: at most a third of the
// word's length, but at least 1. Else nothing.
std::optional<std::string> Suggest(std::string_view word, const std::vector<std::string>& candidates);

// "; did you mean `x`?", or "; known: a, b, c" without a close candidate, or "" without candidates.
std::string SuggestionText(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace hone
