// The passes, in the order of lower/lower.h, and the notes that they leave for each other. The top of each pass's file
// explains what it does and its position.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "ir/stmt.h"
#include "lower/bounds.h"
#include "lower/gpu_places.h"
#include "schedule/schedule.h"

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

inline constexpr int64_t kMaxVThreads = 256;
inline constexpr int64_t kMostSteps = 256;  // limit of the steps that AutoUnroll writes in a row

void FillBeyondEdges(const schedule::Schedule& schedule, const GpuPlaces& places, Bounds* bounds);
// `args`: see lower/lower.h. Uses bounds->analyzer to simplify indices. `places`: for a GPU.
Result<ir::Function> MakeLoopNest(const schedule::Schedule& schedule, Bounds* bounds,
                                  const std::vector<te::Tensor>& args, const std::string& name,
                                  const GpuPlaces* places = nullptr);
ir::Stmt Specialize(const ir::Stmt& body);
ir::Stmt PartitionConditions(const ir::Stmt& body);
Result<ir::Stmt> SpreadVThreads(const ir::Stmt& body);  // kInvalid if an extent is not constant or exceeds kMaxVThreads
ir::Stmt HoistShared(const ir::Stmt& body);
ir::Stmt DoubleBuffers(const ir::Stmt& body);
Result<ir::Stmt> Tensorize(const ir::Stmt& body);  // kInvalid, with the reason, if a hint does not fit
ir::Stmt PlaceBarriers(const ir::Stmt& body);      // after simplify: indices must be sums
ir::Stmt AutoUnroll(const ir::Stmt& body);
// Returns kInvalid if a vectorized loop has more than 64 iterations.
Result<ir::Stmt> VectorizeLoops(const ir::Stmt& body, bool whole_vectors = false);
ir::Stmt UnrollLoops(const ir::Stmt& body);
ir::Stmt InjectPrefetches(const ir::Stmt& body);
Result<ir::Stmt> AssignStorage(const ir::Stmt& body);  // kInvalid if the buffers exceed 16 GiB in total

}  // namespace hone::lower
