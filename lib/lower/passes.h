// The passes, in the order of lower/lower.h, and the notes that they leave for each other. The top of each pass's file
// explains what it does and its position.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "lower/bounds.h"
#include "lower/gpu_places.h"

namespace hone::lower {

// Keys of pragmas.
inline constexpr char kPrefetchPragma[] = "prefetch:";
inline constexpr char kFarPrefetchPragma[] = "prefetch2:";  // only into the second level
inline constexpr char kDoubleBufferPragma[] = "double_buffer";
inline constexpr char kStagesPragma[] = "stages";
inline constexpr char kAsyncGroupPragma[] = "async_group";
inline constexpr char kAsyncWaitPragma[] = "async_wait";
inline constexpr char kUnrollPragma[] = "unroll";  // value: unroll factor; the back end prints it before the loop
inline constexpr char kTensorizeMmaTf32[] = "tensorize_mma_tf32";
inline constexpr char kTensorizeDot4[] = "tensorize_dot4";

inline constexpr int64_t kMaxVThreads = 256;
inline constexpr int64_t kMostSteps = 256;  // limit of the steps that AutoUnroll writes in a row

void FillBeyondEdges(const Schedule& schedule, const GpuPlaces& places, Bounds* bounds);
// `args`: see lower/lower.h. Uses bounds->analyzer to simplify indices. `places`: for a GPU.
Result<ir::Function> MakeLoopNest(const Schedule& schedule, Bounds* bounds, const std::vector<te::Tensor>& args,
                                  const std::string& name, const GpuPlaces* places = nullptr);
Stmt Specialize(const Stmt& body);
Stmt PartitionConditions(const Stmt& body);
Result<Stmt> SpreadVThreads(const Stmt& body);  // kInvalid if an extent is not constant or exceeds kMaxVThreads
Stmt HoistShared(const Stmt& body);
Stmt DoubleBuffers(const Stmt& body);
Result<Stmt> Tensorize(const Stmt& body);  // kInvalid, with the reason, if a hint does not fit
Result<Stmt> TensorizeDot4(const Stmt& body);  // the same on CPUs
Stmt PlaceBarriers(const Stmt& body);      // after simplify: indices must be sums
Stmt AutoUnroll(const Stmt& body, bool cpu);
// Returns kInvalid if a vectorized loop has more than 64 iterations.
Result<Stmt> VectorizeLoops(const Stmt& body, bool whole_vectors = false);
Stmt UnrollLoops(const Stmt& body);
Stmt InjectPrefetches(const Stmt& body);
Result<Stmt> AssignStorage(const Stmt& body);  // kInvalid if the buffers exceed 16 GiB in total

}  // namespace hone::lower
