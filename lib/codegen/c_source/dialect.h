// The differences between the C dialects of device kernels. A backend has one constant of it.
#pragma once

#include <cstdint>
#include <string>

#include "base/dtype.h"

namespace hone::codegen {

struct Dialect {
  const char* name;   // "CUDA C", for messages
  const char* int64;  // "long long", ..
  const char* uint64;
  const char* int64_suffix;    // of a literal: "LL"
  const char* helper_prefix;   // before a helper function: "__device__ __forceinline__ "
  const char* global_prefix;   // before a pointer to global memory
  const char* shared_array;    // before the declaration of an array that a block shares, aligned to 16 bytes
  const char* shared_prefix;   // before a pointer to one
  const char* dynamic_shared;  // declares `unsigned char hone_shared[]`, whose size is given at launch
  const char* restrict_word;
  const char* barrier;         // with shared memory visible behind it
  const char* barrier_global;  // with global memory too
  const char* block_index[3];
  const char* thread_index[3];
  const char* infinity;  // of type float
  const char* nan;
  bool float_suffix;            // functions of floats are sinf, .., as in C; else overloaded
  const char* vector_make[2];   // before and behind "float4" of a vector made of its lanes
  int64_t static_shared_limit;  // bytes of shared memory that can be declared; beyond it is given at launch
  // Copies from global to shared memory that run by themselves; null for none. The function copies `bytes` (4 or 16)
  // where `inside` holds, else stores zeros: it is called as NAME(to, from, inside).
  const char* (*async_copy)(int bytes);  // its text; its name is hone_copy_async_BYTES
  const char* async_commit;              // ends a group of copies
  const char* async_wait;                // {} is how many groups may still be under way
  // TF32 and products of warps (ir::Intrinsic::kMmaTf32); null for none. Texts of the functions hone_tf32(value) and
  // hone_mma_tf32(the four results, a's four values, b's two, c's four).
  const char* tf32;
  const char* mma_tf32;
  // The head of a kernel up to the parenthesis of its parameters.
  std::string (*kernel_head)(const std::string& symbol, const int64_t block[3]);
  // Before everything, for the types that are used; "" for none.
  const char* preamble_f64;
};

}  // namespace hone::codegen
