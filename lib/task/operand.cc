#include "task/operand.h"

namespace hone {

int64_t Operand::PhysicalElements() const {
  int64_t elements = 1;
  for (const int64_t extent : physical) elements *= extent;
  return elements;
}

int64_t Operand::PhysicalBytes() const { return PhysicalElements() * logical.type.bytes(); }

}  // namespace hone
