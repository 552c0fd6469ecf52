#include <cstring>

#include "interpreter/ops.h"

namespace hone::ir::interp {
namespace {

template <typename T>
struct Tag {};

// fn(Tag of the C type that holds an element in memory, the member of a Slot that holds it here).
template <typename F>
void WithMemoryType(DType type, const F& fn) {
  if (type.is_float()) {
    if (type.bits == 32) return fn(Tag<float>(), &Slot::f);
    if (type.bits == 64) return fn(Tag<double>(), &Slot::f);
    return fn(Tag<_Float16>(), &Slot::f);
  }
  const bool is_signed = type.is_int();
  switch (type.element_bytes()) {
    case 1:
      return is_signed ? fn(Tag<int8_t>(), &Slot::i) : fn(Tag<uint8_t>(), &Slot::i);
    case 2:
      return is_signed ? fn(Tag<int16_t>(), &Slot::i) : fn(Tag<uint16_t>(), &Slot::i);
    case 4:
      return is_signed ? fn(Tag<int32_t>(), &Slot::i) : fn(Tag<uint32_t>(), &Slot::i);
    default:
      return fn(Tag<int64_t>(), &Slot::i);
  }
}

}  // namespace

// memcpy, as memory may not be aligned for the type.
void ReadElements(DType type, const char* from, int count, Slot* to) {
  WithMemoryType(type, [&]<typename T, typename Held>(Tag<T>, Held Slot::* member) {
    for (int i = 0; i < count; ++i) {
      T value;
      std::memcpy(&value, from + i * sizeof(T), sizeof(T));
      to[i].*member = static_cast<Held>(value);  // NOLINT(bugprone-signed-char-misuse): int8, no character
    }
  });
}

void WriteElements(DType type, const Slot* from, int count, char* to) {
  WithMemoryType(type, [&]<typename T, typename Held>(Tag<T>, Held Slot::* member) {
    for (int i = 0; i < count; ++i) {
      const T value = static_cast<T>(from[i].*member);
      std::memcpy(to + i * sizeof(T), &value, sizeof(T));
    }
  });
}

}  // namespace hone::ir::interp
