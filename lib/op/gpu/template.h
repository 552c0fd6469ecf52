// A template for GPUs as a few functions: space, how much a point takes of the device, the schedule.
#pragma once

#include <string>
#include <vector>

#include "op/gpu/limits.h"
#include "op/operator.h"

namespace hone::op {

struct GpuTemplateParts {
  const char* name;
  int version;
  // The knobs; AddDeviceRule is called on what it gives. Null: those of AutoTVM's template of this name.
  Result<search::Space> (*knobs)(const Workload& workload, const Target& target);
  GpuUseOf (*use)(const Workload& workload);  // binds the workload once; spaces call the result for each point
  Result<Candidate> (*build)(const Workload& workload, const Target& target, const Config& config);
  // Split knobs whose part `thread_part` is their share of the threads along x, y, z: at most three.
  std::vector<std::string> thread_knobs = {};
  size_t thread_part = 2;
  // As Template::Limit.
  void (*limit)(const Workload& workload, const Numerics& numerics, search::Space* space) = nullptr;
};

class GpuTemplate final : public Template {
 public:
  explicit GpuTemplate(GpuTemplateParts parts) : parts_(std::move(parts)) {}

  const char* name() const override { return parts_.name; }
  int version() const override { return parts_.version; }
  GpuUseOf Use(const Workload& workload) const { return parts_.use(workload); }
  Result<search::Space> MakeSpace(const Workload& workload, const Target& target) const override;
  Result<Config> Default(const search::Space& space, const Workload& workload, const Target& target) const override;
  void Limit(const Workload& workload, const Numerics& numerics, search::Space* space) const override {
    if (parts_.limit != nullptr) parts_.limit(workload, numerics, space);
  }
  Result<Candidate> Instantiate(const Workload& workload, const Target& target, const Config& config) const override {
    return parts_.build(workload, target, config);
  }

 private:
  GpuTemplateParts parts_;
};

// ---- Steps that the templates share.

// split `axis` into "<axis>.b", "<axis>.v", "<axis>.t", "<axis>.i" (blocks, virtual threads, threads, inside) by a knob
// of four parts.
Step SplitFour(const std::string& stage, const std::string& axis, const std::vector<int64_t>& parts);

// The tile of a product of matrices: axes `y` and `x` of `stage` split in four, `batch` (empty: there is none) along
// blocks' z. Leaves "<axis>.i" to the caller.
void MapProduct(const std::string& stage, const std::string& batch, const std::string& y,
                const std::vector<int64_t>& y_parts, const std::string& x, const std::vector<int64_t>& x_parts,
                std::vector<Step>* steps);

// The threads of a block fill `stage` together: its axes fused, vectors of `vector` elements inside, neighbouring
// threads (x first) at neighbouring elements.
void FetchTogether(const std::string& stage, const std::vector<std::string>& axes, const int64_t (&threads)[3],
                   int64_t vector, std::vector<Step>* steps);

// After FetchTogether: so many steps' worth of `stage` at once (lower/double_buffer.cc); 1: nothing is done.
void AddStages(const std::string& stage, int64_t stages, std::vector<Step>* steps);

// The loop over a step's rounds of a reduction: "unroll" of them at a time, a knob that AddUnrollKnob makes with the
// rule that it is no more than there are ("rounds").
void AddUnrollKnob(const std::string& rounds, search::Space* space);
Step UnrollRounds(const std::string& stage, const std::string& axis, const Config& config);

// The unroll knobs of AutoTVM's templates, at a loop.
void AddUnrollNotes(const std::string& stage, const std::string& axis, const Config& config, std::vector<Step>* steps);

}  // namespace hone::op
