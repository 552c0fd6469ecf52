#include <fmt/format.h>

#include "agree/steps.h"
#include "schedule/relation.h"

namespace hone::agree {
namespace {

using schedule::Schedule;
using schedule::Stage;

template <typename T>
const T& Pick(const std::vector<T>& from, Rng* rng) {
  return from[rng->UniformInt(from.size())];
}

Step Propose(const Schedule& s, int serial, Rng* rng) {
  const Stage& stage = Pick(s.stages(), rng);
  const std::string name = stage.name();
  if (stage.leaf.empty()) return ComputeRoot(name);
  const std::string axis = Pick(stage.leaf, rng);
  auto fresh = [&](const char* what) { return fmt::format("{}{}", what, serial); };
  switch (rng->UniformInt(23)) {
    case 0:
    case 1:
    case 2:
    case 3: {
      std::vector<int64_t> factors = {static_cast<int64_t>(1 + rng->UniformInt(6))};
      std::vector<std::string> names = {fresh("o"), fresh("i")};
      if (rng->UniformInt(4) == 0) {
        factors.push_back(static_cast<int64_t>(1 + rng->UniformInt(4)));
        names.push_back(fresh("ii"));
      }
      return Split(name, axis, factors, names);
    }
    case 4:
    case 5: {
      size_t at = rng->UniformInt(stage.leaf.size());
      size_t end = std::min(stage.leaf.size(), at + 2 + rng->UniformInt(2));
      return Fuse(name, std::vector<std::string>(stage.leaf.begin() + at, stage.leaf.begin() + end), fresh("f"));
    }
    case 6:
    case 7:
    case 8: {
      std::vector<std::string> axes = stage.leaf;
      rng->Shuffle(&axes);
      axes.resize(1 + rng->UniformInt(axes.size()));
      return Reorder(name, axes);
    }
    case 9:
      return Vectorize(name, rng->UniformInt(2) ? stage.leaf.back() : axis);
    case 10:
      return Unroll(name, axis);
    case 11:
      return rng->UniformInt(2) ? Unroll(name, axis)
                                : PragmaStep(name, axis, "auto_unroll_max_step", int64_t{1} << rng->UniformInt(9));
    case 12:
      return Parallel(name, rng->UniformInt(2) ? stage.leaf.front() : axis);
    case 13:
    case 14:
    case 15: {
      const Stage& consumer = Pick(s.stages(), rng);
      return consumer.leaf.empty() ? ComputeRoot(name) : ComputeAt(name, consumer.name(), Pick(consumer.leaf, rng));
    }
    case 16:
      return rng->UniformInt(2) ? Inline(name) : ComputeRoot(name);
    case 17: {
      std::vector<std::string> reads = schedule::ReadsOf(stage);
      return CacheRead(Pick(reads, rng), Pick<std::string>({"scratch", "workspace", "register"}, rng), {name},
                       fresh("read"));
    }
    case 18:
      return CacheWrite(name, Pick<std::string>({"scratch", "workspace", "register"}, rng), fresh("write"));
    case 19:
      return Rfactor(name, axis, fresh("partial"));
    case 20:
      return SetScope(name, Pick<std::string>({"scratch", "workspace", "register"}, rng));
    case 21:
      for (const std::string& leaf : stage.leaf) {
        const schedule::Axis& four = *stage.FindAxis(leaf);
        if (stage.tensor.type().is_float() || !four.reduce || four.extent != 4) continue;
        return {StepKind::kTensorize, name, {leaf}, {}, "dot4", {}};
      }
      return ComputeRoot(name);
    default:
      if (rng->UniformInt(2)) {
        return {StepKind::kStorageAlign, name, {axis}, {static_cast<int64_t>(1 + rng->UniformInt(8)), 0}, "", {}};
      }
      return Prefetch(name, Pick(schedule::ReadsOf(stage), rng), axis, 64);
  }
}

Step ProposeGpu(const Schedule& s, int serial, Rng* rng) {
  const Stage& stage = Pick(s.stages(), rng);
  const std::string name = stage.name();
  if (stage.leaf.empty()) return ComputeRoot(name);
  switch (rng->UniformInt(8)) {
    case 0:
      return CacheRead(Pick(schedule::ReadsOf(stage), rng), "shared", {name}, fmt::format("read{}", serial));
    case 1:
      return SetScope(name, "shared");
    case 2:
      return DoubleBuffer(name);
    case 3:
      return Bind(name, Pick(stage.leaf, rng), Pick<std::string>({"blockIdx.x", "blockIdx.y"}, rng));
    case 4:
      return Bind(name, Pick(stage.leaf, rng), "vthread");
    default:
      return Bind(name, Pick(stage.leaf, rng), Pick<std::string>({"threadIdx.x", "threadIdx.y", "threadIdx.z"}, rng));
  }
}

}  // namespace

void ApplyRandomSteps(int count, bool gpu, Rng* rng, Schedule* schedule) {
  for (int i = 0; i < count; ++i) {
    Status ignored =
        schedule->Apply(gpu && rng->UniformInt(3) == 0 ? ProposeGpu(*schedule, i, rng) : Propose(*schedule, i, rng));
    (void)ignored;
  }
}

}  // namespace hone::agree
