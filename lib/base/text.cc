#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace hone {
namespace {

constexpr std::string_view kSpaces = " \t\r\n\v\f";

// Three significant digits for 1 <= |value| < 1000: "1.23", "45.0", "678".
std::string ThreeDigits(double value) {
  double magnitude = std::fabs(value);
  int decimals = magnitude < 9.995 ? 2 : magnitude < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}", value, decimals);
}

template <typename T>
bool ParseWhole(std::string_view text, T* value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  for (;;) {
    size_t at = text.find(separator);
    pieces.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return pieces;
    text.remove_prefix(at + 1);
  }
}

std::vector<std::string> SplitWords(std::string_view text) {
  std::vector<std::string> words;
  for (;;) {
    size_t begin = text.find_first_not_of(kSpaces);
    if (begin == std::string_view::npos) return words;
    text.remove_prefix(begin);
    size_t end = text.find_first_of(kSpaces);
    words.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return words;
    text.remove_prefix(end);
  }
}

std::string_view Trim(std::string_view text) {
  size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return text.substr(0, 0);
  return text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1);
}

std::string Join(const std::vector<std::string>& pieces, std::string_view separator) {
  std::string joined;
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (i > 0) joined += separator;
    joined += pieces[i];
  }
  return joined;
}

bool StartsWith(std::string_view text, std::string_view prefix) { return text.starts_with(prefix); }

bool EndsWith(std::string_view text, std::string_view suffix) { return text.ends_with(suffix); }

bool IsPlainName(std::string_view name) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
  return !name.empty() && name[0] != '.' && name[0] != '-' &&
         name.find_first_not_of(kAllowed) == std::string_view::npos;
}

std::string Printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const size_t length = SequenceLength(text);
    const std::string_view sequence = text.substr(0, length);
    if (length > 0 && !IsControl(sequence) && sequence != "\n" && sequence != "\t") {
      shown += sequence;
      text.remove_prefix(length);
      continue;
    }
    const char c = text.front();
    shown += c == '\n'   ? "\\n"
             : c == '\t' ? "\\t"
             : c == '\r' ? "\\r"
                         : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    text.remove_prefix(1);
  }
  return shown;
}

std::string PrintableLines(std::string_view text) {
  std::string shown;
  for (;;) {
    const size_t end = text.find_first_of("\n\t");
    shown += Printable(text.substr(0, end));
    if (end == std::string_view::npos) return shown;
    shown += text[end];
    text.remove_prefix(end + 1);
  }
}

std::string CutMiddle(std::string_view text, size_t limit) {
  HONE_CHECK(limit >= 3);
  if (text.size() <= limit) return std::string(text);
  const auto inside = [&](size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
  };
  size_t head = (limit - 3) / 2, tail = text.size() - (limit - 3 - head);
  while (head > 0 && inside(head)) --head;
  while (inside(tail)) ++tail;
  return std::string(text.substr(0, head)) + "..." + std::string(text.substr(tail));
}

std::string ReplaceAll(std::string_view text, std::string_view from, std::string_view to) {
  HONE_CHECK(!from.empty());
  std::string replaced;
  for (;;) {
    size_t at = text.find(from);
    replaced += text.substr(0, at);
    if (at == std::string_view::npos) return replaced;
    replaced += to;
    text.remove_prefix(at + from.size());
  }
}

Result<int64_t> ParseInt(std::string_view text) {
  int64_t value = 0;
  if (!ParseWhole(text, &value)) return Status::Invalid("`" + std::string(text) + "` is not an integer");
  return value;
}

Result<double> ParseDouble(std::string_view text) {
  double value = 0;
  if (!ParseWhole(text, &value) || !std::isfinite(value)) {
    return Status::Invalid("`" + std::string(text) + "` is not a number");
  }
  return value;
}

Result<double> ParseReal(std::string_view text) {
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  return ParseDouble(text);
}

std::string FormatDouble(double value) {
  char text[64];
  auto [end, error] = std::to_chars(text, text + sizeof text, value);
  HONE_CHECK(error == std::errc());
  return std::string(text, end);
}

std::string FormatSeconds(double seconds) {
  double magnitude = std::fabs(seconds);
  if (!(magnitude < 999.5))
    return std::isfinite(seconds) ? fmt::format("{:.0f} s", seconds) : fmt::format("{} s", seconds);
  if (magnitude == 0) return "0 s";
  if (magnitude >= 0.9995) return ThreeDigits(seconds) + " s";
  if (magnitude >= 0.9995e-3) return ThreeDigits(seconds * 1e3) + " ms";
  if (magnitude >= 0.9995e-6) return ThreeDigits(seconds * 1e6) + " us";
  return ThreeDigits(seconds * 1e9) + " ns";
}

std::string FormatCount(int64_t count) {
  std::string digits = std::to_string(count);
  int first = count < 0 ? 1 : 0;
  for (int at = static_cast<int>(digits.size()) - 3; at > first; at -= 3) digits.insert(static_cast<size_t>(at), ",");
  return digits;
}

std::string FormatSi(double value, std::string_view unit) {
  static constexpr std::string_view kPrefixes[] = {"", "k", "M", "G", "T", "P"};
  size_t step = 0;
  while (std::fabs(value) >= 999.5 && step + 1 < std::size(kPrefixes)) {
    value /= 1000;
    ++step;
  }
  bool whole = step == 0 && value == std::floor(value);
  return fmt::format("{} {}{}", whole ? fmt::format("{:.0f}", value) : ThreeDigits(value), kPrefixes[step], unit);
}

size_t SequenceLength(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<uint8_t>(text[i]) : 0; };
  const auto tail = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const uint8_t first = byte(0), second = byte(1);
  if (text.empty()) return 0;
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return tail(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool bad = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F);
    return !bad && tail(1) && tail(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool bad = (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
    return !bad && tail(1) && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

bool IsControl(std::string_view sequence) {
  if (sequence.size() == 1) {
    const char c = sequence[0];
    return (c >= 0 && c < 0x20 && c != '\n' && c != '\t') || c == 0x7F;
  }
  if (sequence.size() == 2) return sequence[0] == '\xC2' && static_cast<uint8_t>(sequence[1]) < 0xA0;
  if (sequence.size() != 3) return false;
  const auto last = static_cast<uint8_t>(sequence[2]);
  if (sequence.substr(0, 2) == "\xE2\x80") return last == 0x8E || last == 0x8F || (last >= 0xAA && last <= 0xAE);
  if (sequence.substr(0, 2) == "\xE2\x81") return last >= 0xA6 && last <= 0xA9;
  return sequence.substr(0, 2) == "\xEF\xBF" && last >= 0xBE;
}

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
