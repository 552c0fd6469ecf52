// One trial of one engine: a problem under a random schedule, lowered, with buffers to run it on and a check of the
// result.
#pragma once

#include <optional>

#include "agree/problems.h"
#include "agree/te_eval.h"
#include "interpreter/interpreter.h"
#include "ir/stmt.h"

namespace hone::agree {

// A problem with inputs and the expected values. Inputs are small integers, so every sum is exact in any type and order.
struct Prepared {
  Problem problem;
  Values values;
  std::vector<te::Tensor> Args() const;  // inputs, then outputs
};
Prepared Prepare(const Problem& problem, uint64_t seed);

enum class Steps { kCpu, kGpu, kTiled };  // agree/steps.h

struct Trial {
  ir::Function function;
  std::string context;  // problem, seed and steps, for messages
};
// Schedule `seed` of the problem, from `steps` random steps. Nothing if it was rejected because its vectors are too
// long. Any other rejection by lower is a test failure, except, for a GPU, those that lower/lower.h documents.
std::optional<Trial> MakeTrial(const Prepared& prepared, uint64_t seed, int steps, const std::string& name,
                               Steps kind = Steps::kCpu);

// Buffers of all arguments, 64-byte aligned; outputs are filled with a value that no correct result has.
class Buffers {
 public:
  explicit Buffers(const Prepared& prepared);
  std::vector<void*> pointers() const;
  std::vector<int64_t> bytes() const;  // of each
  std::vector<ir::RunArgument> arguments() const;  // for the interpreter
  // Describes the first output element that differs from the definition; empty if all agree.
  std::string Difference() const;

 private:
  struct Buffer {
    std::vector<char> store;
    char* data;
    int64_t size;  // elements
  };
  const Prepared& prepared_;
  std::vector<Buffer> buffers_;
};

}  // namespace hone::agree
