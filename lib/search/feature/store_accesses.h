// The stores of a program with the memory that they access: what search/feature/store_features.h counts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/stmt.h"

namespace hone::search {

// A loop around a store, longer than 1.
struct StoreLoop {
  int id = 0;  // unique in the program
  ir::ForKind kind = ir::ForKind::kSerial;
  int64_t length = 1;  // in its first iteration
};

// A read or write; vectors have an entry for each loop around the store, outermost first.
struct StoreAccess {
  ir::Buffer buffer;
  bool write = false;
  std::vector<int64_t> strides;  // elements; 0 also where the index uses the loop's variable in another way
  std::vector<bool> uses;        // whether the index depends on the loop

  // The loops within which the region lies are those from `depth` on.
  double Elements(const std::vector<StoreLoop>& loops, size_t depth) const;  // different ones, at most the buffer's
  double Run(const std::vector<StoreLoop>& loops) const;                     // length of a contiguous run
};

// Numbers of operations in one iteration, in the order of the columns.
enum StoreOperation { kMultiplyAdd, kAddition, kMultiplication, kDivision, kComparison, kFunction, kOther };
inline constexpr size_t kOperationsOfAType = 7, kLogical = 14, kSelection = 15, kOperationKinds = 16;

struct StoreStatement {
  ir::Buffer buffer;
  std::vector<StoreLoop> loops;       // outermost first
  std::vector<StoreAccess> accesses;  // the write is the last one
  double operations[kOperationKinds] = {};
  int64_t unroll = 0;     // auto_unroll_max_step around it
  size_t allocated = 0;   // how many of the loops are outside of the allocation
  bool is_local = false;  // the function allocates the buffer
};

std::vector<StoreStatement> CollectStores(const ir::Function& function);

}  // namespace hone::search
