// Follows the code of a kernel as one thread, with the values that are known before it runs.
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>

#include "agree/sass.h"

namespace hone::agree {
namespace {

constexpr int64_t kMostSteps = 1'000'000;

// A register (0..255), uniform register (256..), predicate (512..), uniform predicate (528..) or number.
struct Operand {
  enum Kind { kRegister, kNumber, kOther } kind = kOther;
  int index = 0;
  int64_t number = 0;
  bool negated = false;
};

Operand Parse(std::string text) {
  Operand operand;
  if (const size_t at = text.find(".reuse"); at != std::string::npos) text.resize(at);
  if (!text.empty() && (text[0] == '!' || text[0] == '-')) {
    operand.negated = true;
    text.erase(0, 1);
  }
  if (text == "RZ" || text == "URZ" || text == "SRZ" || text == "PT" || text == "UPT") {
    operand.kind = Operand::kNumber;
    operand.number = text.back() == 'T';
    operand.index = operand.number == 1 ? 512 : 0;  // a predicate
    return operand;
  }
  char* end = nullptr;
  const size_t digits = text.find_first_of("0123456789");
  const std::string prefix = text.substr(0, digits);
  if (digits != std::string::npos && (prefix == "R" || prefix == "UR" || prefix == "P" || prefix == "UP")) {
    const int base = prefix == "R" ? 0 : prefix == "UR" ? 256 : prefix == "P" ? 512 : 528;
    operand.index = base + static_cast<int>(std::strtol(text.c_str() + digits, &end, 10));
    if (*end == 0) operand.kind = Operand::kRegister;
    return operand;
  }
  operand.number = std::strtoll(text.c_str(), &end, 0);
  if (end != text.c_str() && *end == 0) operand.kind = Operand::kNumber;
  return operand;
}

// The bits of a number as half a register.
int64_t HalfBits(const std::string& text) {
  const double value = std::strtod(text.c_str(), nullptr);
  if (value == 0) return 0;
  int exponent = 0;
  const double part = std::frexp(std::fabs(value), &exponent);  // 0.5 .. 1
  const int64_t sign = value < 0 ? 0x8000 : 0;
  if (exponent < -13) return sign | static_cast<int64_t>(std::ldexp(std::fabs(value), 24));
  return sign | (exponent + 14) << 10 | static_cast<int64_t>((part * 2 - 1) * 1024);
}

struct Step {
  enum Do { kUnknown, kMove, kAdd, kMulAdd, kAnd, kCompare, kCopyPredicate, kJump, kExit } what = kUnknown;
  std::vector<Operand> in;
  std::optional<Operand> predicate;
  std::vector<int> out;  // registers and predicates
  int64_t target = -1;
  enum Relation { kLt, kLe, kGt, kGe, kEq, kNe } relation = kLt;
  bool is_or = false;
};

bool Starts(const std::string& text, const char* with) { return text.rfind(with, 0) == 0; }

Step Decode(const SassInstruction& i) {
  Step step;
  const std::string base = i.opcode.substr(0, i.opcode.find('.'));
  if (!i.predicate.empty()) step.predicate = Parse(i.predicate);
  if (base == "BRA" || base == "CALL" || base == "EXIT" || base == "RET") {
    step.what = base == "EXIT" || base == "RET" ? Step::kExit : Step::kJump;
    step.target = i.target;
    if (i.operands.size() > 1 && !step.predicate) step.predicate = Parse(i.operands[0]);  // BRA.U UP0, TARGET
    return step;
  }
  std::vector<Operand> operands;
  for (const std::string& text : i.operands) operands.push_back(Parse(text));
  // Stores and the like write nothing, and lose nothing by being taken for writers of their first operand's address.
  size_t next = 0;
  for (; next < operands.size() && operands[next].kind == Operand::kRegister && !operands[next].negated; ++next) {
    const bool predicate = operands[next].index >= 512;
    if (next > 0 && !predicate) break;
    step.out.push_back(operands[next].index);
    const bool four = i.opcode.find(".128") != std::string::npos || base == "HMMA";
    const bool two = i.opcode.find(".64") != std::string::npos || i.opcode.find("WIDE") != std::string::npos ||
                     (base == "CS2R" && i.opcode.find(".32") == std::string::npos);
    for (int k = 1; !predicate && k < (four ? 4 : two ? 2 : 1); ++k) step.out.push_back(operands[next].index + k);
  }
  const auto rest = [&](size_t from) {
    return std::vector<Operand>(operands.begin() + static_cast<ptrdiff_t>(from), operands.end());
  };
  if (base == "MOV" || base == "UMOV" || base == "CS2R") {
    if (operands.size() >= 2) step.what = Step::kMove, step.in = {operands[1]};
  } else if (base == "HFMA2" && operands.size() == 5 && Starts(i.operands[1], "-RZ")) {
    step.what = Step::kMove;
    step.in = {{Operand::kNumber, 0, HalfBits(i.operands[3]) << 16 | HalfBits(i.operands[4]), false}};
  } else if ((base == "IADD3" || base == "UIADD3" || base == "VIADD") && step.out.size() == 1 && operands.size() <= 4 &&
             i.opcode.find(".X") == std::string::npos) {
    step.what = Step::kAdd, step.in = rest(1);
  } else if ((base == "IMAD" || base == "UIMAD") && operands.size() == 4 && i.opcode.find("HI") == std::string::npos &&
             i.opcode.find("WIDE") == std::string::npos && i.opcode.find(".X") == std::string::npos) {
    step.what = Step::kMulAdd, step.in = rest(1);
  } else if (base == "LOP3" && operands.size() >= 5 && i.operands[4] == "0xc0") {
    step.what = Step::kAnd, step.in = {operands[1], operands[2]};
  } else if ((base == "ISETP" || base == "UISETP") && operands.size() >= 5 &&
             i.opcode.find(".EX") == std::string::npos) {
    step.what = Step::kCompare, step.in = {operands[2], operands[3], operands[4]};
    step.is_or = i.opcode.find(".OR") != std::string::npos;
    const std::string relation = i.opcode.substr(i.opcode.find('.') + 1, 2);
    step.relation = relation == "LT"   ? Step::kLt
                    : relation == "LE" ? Step::kLe
                    : relation == "GT" ? Step::kGt
                    : relation == "GE" ? Step::kGe
                    : relation == "EQ" ? Step::kEq
                                       : Step::kNe;
  } else if (base == "PLOP3" && operands.size() >= 7 && i.operands[5] == "0x80") {  // the conjunction of three
    step.what = Step::kCopyPredicate, step.in = {operands[2], operands[3], operands[4]};
  }
  return step;
}

}  // namespace

std::vector<double> ExecutedTimes(const SassCode& code, bool* known) {
  std::vector<Step> steps;
  for (const SassInstruction& i : code) steps.push_back(Decode(i));
  std::vector<double> times(code.size(), 0);
  std::vector<std::optional<int64_t>> values(544);
  const auto value = [&](const Operand& operand) -> std::optional<int64_t> {
    std::optional<int64_t> v;
    if (operand.kind == Operand::kNumber) v = operand.number;
    if (operand.kind == Operand::kRegister && operand.index < 544) v = values[static_cast<size_t>(operand.index)];
    if (v && operand.negated) v = operand.index >= 512 ? 1 - *v : -*v;
    return v;
  };
  const auto result = [&](const Step& step) -> std::optional<int64_t> {
    std::vector<std::optional<int64_t>> in;
    for (const Operand& operand : step.in) in.push_back(value(operand));
    switch (step.what) {
      case Step::kMove:
        return in[0];
      case Step::kAdd: {
        int64_t sum = 0;
        for (const auto& v : in) {
          if (!v) return std::nullopt;
          sum += *v;
        }
        return static_cast<int32_t>(sum);
      }
      case Step::kMulAdd:
        if ((in[0] == 0 || in[1] == 0) && in[2]) return in[2];
        return in[0] && in[1] && in[2] ? std::optional<int64_t>(static_cast<int32_t>(*in[0] * *in[1] + *in[2]))
                                       : std::nullopt;
      case Step::kAnd:
        return in[0] && in[1] ? std::optional(*in[0] & *in[1]) : std::nullopt;
      case Step::kCompare: {
        if (in[2] == (step.is_or ? 1 : 0)) return in[2];
        if (!in[0] || !in[1] || !in[2]) return std::nullopt;
        const int64_t a = *in[0], b = *in[1];
        switch (step.relation) {
          case Step::kLt:
            return a < b;
          case Step::kLe:
            return a <= b;
          case Step::kGt:
            return a > b;
          case Step::kGe:
            return a >= b;
          case Step::kEq:
            return a == b;
          case Step::kNe:
            return a != b;
        }
        return std::nullopt;
      }
      case Step::kCopyPredicate:
        return in[0] && in[1] && in[2] ? std::optional<int64_t>(*in[0] & *in[1] & *in[2]) : std::nullopt;
      default:
        return std::nullopt;
    }
  };
  *known = true;
  int64_t at = 0, taken = 0;
  for (; at >= 0 && at < static_cast<int64_t>(code.size()) && taken < kMostSteps; ++taken) {
    const Step& step = steps[static_cast<size_t>(at)];
    times[static_cast<size_t>(at)] += 1;
    const std::optional<int64_t> holds = step.predicate ? value(*step.predicate) : std::optional<int64_t>(1);
    if (step.what == Step::kExit) {
      if (holds == 1) break;
    } else if (step.what == Step::kJump) {
      if (!holds && step.target >= 0 && step.target <= at) *known = false;
      if (holds == 1 && step.target == at) break;
      if (holds == 1 && step.target >= 0) {
        at = step.target;
        continue;
      }
    } else if (holds != 0) {
      const std::optional<int64_t> v = holds == 1 ? result(step) : std::nullopt;
      for (size_t k = 0; k < step.out.size(); ++k) {
        const auto index = static_cast<size_t>(step.out[k]);
        // Only the first, or both of a cleared pair.
        const bool first = k == 0 || (step.what == Step::kMove && step.out.size() == 2);
        if (index < values.size()) values[index] = first ? v : std::nullopt;
      }
      // The second predicate of a comparison is rarely used.
    }
    ++at;
  }
  if (taken == kMostSteps) *known = false;
  return times;
}

}  // namespace hone::agree
