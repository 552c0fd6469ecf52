// Checks that a function is well formed. The interpreter and the back ends take a verified function without further
// checks; a failure is a bug of the pass before.
#pragma once

#include "base/status.h"
#include "ir/stmt.h"

namespace hone::ir {

struct VerifyOptions {
  bool for_codegen = false;  // also: no vectorized or unrolled loops, no virtual threads left
};

// The first thing that is wrong, with the expression or statement it is in:
// - variables are used where a loop around binds them, once each way in;
// - types and lanes agree, in every node; no node of tensor expressions is left; no division by the constant 0;
// - buffers are parameters or allocated around; stores go to parameters marked written or to allocations;
// - constant indices are in range; a register buffer is not empty; blocks are not nested; prefetches stand alone.
Status Verify(const Function& f, const VerifyOptions& options = {});

// Verify, and the rules of a device function in its final form: it is one nest of loops over blocks and threads a
// kernel (ir/device_kernels.h), with nothing but serial loops, private buffers and no prefetch inside; buffers that
// threads share have names of their own; every barrier is where all threads of a block come to it, whatever the data:
// under no condition, and in no loop whose range depends on the threads' indices or on what is in memory.
Status VerifyDevice(const Function& f);

}  // namespace hone::ir
