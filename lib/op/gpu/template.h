// A template for GPUs as a few functions: space, resources of a point, schedule.
#pragma once

#include <string>
#include <vector>

#include "op/operator.h"
#include "search/space/gpu_use.h"

namespace hone::op {

using search::GpuUse;
using search::GpuUseOf;
using search::kOtherRegisters;
using search::TileRegisters;
using search::TileReuse;

struct GpuTemplateParts {
  const char* name;
  int version;
  // The knobs; the space also gets search::DeviceRule. Null: those of AutoTVM's template of this name.
  Result<Space> (*knobs)(const Workload& workload, const Target& target);
  GpuUseOf (*use)(const Workload& workload);  // binds the workload once; spaces call the result for each point
  Result<Candidate> (*build)(const Workload& workload, const Target& target, const Config& config);
  // Split knobs whose part `thread_part` is their share of the threads along x, y, z: at most three.
  std::vector<std::string> thread_knobs = {};
  size_t thread_part = 2;
  // See Template::Limit.
  void (*limit)(const Workload& workload, const Numerics& numerics, Space* space) = nullptr;
};

class GpuTemplate final : public Template {
 public:
  explicit GpuTemplate(GpuTemplateParts parts) : parts_(std::move(parts)) {}

  const char* name() const override { return parts_.name; }
  int version() const override { return parts_.version; }
  GpuUseOf Use(const Workload& workload) const { return parts_.use(workload); }
  Result<Space> MakeSpace(const Workload& workload, const Target& target) const override;
  Result<Config> Default(const Space& space, const Workload& workload, const Target& target) const override;
  void Limit(const Workload& workload, const Numerics& numerics, Space* space) const override {
    if (parts_.limit != nullptr) parts_.limit(workload, numerics, space);
  }
  Result<Candidate> Instantiate(const Workload& workload, const Target& target, const Config& config) const override {
    return parts_.build(workload, target, config);
  }

 private:
  GpuTemplateParts parts_;
};

// ---- Shared steps of the templates.

// Splits `axis` into "<axis>.b", "<axis>.v", "<axis>.t", "<axis>.i" (blocks, virtual threads, threads, inside) by a
// knob of four parts.
Step SplitFour(const std::string& stage, const std::string& axis, const std::vector<int64_t>& parts);

// All splits of `extent` into blocks, virtual threads (as many as one of `vthreads`), threads and inside, with tiles of
// at most `most`. The product need not divide the extent.
std::vector<std::vector<int64_t>> ProductShares(int64_t extent, const std::vector<int64_t>& vthreads, int64_t most);
// The choices for how much of a reduction of `depth` a round computes.
std::vector<int64_t> ProductRounds(int64_t depth);

// The tile of a product of matrices: splits axes `y` and `x` of `stage` in four and binds `batch` (may be empty) to
// blocks' z. Leaves "<axis>.i" to the caller.
void MapProduct(const std::string& stage, const std::string& batch, const std::string& y,
                const std::vector<int64_t>& y_parts, const std::string& x, const std::vector<int64_t>& x_parts,
                std::vector<Step>* steps);

// Lets the threads of a block fill `stage` together: fuses its axes, with vectors of `vector` elements inside, and
// neighbouring threads (x first) at neighbouring elements.
void FetchTogether(const std::string& stage, const std::vector<std::string>& axes, const int64_t (&threads)[3],
                   int64_t vector, std::vector<Step>* steps);

// After FetchTogether: fetches `stages` steps of `stage` at once (lower/double_buffer.cc); does nothing for 1.
void AddStages(const std::string& stage, int64_t stages, std::vector<Step>* steps);

// All of this for a copy of `tensor` in shared memory, "<name>.shared", which `reader` reads in its loop "k.o".
struct SharedCopy {
  std::string name, reader;
  const int64_t (&threads)[3];
  int64_t stages;
};
void FetchShared(const SharedCopy& copy, const std::string& tensor, const std::vector<std::string>& axes,
                 int64_t vector, std::vector<Step>* steps);

// The same for the constant `weight`, which is stored as weight.packed: by the parts `outer`, then by its dimension
// `dimension`, the filters. With `vectors` it is fetched in vectors of filters, and its rows consist of whole ones.
inline constexpr int64_t kFilterVector = 4;
void FetchWeights(const SharedCopy& copy, const std::string& weight, std::vector<std::string> outer, int dimension,
                  int64_t filters, bool vectors, std::vector<Step>* steps);

// The loop over a step's iterations of a reduction is unrolled by the knob "unroll", which AddUnrollKnob adds with the
// rule that it does not exceed their number ("rounds").
void AddUnrollKnob(const std::string& rounds, Space* space);
Step UnrollRounds(const std::string& stage, const std::string& axis, const Config& config);

// The unroll knobs of AutoTVM's templates, applied to a loop.
void AddUnrollNotes(const std::string& stage, const std::string& axis, const Config& config, std::vector<Step>* steps);

}  // namespace hone::op
