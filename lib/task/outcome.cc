#include "task/outcome.h"

#include <cstddef>
#include <utility>

namespace hone {
namespace {

constexpr std::pair<TrialState, const char*> kStates[] = {
    {TrialState::kOk, "ok"}, {TrialState::kPruned, "pruned"}, {TrialState::kFailed, "failed"}};
constexpr std::pair<TrialError, const char*> kErrors[] = {
    {TrialError::kNone, ""},           {TrialError::kInvalid, "invalid"}, {TrialError::kCompile, "compile"},
    {TrialError::kTimeout, "timeout"}, {TrialError::kCrash, "crash"},     {TrialError::kWrong, "wrong"},
    {TrialError::kDevice, "device"}};

}  // namespace

const char* TrialStateName(TrialState s) {
  for (const auto& [value, name] : kStates) {
    if (value == s) return name;
  }
  return "?";
}

const char* TrialErrorName(TrialError e) {
  for (const auto& [value, name] : kErrors) {
    if (value == e) return name;
  }
  return "?";
}

Result<TrialState> ParseTrialState(const std::string& s) {
  for (const auto& [value, name] : kStates) {
    if (s == name) return value;
  }
  return Status::Invalid("unknown trial state `" + s + "`; known: ok, pruned, failed");
}

Result<TrialError> ParseTrialError(const std::string& s) {
  for (const auto& [value, name] : kErrors) {
    if (s == name) return value;
  }
  return Status::Invalid("unknown trial error `" + s + "`; known: invalid, compile, timeout, crash, wrong, device");
}

}  // namespace hone
