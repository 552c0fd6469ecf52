#include "task/outcome.h"

#include <cstddef>
#include <utility>

#include "base/text.h"

namespace hone {
namespace {

constexpr std::pair<TrialState, const char*> kStates[] = {
    {TrialState::kOk, "ok"}, {TrialState::kPruned, "pruned"}, {TrialState::kFailed, "failed"}};
constexpr std::pair<TrialError, const char*> kErrors[] = {
    {TrialError::kNone, ""},           {TrialError::kInvalid, "invalid"}, {TrialError::kCompile, "compile"},
    {TrialError::kTimeout, "timeout"}, {TrialError::kCrash, "crash"},     {TrialError::kWrong, "wrong"},
    {TrialError::kDevice, "device"}};

template <typename T, size_t N>
const char* NameIn(const std::pair<T, const char*> (&names)[N], T wanted) {
  for (const auto& [value, name] : names) {
    if (value == wanted) return name;
  }
  return "?";
}

template <typename T, size_t N>
Result<T> ValueIn(const std::pair<T, const char*> (&names)[N], const std::string& wanted, const char* unknown,
                  const std::string& known) {
  for (const auto& [value, name] : names) {
    if (name == wanted) return value;
  }
  return Status::Invalid(std::string("unknown ") + unknown + " `" + wanted + "`; known: " + known);
}

}  // namespace

const char* TrialStateName(TrialState s) { return NameIn(kStates, s); }
const char* TrialErrorName(TrialError e) { return NameIn(kErrors, e); }

Result<TrialState> ParseTrialState(const std::string& s) {
  return ValueIn(kStates, s, "trial state", "ok, pruned, failed");
}

Result<TrialError> ParseTrialError(const std::string& s) {
  return ValueIn(kErrors, s, "trial error", Join(TrialErrorNames(), ", "));
}

std::vector<std::string> TrialErrorNames() {
  std::vector<std::string> names;
  for (const auto& [error, name] : kErrors) {
    if (error != TrialError::kNone) names.emplace_back(name);
  }
  return names;
}

}  // namespace hone
