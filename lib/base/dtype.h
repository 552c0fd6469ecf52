// DType: the type of one value or of a short vector of equal values, with a text form.
//
// Text: `i8 i16 i32 i64`, `u8 .. u64`, `f16 f32 f64`, `bool`, `handle` (an address), and `<element>x<lanes>` for
// vectors of 2 to 65535 lanes: `f32x16`. A type's text is part of file formats and digests: it never changes.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hone {

enum class TypeCode : uint8_t { kInt, kUInt, kFloat, kBool, kHandle };

struct DType {
  TypeCode code = TypeCode::kInt;
  uint8_t bits = 32;   // one lane's width in a register: 1 for bool, 64 for a handle
  uint16_t lanes = 1;  // at least 1

  static constexpr DType Int(int bits, int lanes = 1) { return Make(TypeCode::kInt, bits, lanes); }
  static constexpr DType UInt(int bits, int lanes = 1) { return Make(TypeCode::kUInt, bits, lanes); }
  static constexpr DType Float(int bits, int lanes = 1) { return Make(TypeCode::kFloat, bits, lanes); }
  static constexpr DType Bool(int lanes = 1) { return Make(TypeCode::kBool, 1, lanes); }
  static constexpr DType Handle() { return Make(TypeCode::kHandle, 64, 1); }

  constexpr bool is_int() const { return code == TypeCode::kInt; }
  constexpr bool is_uint() const { return code == TypeCode::kUInt; }
  constexpr bool is_float() const { return code == TypeCode::kFloat; }
  constexpr bool is_bool() const { return code == TypeCode::kBool; }
  constexpr bool is_handle() const { return code == TypeCode::kHandle; }
  constexpr bool is_scalar() const { return lanes == 1; }
  constexpr bool is_vector() const { return lanes > 1; }

  constexpr DType WithLanes(int n) const { return Make(code, bits, n); }
  constexpr DType element() const { return WithLanes(1); }

  // Bytes of one lane in memory (a bool takes one), and of all lanes.
  constexpr int element_bytes() const { return (bits + 7) / 8; }
  constexpr int bytes() const { return element_bytes() * lanes; }

  constexpr bool operator==(const DType&) const = default;
  constexpr auto operator<=>(const DType&) const = default;  // arbitrary total order

 private:
  static constexpr DType Make(TypeCode code, int bits, int lanes) {
    DType t;
    t.code = code;
    t.bits = static_cast<uint8_t>(bits);
    t.lanes = static_cast<uint16_t>(lanes);
    return t;
  }
};

std::string ToString(DType type);

// Returns kInvalid, quoting the text, if it is not a type. Rejects "i32x1": each type has exactly one text.
Result<DType> ParseDType(std::string_view text);

}  // namespace hone
