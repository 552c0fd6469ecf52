#include "base/text.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/utf8.h"

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

}  // namespace hone
