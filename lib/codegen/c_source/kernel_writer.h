// Writes one device kernel (ir/device_kernels.h) in C: statement by statement, a line each. Private to
// codegen/c_source.
//
// Index arithmetic is i64 by definition; what provably fits is written in 32 bits, which is what devices are fast at. A
// vector is written lane by lane; only its accesses to memory are vectors, where they are contiguous and aligned.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "codegen/c_source/dialect.h"
#include "codegen/c_source/index_facts.h"
#include "ir/device_kernels.h"

namespace hone::codegen {

// Functions that kernels call and that no dialect has, by name; and what types are used.
struct Needs {
  std::set<std::string> helpers;  // their texts, in order
  bool f64 = false;
};

// One object a kernel.
class KernelWriter {
 public:
  KernelWriter(const Dialect& dialect, Needs* needs) : dialect_(dialect), needs_(needs) {}

  // The whole text of the kernel; kUnsupported for what the dialect has no words for. `dynamic_shared`: the bytes that
  // must be given at launch.
  Result<std::string> Write(const ir::DeviceKernel& kernel, int64_t* dynamic_shared);

 private:
  // How tightly an expression's outermost operator binds; decides where parentheses are needed.
  struct Text {
    std::string text;
    int level = 0;
  };
  struct BufferInfo {
    std::string name;
    bool is_private = false;
  };

  // kernel_writer.cc
  void Line(const std::string& text) { out_ += std::string(static_cast<size_t>(indent_) * 2, ' ') + text + "\n"; }
  std::string Fresh(const std::string& name);
  void Declare(const ir::Buffer& buffer);
  void DeclareIndices(const ir::DeviceKernel& kernel);
  void DeclareShared(const ir::DeviceKernel& kernel, int64_t* dynamic_shared);
  void WriteStmt(const ir::Stmt& s);
  void WriteFor(const ir::For& loop);
  void WriteStore(const ir::Store& store);
  bool WriteAsyncCopy(const ir::Store& store);  // false: it is not one
  void WriteWarpProduct(const ir::Store& store, const ir::Call& product);
  void Define(const ir::Var& var, const ir::Expr& value);  // a constant of that name
  bool Unrolled(const ir::For& loop);
  void Fail(const std::string& message) {
    if (status_.ok()) status_ = Status::Unsupported(std::string(dialect_.name) + ": " + message);
  }

  // vectors.cc: what has lanes becomes scalars, lines before the statement that uses them.
  ir::Expr LaneOf(const ir::Expr& e, int lane);
  void Hoist(const ir::Expr& e);  // its accesses to memory and what all its lanes share
  void HoistLoad(const ir::Expr& e);
  void HoistChoice(const ir::Expr& e);
  ir::Expr NewTemporary(DType type, const std::string& text, const std::string& name);
  void Keep(const ir::Expr& e, std::vector<ir::Expr> lanes);           // at hand, until it is forgotten
  void ForgetFrom(size_t mark);                                        // what was kept since then
  static std::string VectorType(const ir::Buffer& buffer, int lanes);  // "float4"
  // How many lanes of the access at once: 4 or 2 if it is contiguous and aligned, else 1.
  int Chunk(const ir::Buffer& buffer, const ir::Expr& index);
  std::string VectorAt(const ir::Buffer& buffer, const ir::Expr& index, int chunk, bool written);

  // expressions.cc
  std::string Type(DType type);        // in a register
  std::string MemoryType(DType type);  // a bool is a byte
  std::string IntType(const ir::Expr& e);
  bool Narrow(const ir::Expr& e);  // an i64 that is written as an int
  Text Write(const ir::Expr& e);
  std::string WriteAt(const ir::Expr& e, int level);  // in parentheses if it binds less tightly
  Text WriteBinary(const ir::Binary& e, const ir::Expr& self);
  Text WriteArithmetic(const ir::Binary& e, const ir::Expr& self);
  Text WriteDivision(const ir::Binary& e, const ir::Expr& self);
  Text WriteCast(const ir::Cast& e);
  Text WriteCall(const ir::Call& e);
  Text WriteInt(int64_t value, DType type, bool narrow);
  std::string WriteFloat(double value, DType type);
  std::string Access(const ir::Buffer& buffer, const ir::Expr& index);
  std::string Helper(const std::string& name, const std::string& text);
  static Text As(const std::string& type, const Text& value);

  const Dialect& dialect_;
  Needs* needs_;
  Status status_;
  std::string out_;
  int indent_ = 1;
  int64_t unroll_limit_ = 0;
  int64_t unroll_next_ = 0;    // note before the next loop: unroll this many rounds
  bool in_group_ = false;      // of copies that may run by themselves
  bool global_fence_ = false;  // a barrier is to make global memory visible, too
  IndexFacts facts_;
  std::unordered_map<const ir::VarNode*, Text> vars_;
  std::unordered_map<const ir::BufferNode*, BufferInfo> buffers_;
  std::unordered_map<std::string, int> names_;
  std::unordered_map<const ir::ExprNode*, std::vector<ir::Expr>> lanes_;  // of vectors that are at hand
  std::vector<ir::Expr> kept_;                                            // those
  std::unordered_set<const ir::VarNode*> private_index_;                  // variables in indices of private arrays
};

}  // namespace hone::codegen
