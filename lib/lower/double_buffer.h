// Double buffers: while one round of a loop uses shared memory, the next round's values are fetched.
//
// Runs after vthread and HoistShared, and before simplify and PlaceBarriers. loop_nest leaves a Pragma "double_buffer"
// around the code that fills a buffer. Where it begins the body of a loop,
//
//   for k { fill(b, k); use(b, k) }
//
// becomes, with twice the memory for b,
//
//   fill(b[0], 0);
//   for k { if (k + 1 < n) fetch(r, k + 1); use(b[k%2], k); if (k + 1 < n) b[(k + 1)%2] = r }
//
// So a round needs one barrier, and a fetch has the time of a round to arrive. r is private to a thread, and the loops
// that fill it are unrolled. Loops with nothing else in them count as one. A stage that cannot go through registers
// fills its other half after the use: one with several stores, with loads of anything but an argument or another
// kernel's result, or with more than kMostFetched elements a thread. A hint outside of such a loop is dropped.
//
// With a Pragma "stages" n > 2 inside the hint (`pragma S axis stages n`) there are n copies of the memory. Back ends
// that can (cp.async) copy without registers, in the background:
//
//   group { fill(b[0], 0) } .. group { fill(b[n-2], n-2) }
//   for k { wait n-2; barrier; group { if (k + n-1 < total) fill(b[(k+n-1)%n], k+n-1) } use(b[k%n], k) }
//
// A Pragma "async_group" is a group of copies. "async_wait" m waits until all groups but the last m have arrived.
// Ignoring both, as the interpreter does, is correct: then a copy is a plain copy.
#pragma once

#include "ir/stmt.h"

namespace hone::lower {

inline constexpr int64_t kMostFetched = 64;
inline constexpr char kStagesPragma[] = "stages";
inline constexpr char kAsyncGroupPragma[] = "async_group";
inline constexpr char kAsyncWaitPragma[] = "async_wait";

ir::Stmt DoubleBuffers(const ir::Stmt& body);

}  // namespace hone::lower
