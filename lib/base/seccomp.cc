#include "base/seccomp.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <vector>

namespace hone {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
constexpr uint32_t kX32 = 0x40000000;  // from here on, numbers are of the x32 ABI
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr uint32_t kArchitecture = 0;
#endif

struct Name {
  long call;
  const char* text;
};

// The headers' names: CMake lists every SYS_* of <sys/syscall.h>.
constexpr Name kNames[] = {
#define HONE_CALL(name) {SYS_##name, #name},
#include "base/system_calls.inc"
#undef HONE_CALL
};

const char* FindName(long call) {
  const auto* found = std::ranges::find(kNames, call, &Name::call);
  return found == std::end(kNames) ? nullptr : found->text;
}

// Writes "0x1ab"; no function of stdio is safe in a signal handler.
void FormatHex(unsigned long number, char (&text)[20]) {
  char* at = text + sizeof text - 1;
  *at = 0;
  do *--at = "0123456789abcdef"[number % 16];
  while (number /= 16);
  *--at = 'x';
  *--at = '0';
  memmove(text, at, strlen(at) + 1);
}

// A program of the kernel's packet filter. Jumps count the instructions that they skip.
class Program {
 public:
  explicit Program(uint32_t refusal) : refusal_(refusal) {
    // Numbers have other meanings on another architecture, such as 32-bit calls on a 64-bit machine.
    Load(offsetof(seccomp_data, arch));
    Add(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0);
    Return(refusal_);
    Load(offsetof(seccomp_data, nr));
#if defined(__x86_64__)
    Add(BPF_JMP | BPF_JGE | BPF_K, kX32, 0, 1);
    Return(refusal_);
#endif
  }

  void Allow(const CallRule& rule) {
    std::vector<sock_filter> checks;
    for (const ArgumentRule& argument : rule.arguments) AddChecks(argument, &checks);
    // Behind the checks: allow, then reload the number for the next rule, where every failed check goes.
    const size_t next = checks.size() + 1;
    Add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(rule.call), 0,
        static_cast<uint8_t>(checks.empty() ? 1 : next + 1));
    for (size_t i = 0; i < checks.size(); ++i) {
      sock_filter check = checks[i];
      const auto out = static_cast<uint8_t>(next - i - 1);
      if (check.jt == kOut) check.jt = out;
      if (check.jf == kOut) check.jf = out;
      code_.push_back(check);
    }
    Return(SECCOMP_RET_ALLOW);
    if (!checks.empty()) Load(offsetof(seccomp_data, nr));
  }

  bool Install() {
    Return(refusal_);
    sock_fprog program = {static_cast<unsigned short>(code_.size()), code_.data()};
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
  }

 private:
  static constexpr uint8_t kOut = 255;  // to the next rule

  static size_t Half(int index, bool upper) {
    return offsetof(seccomp_data, args) + sizeof(uint64_t) * static_cast<size_t>(index) + (upper ? 4 : 0);
  }

  static void AddChecks(const ArgumentRule& argument, std::vector<sock_filter>* checks) {
    using Kind = ArgumentRule::Kind;
    const auto load = [&](bool upper) {
      checks->push_back({BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<uint32_t>(Half(argument.index, upper))});
    };
    const auto jump = [&](uint16_t operation, uint32_t value, uint8_t if_true, uint8_t if_false) {
      checks->push_back({static_cast<uint16_t>(BPF_JMP | operation | BPF_K), if_true, if_false, value});
    };
    if (argument.kind == Kind::kAny) return;
    load(false);
    switch (argument.kind) {
      case Kind::kAny:
        break;
      case Kind::kIs:
        jump(BPF_JEQ, argument.value, 0, kOut);
        break;
      case Kind::kNot:
        jump(BPF_JEQ, argument.value, kOut, 0);
        break;
      case Kind::kSelf:
        jump(BPF_JEQ, static_cast<uint32_t>(getpid()), 0, kOut);
        break;
      case Kind::kLacks:
        jump(BPF_JSET, argument.value, kOut, 0);
        break;
      case Kind::kNull:
        jump(BPF_JEQ, 0, 0, kOut);
        load(true);
        jump(BPF_JEQ, 0, 0, kOut);
        break;
    }
  }

  void Add(uint16_t code, uint32_t k, uint8_t if_true, uint8_t if_false) {
    code_.push_back({code, if_true, if_false, k});
  }
  void Load(size_t offset) { Add(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset), 0, 0); }
  void Return(uint32_t action) { Add(BPF_RET | BPF_K, action, 0, 0); }

  uint32_t refusal_;
  std::vector<sock_filter> code_;
};

}  // namespace

bool AllowOnly(std::span<const CallRule> rules, std::span<const CallRule> more, Refusal refusal) {
  if (kArchitecture == 0) return false;
  Program program(refusal == Refusal::kEnd ? SECCOMP_RET_TRAP : SECCOMP_RET_ERRNO | ENOSYS);
  for (const CallRule& rule : rules) program.Allow(rule);
  for (const CallRule& rule : more) program.Allow(rule);
  return program.Install();
}

int CountCalls(std::span<const CallRule> rules, std::span<const CallRule> more) {
  std::set<long> calls;
  for (const CallRule& rule : rules) calls.insert(rule.call);
  for (const CallRule& rule : more) calls.insert(rule.call);
  return static_cast<int>(calls.size());
}

std::string CallName(long call) {
  char hex[20];
  FormatHex(static_cast<unsigned long>(call), hex);
  const char* name = FindName(call);
  return name != nullptr ? name : hex;
}

void AppendRefusedCall(const siginfo_t& info, char* text, size_t size) {
  char hex[20];
  FormatHex(static_cast<unsigned>(info.si_syscall), hex);
  const bool foreign = info.si_arch != kArchitecture;
  const char* name = foreign ? nullptr : FindName(info.si_syscall);
  for (const char* part : {foreign ? "of another architecture " : "", name != nullptr ? name : hex}) {
    strncat(text, part, size - strlen(text) - 1);
  }
}

// SIGSYS is blocked in its handler: the kernel then restores its default action. Without a filter that traps, the
// signal came from elsewhere.
void EndByRefusedCall() {
  constexpr long kNoCall = 9999;
  syscall(kNoCall);
  _exit(128 + SIGSYS);
}

}  // namespace hone
