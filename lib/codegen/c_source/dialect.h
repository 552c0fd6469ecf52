// The differences between the C dialects of device kernels. Each back end has one constant of this type.
#pragma once

#include <cstdint>
#include <string>

#include "base/dtype.h"

namespace hone::codegen {

struct Dialect {
  const char* name;   // "CUDA C", for messages
  const char* int64;  // "long long", ..
  const char* uint64;
  const char* int64_suffix;    // suffix of a literal: "LL"
  const char* helper_prefix;   // prefix of a helper function: "__device__ __forceinline__ "
  const char* global_prefix;   // qualifier of a pointer to global memory
  const char* shared_array;    // qualifiers of an array that a block shares, aligned to 16 bytes
  const char* shared_prefix;   // qualifier of a pointer to such an array
  const char* dynamic_shared;  // declares `unsigned char hone_shared[]`, whose size is given at launch
  const char* restrict_word;
  const char* barrier;         // makes writes to shared memory visible
  const char* barrier_global;  // makes writes to shared and global memory visible
  const char* block_index[3];
  const char* thread_index[3];
  const char* infinity;  // of type float
  const char* nan;
  bool float_suffix;            // true: functions of floats are named sinf, .. as in C; false: overloaded
  const char* vector_make[2];   // text before and after "float4" for a vector made of its lanes
  int64_t static_shared_limit;  // bytes of shared memory that a kernel can declare; more must be given at launch
  // Asynchronous copies from global to shared memory; null if the dialect lacks them. The function copies `bytes` (4 or
  // 16) if `inside` holds, else stores zeros: it is called as NAME(to, from, inside).
  const char* (*async_copy)(int bytes);  // its text; its name is hone_copy_async_BYTES
  const char* async_commit;              // ends a group of copies
  const char* async_wait;                // {} is the number of groups that may still be pending
  // TF32 and products of warps (ir::Intrinsic::kMmaTf32); null if the dialect lacks them. Texts of the functions
  // hone_tf32(value) and hone_mma_tf32(the four results, a's four values, b's two, c's four).
  const char* tf32;
  const char* mma_tf32;
  // The head of a kernel up to the opening parenthesis of its parameters.
  std::string (*kernel_head)(const std::string& symbol, const int64_t block[3]);
  // Text at the start of the source if the type is used; may be "".
  const char* preamble_f64;
};

}  // namespace hone::codegen
