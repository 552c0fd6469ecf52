// Sums of four products of bytes (ir::Intrinsic::kDot4), by the best exact instructions that the CPU has:
// - x86-64: vpdpbusd (AVX512-VNNI, AVX-VNNI), else two 16-bit multiply-adds of pairs (pmaddwd). vpmaddubsw would
//   saturate;
// - AArch64: usdot for unsigned bytes (matrix multiplication extension), else sdot (dot product extension);
// - otherwise, and for single lanes: four multiplications in 32 bits.
#include <llvm/IR/IntrinsicsAArch64.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Target/TargetMachine.h>

#include <numeric>

#include "codegen/llvm/emitter.h"
#include "codegen/llvm/machine.h"

namespace hone::codegen {

using llvm::Value;
using llvm::Intrinsic::ID;

namespace {

constexpr int64_t kSignBits = 0x80808080;

// Instructions for `lanes` sums.
struct Form {
  int lanes;
  const char* feature;
  ID products;  // (sums, u8 factors, i8 factors), or for pairs (16-bit factors, 16-bit factors); 0: none
};
constexpr Form kVnni[] = {{16, "+avx512vnni", llvm::Intrinsic::x86_avx512_vpdpbusd_512},
                          {8, "+avx512vnni", llvm::Intrinsic::x86_avx512_vpdpbusd_256},
                          {8, "+avxvnni", llvm::Intrinsic::x86_avx512_vpdpbusd_256},
                          {4, "+avx512vnni", llvm::Intrinsic::x86_avx512_vpdpbusd_128},
                          {4, "+avxvnni", llvm::Intrinsic::x86_avx512_vpdpbusd_128}};
constexpr Form kPairs[] = {{16, "+avx512bw", llvm::Intrinsic::x86_avx512_pmaddw_d_512},
                           {8, "+avx2", llvm::Intrinsic::x86_avx2_pmadd_wd},
                           {4, "+sse2", llvm::Intrinsic::x86_sse2_pmadd_wd}};
constexpr Form kSigned[] = {{4, "+dotprod", llvm::Intrinsic::aarch64_neon_sdot}};
constexpr Form kMixed[] = {{4, "+i8mm", llvm::Intrinsic::aarch64_neon_usdot}};

class Dot4Emitter {
 public:
  Dot4Emitter(llvm::IRBuilder<>* builder, const llvm::MCSubtargetInfo& cpu, int vector_bytes, bool unsigned_factors,
              std::unordered_map<Value*, std::pair<Value*, Value*>>* halves)
      : b_(*builder), cpu_(cpu), vector_bytes_(vector_bytes), unsigned_(unsigned_factors), halves_(*halves) {}

  // The operands as n x i32: each lane has its four bytes.
  Value* Emit(Value* sums, Value* a, Value* b) {
    auto* type = llvm::dyn_cast<llvm::FixedVectorType>(sums->getType());
    const int lanes = type ? static_cast<int>(type->getNumElements()) : 1;
    for (const Form& form : kVnni) {
      if (Has(form, lanes)) return InParts(form, lanes, sums, a, b, &Dot4Emitter::Unsigned);
    }
    for (const Form& form : kMixed) {
      if (unsigned_ && Has(form, lanes)) return InParts(form, lanes, sums, a, b, &Dot4Emitter::Mixed);
    }
    for (const Form& form : kSigned) {
      if (Has(form, lanes)) return InParts(form, lanes, sums, a, b, &Dot4Emitter::Signed);
    }
    for (const Form& form : kPairs) {
      if (Has(form, lanes)) return InParts(form, lanes, sums, a, b, &Dot4Emitter::Pairs);
    }
    return Singles(sums, a, b);
  }

 private:
  using Part = Value* (Dot4Emitter::*)(const Form&, Value*, Value*, Value*);

  bool Has(const Form& form, int lanes) const {
    const bool arm =
        form.products == llvm::Intrinsic::aarch64_neon_sdot || form.products == llvm::Intrinsic::aarch64_neon_usdot;
    return lanes % form.lanes == 0 && 4 * form.lanes <= vector_bytes_ && arm == cpu_.getTargetTriple().isAArch64() &&
           cpu_.checkFeatures(form.feature);
  }

  Value* InParts(const Form& form, int lanes, Value* sums, Value* a, Value* b, Part part) {
    if (lanes == form.lanes) return (this->*part)(form, sums, a, b);
    Value* all = llvm::PoisonValue::get(sums->getType());
    for (int first = 0; first < lanes; first += form.lanes) {
      std::vector<int> lanes_of(static_cast<size_t>(form.lanes));
      std::iota(lanes_of.begin(), lanes_of.end(), first);
      const auto take = [&](Value* v) { return b_.CreateShuffleVector(v, lanes_of); };
      Value* sum = (this->*part)(form, take(sums), take(a), take(b));
      all = b_.CreateInsertVector(all->getType(), all, sum, b_.getInt64(static_cast<uint64_t>(first)));
    }
    return all;
  }

  // vpdpbusd takes unsigned factors: signed ones plus 128, less 128 times the sum of the others.
  Value* Unsigned(const Form& form, Value* sums, Value* a, Value* b) {
    if (unsigned_) return b_.CreateIntrinsic(form.products, {}, {sums, a, b});
    Value* bits = Splat(a, kSignBits);
    Value* extra = b_.CreateIntrinsic(form.products, {}, {Splat(a, 0), bits, b});
    return b_.CreateSub(b_.CreateIntrinsic(form.products, {}, {sums, b_.CreateXor(a, bits), b}), extra);
  }

