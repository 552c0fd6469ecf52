// Checks that a function is well formed. The interpreter and the back ends rely on it and do not check again; a failure
// is a bug of the previous pass.
#pragma once

#include "base/status.h"
#include "ir/stmt.h"

namespace hone::ir {

struct VerifyOptions {
  bool for_codegen = false;  // also reject vectorized and unrolled loops and virtual threads
};

// The first violation, with the expression or statement that contains it:
// - variables are used only inside the loop that binds them, and each is bound once on a path;
// - types and lanes agree in every node; no node of tensor expressions is left; no division by the constant 0;
// - buffers are parameters or allocated further out; stores go to parameters marked written or to allocations;
// - constant indices are in range; register buffers are not empty; blocks are not nested; prefetches stand alone.
Status Verify(const Function& f, const VerifyOptions& options = {});

// Verify, and the rules of a device function in its final form (ir/device_kernels.h): each kernel is one nest of loops
// over blocks and threads that contains only serial loops and private buffers, and no prefetch; buffers that threads
// share have unique names; all threads of a block reach every barrier, whatever the data: a barrier is under no
// condition and in no loop whose range depends on thread indices or memory.
Status VerifyDevice(const Function& f);

}  // namespace hone::ir
