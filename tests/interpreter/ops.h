// Part of the interpreter: compiled expressions. A node owns a fixed place for its result (programs have no recursion),
// so evaluating it costs a call for the node and a loop over its lanes, with no lookup. Only for the interpreter and
// common/evaluate.h.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/stmt.h"

namespace hone::ir::interp {

union Slot {
  int64_t i;
  double f;
};

class RaceCheck;

struct BufferState {
  std::string name;
  DType type;
  int64_t size = 0;
  char* data = nullptr;
  bool writable = true;
  std::vector<char> memory;      // an allocation's
  std::vector<uint8_t> written;  // an allocation's, one flag for each element; empty for arguments
  RaceCheck* race = nullptr;     // set if threads of a device may conflict (interpreter/device.h)
};

// The first thing that went wrong; later ones are ignored.
struct Failure {
  bool failed = false;
  bool unsupported = false;
  std::string message;
  void Set(std::string text) {
    if (!failed) failed = true, message = std::move(text);
  }
};

struct Op {
  explicit Op(int n) : lanes(n), out(n) {}
  virtual ~Op() = default;
  // The lanes' values; valid until the next call.
  const Slot* Value() {
    if (!leaf) Eval();
    return out.data();
  }
  virtual void Eval() = 0;
  bool leaf = false;  // `out` is always valid
  const int lanes;
  std::vector<Slot> out;
};
using OpPtr = std::shared_ptr<Op>;

using Action = std::function<bool()>;  // a compiled statement; false: something failed, stop

// Where the value of a variable is; shared with the ops that use it.
using Place = std::shared_ptr<std::vector<Slot>>;

// Where variables and buffers live while a program is compiled.
struct Scope {
  std::unordered_map<const VarNode*, Place> vars;
  std::unordered_map<const BufferNode*, BufferState*> buffers;
  Failure* failure = nullptr;  // compile errors go here, and run errors later

  Place Define(const Var& var) { return vars[var.node()] = std::make_shared<std::vector<Slot>>(var.type().lanes); }
};

// Never null: after a failure (see Scope::failure) returns an op that yields zeros.
OpPtr Compile(const Expr& e, Scope* scope);

// The elements that a vector index names: a contiguous range if `index` is a ramp of stride 1, else one for each lane.
struct Places {
  explicit Places(OpPtr index);
  // Evaluates the index. True: the range starts at `first`; false: `at` has an element for each lane.
  bool Find();
  OpPtr index;
  Op* base = nullptr;  // the base of a ramp of stride 1
  const Slot* at = nullptr;
  int64_t first = 0;
};

// Moves `count` neighbouring elements between memory and slots.
void ReadElements(DType type, const char* from, int count, Slot* to);
void WriteElements(DType type, const Slot* from, int count, char* to);

}  // namespace hone::ir::interp