  // The instruction as it is.
  Value* Mixed(const Form& form, Value* sums, Value* a, Value* b) {
    auto* bytes = llvm::FixedVectorType::get(b_.getInt8Ty(), static_cast<unsigned>(4 * form.lanes));
    return b_.CreateIntrinsic(form.products, {sums->getType(), bytes},
                              {sums, b_.CreateBitCast(a, bytes), b_.CreateBitCast(b, bytes)});
  }

  // sdot takes signed factors: unsigned ones less 128, plus 128 times the sum of the others.
  Value* Signed(const Form& form, Value* sums, Value* a, Value* b) {
    const auto dot = [&](Value* c, Value* x) { return Mixed(form, c, x, b); };
    if (!unsigned_) return dot(sums, a);
    Value* half = dot(Splat(a, 0), Splat(a, 0x40404040));
    return b_.CreateAdd(dot(sums, b_.CreateXor(a, Splat(a, kSignBits))), b_.CreateAdd(half, half));
  }

  // The even and the odd bytes as 16 bits. Straight-line code shares them.
  std::pair<Value*, Value*> Halves(Value* v, bool is_unsigned) {
    auto [found, added] = halves_.try_emplace(v);
    if (!added) return found->second;
    const auto lanes = static_cast<unsigned>(llvm::cast<llvm::FixedVectorType>(v->getType())->getNumElements());
    Value* words = b_.CreateBitCast(v, llvm::FixedVectorType::get(b_.getInt16Ty(), 2 * lanes));
    const auto number = [&](uint64_t n) { return llvm::ConstantInt::get(words->getType(), n); };
    if (is_unsigned) return found->second = {b_.CreateAnd(words, number(255)), b_.CreateLShr(words, number(8))};
    Value* even = b_.CreateAShr(b_.CreateShl(words, number(8)), number(8));
    return found->second = {even, b_.CreateAShr(words, number(8))};
  }

  Value* Pairs(const Form& form, Value* sums, Value* a, Value* b) {
    const auto [a_even, a_odd] = Halves(a, unsigned_);
    const auto [b_even, b_odd] = Halves(b, false);
    Value* even = b_.CreateIntrinsic(form.products, {}, {a_even, b_even});
    Value* odd = b_.CreateIntrinsic(form.products, {}, {a_odd, b_odd});
    return b_.CreateAdd(sums, b_.CreateAdd(even, odd));
  }

  Value* Singles(Value* sums, Value* a, Value* b) {
    for (uint64_t q = 0; q < 4; ++q) {
      const auto byte = [&](Value* v, bool is_unsigned) {
        v = b_.CreateShl(v, 24 - 8 * q);
        return is_unsigned ? b_.CreateLShr(v, 24) : b_.CreateAShr(v, 24);
      };
      sums = b_.CreateAdd(sums, b_.CreateMul(byte(a, unsigned_), byte(b, false)));
    }
    return sums;
  }

  static Value* Splat(Value* like, int64_t value) { return llvm::ConstantInt::get(like->getType(), value, false); }

  llvm::IRBuilder<>& b_;
  const llvm::MCSubtargetInfo& cpu_;
  const int vector_bytes_;
  const bool unsigned_;
  std::unordered_map<Value*, std::pair<Value*, Value*>>& halves_;
};

}  // namespace

// For AArch64: four bytes of memory as one number. It has no vectors of four bytes, and LLVM would assemble a longer
// one.
Value* Emitter::EmitWord(const ir::Load& e) {
  auto* ramp = e.index.as<ir::Ramp>();
  const int64_t* stride = ramp ? ir::AsIntImm(ramp->stride) : nullptr;
  BufferInfo* info = Info(e.buffer);
  const bool plain = target_.triple.starts_with("aarch64") && info && !info->in_slots && !mask_ && e.type.lanes == 4 &&
                     stride && *stride == 1;
  if (!plain || LevelOf(e.index) < 0) return nullptr;
  Value*& word = at_.loads[e.buffer.get()]["word " + KeyOf(e.index)];
  if (!word) {
    word = Annotate(b_.CreateAlignedLoad(b_.getInt32Ty(), Address(e.buffer, ramp->base), llvm::Align(1)), e.buffer);
  }
  return word;
}

Value* Emitter::EmitDot4(const ir::Call& e) {
  const Result<llvm::TargetMachine*> machine = MachineFor(target_);
  llvm::Type* type = TypeOf(e.type);
  if (!machine.ok()) return Fail(machine.status().message(), type);
  Value* sums = EmitExpr(e.args[0]);
  const auto words = [&](const ir::Expr& factor) {
    auto* load = factor.as<ir::Load>();
    if (Value* word = load ? EmitWord(*load) : nullptr) return Splat(word, e.type.lanes);
    Value* bytes = EmitExpr(factor);
    Value*& known = at_.words[bytes];
    if (!known) known = b_.CreateBitCast(bytes, TypeOf(DType::Int(32, factor.type().lanes / 4)));
    return Splat(known, e.type.lanes);
  };
  Value* a = words(e.args[1]);
  Dot4Emitter emitter(&b_, *(*machine)->getMCSubtargetInfo(), target_.vector_bytes, e.args[1].type().is_uint(),
                      &at_.halves);
  return emitter.Emit(sums, a, words(e.args[2]));
}

}  // namespace hone::codegen
