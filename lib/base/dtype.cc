#include "base/dtype.h"

#include <charconv>

namespace hone {

static Status BadType(std::string_view text) {
  return Status::Invalid("`" + std::string(text) +
                         "` is not a type; types look like f32, i64, u8, bool, handle, f32x16");
}

// `text` as a decimal number without sign or leading zeros; -1 if it is not one or is above 65535.
static int PlainNumber(std::string_view text) {
  int value = -1;
  if (text.empty() || text[0] < '1' || text[0] > '9') return -1;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value <= 65535 ? value : -1;
}

std::string ToString(DType type) {
  static constexpr const char* kNames[] = {"i", "u", "f", "bool", "handle"};  // in the order of TypeCode
  std::string text = kNames[static_cast<size_t>(type.code)];
  if (!type.is_bool() && !type.is_handle()) text += std::to_string(type.bits);
  if (type.lanes != 1) text += "x" + std::to_string(type.lanes);
  return text;
}

Result<DType> ParseDType(std::string_view text) {
  std::string_view element = text;
  int lanes = 1;
  if (size_t x = text.find('x'); x != std::string_view::npos) {
    element = text.substr(0, x);
    lanes = PlainNumber(text.substr(x + 1));
    if (lanes < 2) return BadType(text);
  }
  if (element == "bool") return DType::Bool(lanes);
  if (element == "handle" && lanes == 1) return DType::Handle();
  if (element.empty()) return BadType(text);
  int bits = PlainNumber(element.substr(1));
  bool power = bits == 8 || bits == 16 || bits == 32 || bits == 64;
  if (!power) return BadType(text);
  if (element[0] == 'i') return DType::Int(bits, lanes);
  if (element[0] == 'u') return DType::UInt(bits, lanes);
  if (element[0] == 'f' && bits != 8) return DType::Float(bits, lanes);
  return BadType(text);
}

}  // namespace hone
