// Part of the interpreter: kernels of a device. Runs the threads of a block one after the other from one barrier to the
// next, and blocks one after the other. Reports what a device leaves undefined: two threads of a block access an
// element between two barriers, and one of them writes; two blocks of a kernel access an element of global memory, and
// one of them writes; only some threads of a block reach a barrier. Only for the interpreter.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/rng.h"
#include "interpreter/interpreter.h"
#include "interpreter/ops.h"

namespace hone::ir::interp {

// The device's current position, which race checks compare.
struct DeviceNow {
  int64_t epoch = 0;   // counts barriers, blocks and kernels
  int64_t kernel = 0;  // counts launches
  int64_t block = -1;  // -1: outside kernels
  int thread = 0;
  int64_t grid[3] = {1, 1, 1};
  int64_t threads[3] = {1, 1, 1};
};

// Remembers who touched each element of one buffer last.
class RaceCheck {
 public:
  RaceCheck(std::string name, int64_t size, bool shared, const DeviceNow* now, Failure* failure)
      : name_(std::move(name)), shared_(shared), now_(*now), failure_(*failure), cells_(static_cast<size_t>(size)) {}
  // Returns false and sets the failure if there is a race. REQUIRES: in bounds.
  bool Read(int64_t first, int lanes);
  bool Write(int64_t first, int lanes);

 private:
  struct Touch {
    int64_t epoch = -1, kernel = -1, block = -1;
    int thread = -1;
    bool other_threads = false, other_blocks = false;  // in the same epoch, the same kernel
  };
  struct Cell {
    Touch read, write;
  };
  void Note(Touch* touch) const;
  // Whether it conflicts with the current access of this thread.
  bool Collides(const Touch& touch) const;
  bool Fail(const char* what, int64_t index, const Touch& other);

  const std::string name_;
  const bool shared_;
  const DeviceNow& now_;
  Failure& failure_;
  std::vector<Cell> cells_;
};

// The part of the statement compiler for kernels.
struct CompilerHooks {
  Scope* scope = nullptr;
  std::function<Action(const Stmt&)> compile;
  std::function<BufferState*(const Buffer&)> allocate;
};

struct KernelParts {
  int64_t grid[3], block[3];
  Place block_index[3], thread_index[3];  // null where there is no such loop
  std::vector<BufferState*> shared;
};

// The numbers 0 .. count-1 in that order.
std::vector<int64_t> InOrder(int64_t count, ParallelOrder order, Rng* rng);

// Runs the actions one after the other until one fails.
Action Sequence(std::vector<Action> actions);

class Device {
 public:
  // Both must outlive it.
  Device(const RunOptions& options, Failure* failure) : options_(options), failure_(failure), rng_(options.seed) {}

  RaceCheck* Check(const std::string& name, int64_t size, bool shared) {
    checks_.push_back(std::make_unique<RaceCheck>(name, size, shared, &now_, failure_));
    return checks_.back().get();
  }
  // The action launches the kernel. It must not outlive this device.
  Action CompileKernel(KernelParts given, const Stmt& body, const CompilerHooks& hooks);

  std::vector<int64_t> Order(int64_t count) { return InOrder(count, options_.order, &rng_); }
  DeviceNow& now() { return now_; }
  Failure* failure() { return failure_; }

 private:
  const RunOptions options_;
  Failure* const failure_;
  Rng rng_;
  DeviceNow now_;
  std::vector<std::unique_ptr<RaceCheck>> checks_;
};

}  // namespace hone::ir::interp
