#include "task/outcome.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "base/text.h"

namespace hone {
namespace {

constexpr const char* kStates[] = {"ok", "pruned", "failed"};                                         // by TrialState
constexpr const char* kErrors[] = {"", "invalid", "compile", "timeout", "crash", "wrong", "device"};  // by TrialError

template <typename T, size_t N>
Result<T> ValueIn(const char* const (&names)[N], const std::string& wanted, const char* unknown,
                  const std::string& known) {
  const auto found = std::find(std::begin(names), std::end(names), wanted);
  if (found != std::end(names)) return static_cast<T>(found - std::begin(names));
  return Status::Invalid(std::string("unknown ") + unknown + " `" + wanted + "`; known: " + known);
}

}  // namespace

const char* TrialStateName(TrialState s) { return kStates[static_cast<size_t>(s)]; }
const char* TrialErrorName(TrialError e) { return kErrors[static_cast<size_t>(e)]; }

Result<TrialState> ParseTrialState(const std::string& s) {
  return ValueIn<TrialState>(kStates, s, "trial state", "ok, pruned, failed");
}

Result<TrialError> ParseTrialError(const std::string& s) {
  return ValueIn<TrialError>(kErrors, s, "trial error", Join(TrialErrorNames(), ", "));
}

std::vector<std::string> TrialErrorNames() { return {std::begin(kErrors) + 1, std::end(kErrors)}; }

}  // namespace hone
