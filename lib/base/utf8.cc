#include "base/utf8.h"

#include <cstdint>

namespace hone {

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

}  // namespace hone
