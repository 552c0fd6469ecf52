// The target of these tests.
#pragma once

#include "target/target.h"

namespace hone::propose {

inline Target Cpu() {
  return {.triple = "x86_64-unknown-linux-gnu",
          .cpu = "x86-64-v4",
          .threads = 2,
          .vector_bytes = 64,
          .vector_registers = 32};
}

}  // namespace hone::propose
