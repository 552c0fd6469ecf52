#include <cstring>

#include "ir/interpreter_ops.h"

namespace hone::ir::interp {
namespace {

// memcpy, as memory need not be aligned for T.
template <typename T, typename Held>
void Get(const char* from, int count, Slot* to, Held Slot::* member) {
  for (int i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, from + i * sizeof(T), sizeof(T));
    to[i].*member = static_cast<Held>(value);
  }
}
template <typename T, typename Held>
void Put(const Slot* from, int count, char* to, Held Slot::* member) {
  for (int i = 0; i < count; ++i) {
    T value = static_cast<T>(from[i].*member);
    std::memcpy(to + i * sizeof(T), &value, sizeof(T));
  }
}

}  // namespace

void ReadElements(DType type, const char* from, int count, Slot* to) {
  if (type.is_float()) {
    if (type.bits == 32) return Get<float>(from, count, to, &Slot::f);
    if (type.bits == 64) return Get<double>(from, count, to, &Slot::f);
    return Get<_Float16>(from, count, to, &Slot::f);
  }
  const bool is_signed = type.is_int();
  switch (type.element_bytes()) {
    case 1:
      return is_signed ? Get<int8_t>(from, count, to, &Slot::i) : Get<uint8_t>(from, count, to, &Slot::i);
    case 2:
      return is_signed ? Get<int16_t>(from, count, to, &Slot::i) : Get<uint16_t>(from, count, to, &Slot::i);
    case 4:
      return is_signed ? Get<int32_t>(from, count, to, &Slot::i) : Get<uint32_t>(from, count, to, &Slot::i);
    default:
      return Get<int64_t>(from, count, to, &Slot::i);
  }
}

void WriteElements(DType type, const Slot* from, int count, char* to) {
  if (type.is_float()) {
    if (type.bits == 32) return Put<float>(from, count, to, &Slot::f);
    if (type.bits == 64) return Put<double>(from, count, to, &Slot::f);
    return Put<_Float16>(from, count, to, &Slot::f);
  }
  switch (type.element_bytes()) {
    case 1:
      return Put<uint8_t>(from, count, to, &Slot::i);
    case 2:
      return Put<uint16_t>(from, count, to, &Slot::i);
    case 4:
      return Put<uint32_t>(from, count, to, &Slot::i);
    default:
      return Put<int64_t>(from, count, to, &Slot::i);
  }
}

}  // namespace hone::ir::interp
