// Small functions on text, and suggestions for mistyped words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hone {

// The pieces between separators, including empty ones: Split("a,,b", ',') = {"a", "", "b"}; Split("", ',') = {""}.
std::vector<std::string> Split(std::string_view text, char separator);

// The pieces between runs of spaces, tabs and newlines; never empty ones.
std::vector<std::string> SplitWords(std::string_view text);

std::string_view Trim(std::string_view text);  // without spaces, tabs, newlines at both ends; a view of `text`
std::string Join(const std::vector<std::string>& pieces, std::string_view separator);
bool StartsWith(std::string_view text, std::string_view prefix);
bool EndsWith(std::string_view text, std::string_view suffix);
// Whether `name` is a valid job, target, task or network name: not empty, characters from [A-Za-z0-9_.-], no leading
// '.' or '-'.
bool IsPlainName(std::string_view name);
// Makes `text` one line that is harmless to a terminal: control characters, marks that change the direction of writing,
// and invalid UTF-8 become \n, \t, \r, \x1b, byte by byte.
std::string Printable(std::string_view text);
std::string PrintableLines(std::string_view text);  // the same, but newlines and tabs stay
// Cuts a longer text to `limit` bytes by replacing its middle with "...". Does not split UTF-8 characters. REQUIRES:
// limit >= 3
std::string CutMiddle(std::string_view text, size_t limit);
std::string ReplaceAll(std::string_view text, std::string_view from, std::string_view to);  // REQUIRES: from not empty

// The whole text as a decimal number; kInvalid for surrounding text, overflow, "", "+1". Doubles must be finite; the
// locale does not matter.
Result<int64_t> ParseInt(std::string_view text);
Result<double> ParseDouble(std::string_view text);
Result<double> ParseReal(std::string_view text);  // also accepts "inf" and "-inf"

// The shortest decimal text that reads back as exactly `value`.
std::string FormatDouble(double value);

std::string FormatSeconds(double seconds);                  // three digits and a unit: "1.23 ms", "45.0 us", "12.3 s"
std::string FormatCount(int64_t count);                     // "1,234,567"
std::string FormatSi(double value, std::string_view unit);  // three digits: FormatSi(3.63e9, "FLOP") = "3.63 GFLOP"

// Replacement for invalid bytes: U+FFFD.
inline constexpr char kReplacementCharacter[] = "\xEF\xBF\xBD";

// UTF-8 from untrusted bytes: the length of the UTF-8 sequence at the front of `text`; 0 if it is not valid (RFC 3629:
// no overlong forms, no surrogates).
size_t SequenceLength(std::string_view text);

// Whether a terminal or a browser obeys this sequence instead of showing it: control characters of ASCII except tab and
// newline, those of C1 (U+0080 to U+009F), marks that change the direction of the surrounding text (U+200E, U+200F,
// U+202A to U+202E, U+2066 to U+2069), and U+FFFE and U+FFFF, which are not XML characters.
bool IsControl(std::string_view sequence);

// The number of edits (insert, delete or change a character, swap two neighbours) that turn a into b, ignoring case.
// Works on bytes, not characters.
int EditDistance(std::string_view a, std::string_view b);

// The closest candidate (the first in a tie) if its distance is small enough for a typing error: at most a third of the
// word's length, but at least 1. Else nothing.
std::optional<std::string> Suggest(std::string_view word, const std::vector<std::string>& candidates);

// "; did you mean `x`?", or "; known: a, b, c" without a close candidate, or "" without candidates.
std::string SuggestionText(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace hone
