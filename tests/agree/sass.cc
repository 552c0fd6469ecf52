#include "agree/sass.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/file.h"
#include "base/subprocess.h"
#include "base/text.h"

namespace hone::agree {
namespace {

enum Port { kIssue, kFmaPort, kAlu, kMmaPort, kLsu };
constexpr const char* kPorts[] = {"issue", "fma", "alu", "mma", "lsu"};

// The opcode without its suffixes.
std::string Base(const SassInstruction& i) { return i.opcode.substr(0, i.opcode.find('.')); }
bool Has(const SassInstruction& i, const char* suffix) { return i.opcode.find(suffix) != std::string::npos; }

double FmaCycles(int arch) { return arch == 60 || (arch >= 70 && arch <= 80) ? 2 : 1; }
double MmaCycles(int arch) { return arch >= 90 ? 6.4 : arch == 80 ? 8 : 16; }
double MmaPeakCycles(int arch) { return arch >= 90 ? 4 : MmaCycles(arch); }

// The number that an operand is; nothing for registers and others.
std::optional<int64_t> Immediate(const std::string& operand) {
  if (operand == "RZ" || operand == "URZ" || operand == "SRZ") return 0;
  char* end = nullptr;
  const int64_t value = std::strtoll(operand.c_str(), &end, 0);
  return end != operand.c_str() && *end == 0 ? std::optional(value) : std::nullopt;
}

struct Range {
  int64_t begin, end;
};

// "/*0a10*/   @!P1 BRA `(.L_x_4) ;", perhaps with the bytes behind it.
std::optional<SassInstruction> ParseInstruction(std::string_view line) {
  if (!StartsWith(line, "/*")) return std::nullopt;
  const size_t end = line.find("*/");
  if (end == std::string_view::npos || line.find_first_not_of("0123456789abcdef", 2) != end) return std::nullopt;
  SassInstruction i;
  i.address = std::strtoll(std::string(line.substr(2, end - 2)).c_str(), nullptr, 16);
  line = Trim(line.substr(end + 2));
  line = Trim(line.substr(0, line.find(';')));
  const auto word = [&line] {
    const std::string_view first = line.substr(0, line.find(' '));
    line = Trim(line.substr(first.size()));
    return first;
  };
  if (StartsWith(line, "@")) i.predicate = std::string(word().substr(1));
  i.opcode = std::string(word());
  if (i.opcode.empty()) return std::nullopt;
  for (const std::string& operand : Split(line, ',')) {
    if (!Trim(operand).empty()) i.operands.emplace_back(Trim(operand));
  }
  return i;
}

std::vector<Range> LoopsOf(const SassCode& code) {
  std::map<int64_t, int64_t> ends;  // by the beginning; a loop may have several branches back
  for (size_t i = 0; i < code.size(); ++i) {
    const int64_t at = static_cast<int64_t>(i), target = code[i].target;
    if (Base(code[i]) == "BRA" && target >= 0 && target < at) ends[target] = at + 1;
  }
  std::vector<Range> loops;
  for (const auto& [begin, end] : ends) loops.push_back({begin, end});
  return loops;
}

// Adds `times` runs of an instruction.
void AddInstruction(const SassInstruction& i, int arch, double times, SassLoop* loop) {
  const std::string base = Base(i);
  if (base == "NOP") return;
  const SassKind kind = KindOfSass(i);
  loop->counts[kind] += times;
  loop->cycles[kIssue] += times;
  if (kind == SassKind::kFma || kind == SassKind::kFloat) loop->cycles[kFmaPort] += times * FmaCycles(arch);
  if (kind == SassKind::kInteger && (base == "IMAD" || base == "HFMA2")) {
    loop->cycles[kFmaPort] += times * FmaCycles(arch);
  } else if (kind == SassKind::kInteger) {
    loop->cycles[kAlu] += times * 2;
  }
  if (kind == SassKind::kMma) loop->cycles[kMmaPort] += times * MmaCycles(arch);
  if (kind == SassKind::kShared || kind == SassKind::kGlobal) {
    loop->cycles[kLsu] += times * (Has(i, ".128") ? 8 : 4) * (base == "LDGSTS" ? 2 : 1);
  }
}

}  // namespace

SassKind KindOfSass(const SassInstruction& i) {
  const std::string base = Base(i);
  const auto any = [&base](std::initializer_list<const char*> names) {
    return std::ranges::any_of(names, [&](const char* name) { return base == name; });
  };
  if (any({"FFMA", "FFMA2"})) return SassKind::kFma;
  if (any({"HMMA", "HGMMA", "IMMA", "DMMA"})) return SassKind::kMma;
  if (any({"FADD", "FMUL", "MUFU", "FSEL", "FMNMX", "FCHK", "DFMA", "DADD", "DMUL"})) return SassKind::kFloat;
  if (any({"LDS", "STS", "LDSM", "ATOMS"})) return SassKind::kShared;
  if (any({"LDG", "STG", "LDGSTS", "LDL", "STL", "LD", "ST", "RED", "ATOMG"})) return SassKind::kGlobal;
  if (any({"BAR", "DEPBAR", "LDGDEPBAR", "MEMBAR", "ERRBAR", "SYNCS", "WARPSYNC"})) return SassKind::kBarrier;
  if (any({"BRA", "BRX", "EXIT", "RET", "CALL", "BSSY", "BSYNC", "NOP", "YIELD"})) return SassKind::kControl;
  if (base[0] == 'U' || any({"R2UR", "S2UR", "LDC", "ULDC", "S2R", "LDCU"})) return SassKind::kUniform;
  return SassKind::kInteger;
}

std::map<std::string, SassCode> ParseSass(const std::string& text) {
  std::map<std::string, SassCode> kernels;
  SassCode* code = nullptr;
  std::map<std::string, int64_t> labels;
  const auto resolve = [&] {
    if (code == nullptr) return;
    for (SassInstruction& i : *code) {
      if (i.operands.empty() || (Base(i) != "BRA" && Base(i) != "CALL")) continue;
      const std::string& to = i.operands.back();
      const std::optional<int64_t> address = Immediate(to);
      for (size_t k = 0; address && k < code->size(); ++k) {
        if ((*code)[k].address == *address) i.target = static_cast<int64_t>(k);
      }
      const size_t open = to.find("(."), close = to.find(')');
      if (open == std::string::npos || close == std::string::npos) continue;
      const auto label = labels.find(to.substr(open + 1, close - open - 1));
      if (label != labels.end()) i.target = label->second;
    }
    labels.clear();
  };
  for (const std::string& whole : Split(text, '\n')) {
    const std::string_view line = Trim(whole);
    const size_t colon = line.find(':');
    if (StartsWith(line, ".text.") && colon == line.size() - 1) {
      resolve();
      code = &kernels[std::string(line.substr(6, colon - 6))];
    } else if (StartsWith(line, "Function : ")) {
      resolve();
      code = &kernels[std::string(line.substr(11))];
    } else if (code != nullptr && StartsWith(line, ".L") && colon != std::string_view::npos) {
      labels[std::string(line.substr(0, colon))] = static_cast<int64_t>(code->size());
    } else if (code != nullptr) {
      if (auto i = ParseInstruction(line)) code->push_back(*std::move(i));
    }
  }
  resolve();
  return kernels;
}

double SassLoop::Count(SassKind kind) const {
  const auto found = counts.find(kind);
  return found == counts.end() ? 0 : found->second;
}

double SassLoop::Cycles() const { return *std::max_element(cycles, cycles + 5); }
const char* SassLoop::Port() const { return kPorts[std::max_element(cycles, cycles + 5) - cycles]; }

double SassLoop::IntegerPer(double fma) const {
  const double mma = Count(SassKind::kMma), work = mma > 0 ? mma : Count(SassKind::kFma) / fma;
  return work > 0 ? Count(SassKind::kInteger) / work : INFINITY;
}

SassLoop SteadyLoop(const SassCode& code, int arch) {
  bool known = true;
  const std::vector<double> executed = ExecutedTimes(code, &known);
  const std::vector<Range> loops = LoopsOf(code);
  const auto inside = [](const Range& inner, const Range& outer) {
    return inner.begin >= outer.begin && inner.end <= outer.end && inner.end - inner.begin < outer.end - outer.begin;
  };
  const auto count = [&](const Range& range, double trips) {
    SassLoop result{.begin = range.begin, .end = range.end, .trips = trips, .known = known};
    for (int64_t at = range.begin; at < range.end; ++at) {
      const size_t i = static_cast<size_t>(at);
      AddInstruction(code[i], arch, executed[i] / trips, &result);
    }
    return result;
  };
  const auto work = [](const SassLoop& l) {
    return l.trips * (l.Count(SassKind::kFma) + 64 * l.Count(SassKind::kMma));
  };
  SassLoop best = count({0, static_cast<int64_t>(code.size())}, 1);
  const SassLoop whole = best;
  for (const Range& loop : loops) {
    if (std::ranges::any_of(loops, [&](const Range& outer) { return inside(loop, outer); })) continue;
    const double trips = executed[static_cast<size_t>(loop.begin)];
    if (trips == 0) continue;
    const SassLoop one = count(loop, trips);
    if (work(one) >= (best.trips == 1 ? work(whole) / 2 : work(best))) best = one;
  }
  best.whole_cycles = whole.Cycles();
  best.whole_fma = whole.Count(SassKind::kFma) + 32 * whole.Count(SassKind::kMma);
  return best;
}

double LoopShare(const SassLoop& loop, int arch) {
  const double mma = loop.Count(SassKind::kMma);
  const double ideal = mma > 0 ? mma * MmaPeakCycles(arch) : loop.Count(SassKind::kFma) * FmaCycles(arch);
  return loop.Cycles() > 0 ? ideal / loop.Cycles() : 0;
}

int64_t ResidentBlocks(int arch, int64_t threads, int64_t registers, int64_t shared_bytes) {
  const int64_t most_threads = arch == 75 ? 1024 : arch == 86 || arch == 89 ? 1536 : 2048;
  const int64_t most_shared = (arch >= 90                 ? 228
                               : arch == 86 || arch == 89 ? 100
                               : arch == 80               ? 164
                               : arch == 75               ? 64
                                                          : 96) *
                              1024;
  const int64_t warps = (threads + 31) / 32, of_warp = (registers + 7) / 8 * 8 * 32;
  return std::min({int64_t{32}, most_threads / (warps * 32), 65536 / std::max<int64_t>(of_warp * warps, 1),
                   most_shared / (shared_bytes + 1024)});
}

double KernelShare(const SassLoop& loop, int arch, const Launch& launch, double flop, int64_t multiprocessors) {
  if (!loop.known) return 0;
  const auto product = [](const auto& of) { return static_cast<double>(of[0] * of[1] * of[2]); };
  const double blocks = product(launch.grid), warps = std::ceil(product(launch.block) / 32);
  // Useful FMA of a thread; not more than it executes, since a path that the code takes may not be the one followed.
  const double fma = std::min(flop / 2 / (blocks * warps * 32), loop.whole_fma);
  const double ideal = loop.Count(SassKind::kMma) > 0 ? fma / 32 * MmaPeakCycles(arch) : fma * FmaCycles(arch);
  const double multis = static_cast<double>(multiprocessors);
  return ideal / loop.whole_cycles * blocks / (multis * std::ceil(blocks / multis));
}

Result<std::map<std::string, SassCode>> Disassemble(const std::string& cubin) {
  // In the path, in the toolkit's usual folder, or in a Python package.
  static const std::vector<std::string> program = [] {
    constexpr char kFind[] =
        "for p in nvdisasm /usr/local/cuda/bin/nvdisasm \"$(python3 -c 'import glob, nvidia\n"
        "print(*[f for d in nvidia.__path__ for f in glob.glob(d + \"/*/bin/nvdisasm\")])' 2>/dev/null)\" "
        "cuobjdump /usr/local/cuda/bin/cuobjdump; do command -v \"$p\" && exit; done";
    const auto found = RunCommand({"/bin/sh", "-c", kFind});
    const std::string path = found.ok() ? std::string(Trim(found->out)) : "";
    if (path.empty()) return std::vector<std::string>();
    return std::vector<std::string>{path, BaseName(path) == "cuobjdump" ? "-sass" : "-c"};
  }();
  if (program.empty()) {
    return Status::NotFound(
        "no disassembler: neither nvdisasm nor cuobjdump is in the path; install the CUDA toolkit or the Python "
        "package "
        "nvidia-cuda-nvdisasm");
  }
  HONE_ASSIGN_OR_RETURN(const TempDir dir, TempDir::Create());
  HONE_RETURN_IF_ERROR(WriteFileAtomic(dir.Join("kernel.cubin"), cubin));
  HONE_ASSIGN_OR_RETURN(const CommandResult result, RunCommand({program[0], program[1], dir.Join("kernel.cubin")}));
  if (result.status.code != 0) return Status::Io("{}: {}", program[0], result.err);
  return ParseSass(result.out);
}

}  // namespace hone::agree
