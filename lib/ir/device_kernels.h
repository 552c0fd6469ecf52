// The kernels of a device function: what code generation prints and the interpreter runs block by block.
//
// A device function in its final form (after lower/gpu_threads) is a sequence of kernel nests, each
//   For blockIdx.z/y/x { Allocate shared .. { For threadIdx.z/y/x { what one thread does } } }
// with constant extents from 0, each loop at most once and only those that are used; Allocates of Scope::kWorkspace
// stand around the nests that share them. Pragmas may stand between the loops.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/stmt.h"

namespace hone::ir {

struct DeviceKernel {
  std::string name;             // the function's name, with "_0", "_1", .. if there are several kernels
  std::vector<Buffer> params;   // the function's arguments that the kernel uses, in order, then workspaces
  std::vector<Buffer> shared;   // the shared buffers of a block
  int64_t grid[3] = {1, 1, 1};  // x, y, z
  int64_t block[3] = {1, 1, 1};
  Var block_index[3];  // x, y, z; null if there is no such loop
  Var thread_index[3];
  int64_t shared_bytes = 0;  // total size of `shared`, each buffer starting at a multiple of 16 bytes
  Stmt body;                 // the work of one thread
};

struct DeviceProgram {
  std::vector<DeviceKernel> kernels;  // in order
  std::vector<Buffer> workspaces;     // Scope::kWorkspace, in order of their Allocates
};

// Returns kInvalid, naming the misplaced statement, if the function is not in the final form.
Result<DeviceProgram> SplitKernels(const Function& f);

}  // namespace hone::ir
