// Writes one device kernel (ir/device_kernels.h) in C, one line per statement. Private to codegen/c_source.
//
// Index arithmetic is i64 by definition; expressions that provably fit are written in 32 bits, which devices compute
// faster. A vector is written lane by lane; only contiguous and aligned accesses to memory are vectors.
#pragma once

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

// Helper functions that kernels call and the dialect lacks, by name; and the types that are used.
struct Needs {
  std::set<std::string> helpers;  // their texts, in order
  bool f64 = false;
};

// Writes one kernel.
class KernelWriter {
 public:
  KernelWriter(const Dialect& dialect, Needs* needs) : dialect_(dialect), needs_(needs) {}

  // Returns the whole text of the kernel; kUnsupported if the dialect cannot express it. Sets `dynamic_shared` to the
  // bytes that must be given at launch.
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
  bool WriteAsyncCopy(const ir::Store& store);  // false if it is not such a copy
  void WriteWarpProduct(const ir::Store& store, const ir::Call& product);
  void Define(const ir::Var& var, const ir::Expr& value);  // defines a constant for the variable
  bool Unrolled(const ir::For& loop);
  void Fail(const std::string& message) {
    if (status_.ok()) status_ = Status::Unsupported(std::string(dialect_.name) + ": " + message);
  }

  // vectors.cc: turns vectors into scalars, in lines before the statement that uses them.
  ir::Expr LaneOf(const ir::Expr& e, int lane);
  void Hoist(const ir::Expr& e);  // its accesses to memory and the parts that all its lanes share
  void HoistLoad(const ir::Expr& e);
  void HoistChoice(const ir::Expr& e);
  ir::Expr NewTemporary(DType type, const std::string& text, const std::string& name);
  void Keep(const ir::Expr& e, std::vector<ir::Expr> lanes);           // remembers the lanes until ForgetFrom
  void ForgetFrom(size_t mark);                                        // forgets the lanes kept since the mark
  static std::string VectorType(const ir::Buffer& buffer, int lanes);  // "float4"
  // The number of lanes to access at once: 4 or 2 if contiguous and aligned, else 1.
  int Chunk(const ir::Buffer& buffer, const ir::Expr& index);
  std::string VectorAt(const ir::Buffer& buffer, const ir::Expr& index, int chunk, bool written);

  // expressions.cc
  std::string Type(DType type);        // in a register
  std::string MemoryType(DType type);  // a bool is a byte
  std::string IntType(const ir::Expr& e);
  bool Narrow(const ir::Expr& e);  // an i64 that is written as int
  Text Write(const ir::Expr& e);
  std::string WriteAt(const ir::Expr& e, int level);  // adds parentheses if it binds less tightly
  Text WriteBinary(const ir::Binary& e, const ir::Expr& self);
  Text WriteArithmetic(const ir::Binary& e, const ir::Expr& self);
  Text WriteDivision(const ir::Binary& e, const ir::Expr& self);
  Text WriteCast(const ir::Cast& e);
  Text WriteCall(const ir::Call& e);
  Text WriteChoice(const ir::Expr& condition, const ir::Expr& if_true, const ir::Expr& if_false);
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
  int64_t unroll_next_ = 0;    // unroll the next loop by this many iterations
  bool in_group_ = false;      // in a group of asynchronous copies
  bool global_fence_ = false;  // the next barrier must also make global memory visible
  IndexFacts facts_;
  std::unordered_map<const ir::VarNode*, Text> vars_;
  std::unordered_map<const ir::BufferNode*, BufferInfo> buffers_;
  std::unordered_map<std::string, int> names_;
  std::unordered_map<const ir::ExprNode*, std::vector<ir::Expr>> lanes_;  // of kept vectors
  std::vector<ir::Expr> kept_;                                            // those
  std::unordered_set<const ir::VarNode*> private_index_;                  // variables in indices of private arrays
};

}  // namespace hone::codegen
