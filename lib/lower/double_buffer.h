// Double buffers: while one round of a loop uses what is in shared memory, the next round's is fetched.
//
// After vthread and HoistShared, before simplify and PlaceBarriers. Takes the notes that loop_nest left (Pragma
// "double_buffer" around what fills a buffer) where they begin the body of a loop:
//
//   for k { fill(b, k); use(b, k) }
//
// becomes, with twice the memory for b,
//
//   fill(b[0], 0);
//   for k { if (k + 1 < n) fetch(r, k + 1); use(b[k%2], k); if (k + 1 < n) b[(k + 1)%2] = r }
//
// so that a round needs one barrier, and memory's answer has the time of a round to arrive: r is private to a thread,
// the loops that fill it are unrolled. Loops that have nothing else in them count as one. Stages that cannot go through
// registers (several stores, loads of anything that is not an argument or another kernel's, more than kMostFetched
// elements a thread) fills its other half after the use. A note where there is no such loop is dropped.
//
// With a Pragma "stages" n > 2 inside the note (`pragma S axis stages n`), n times the memory, and copies that need no
// registers and run by themselves (cp.async) where the backend has them:
//
//   group { fill(b[0], 0) } .. group { fill(b[n-2], n-2) }
//   for k { wait n-2; barrier; group { if (k + n-1 < total) fill(b[(k+n-1)%n], k+n-1) } use(b[k%n], k) }
//
// A Pragma "async_group" is a group of copies, "async_wait" m stands where all groups but the last m are to be there;
// to ignore both, as the interpreter does, is right: then a copy is a copy.
#pragma once

#include "ir/stmt.h"

namespace hone::lower {

inline constexpr int64_t kMostFetched = 64;
inline constexpr char kStagesPragma[] = "stages";
inline constexpr char kAsyncGroupPragma[] = "async_group";
inline constexpr char kAsyncWaitPragma[] = "async_wait";

ir::Stmt DoubleBuffers(const ir::Stmt& body);

}  // namespace hone::lower
