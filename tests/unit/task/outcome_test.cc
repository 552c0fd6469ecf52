#include "task/outcome.h"

#include "common/expect.h"

namespace hone {
namespace {

TEST(Outcome, NamesReadBack) {
  for (TrialState s : {TrialState::kOk, TrialState::kPruned, TrialState::kFailed})
    EXPECT_EQ(*ParseTrialState(TrialStateName(s)), s);
  for (TrialError e : {TrialError::kNone, TrialError::kInvalid, TrialError::kCompile, TrialError::kTimeout,
                       TrialError::kCrash, TrialError::kWrong, TrialError::kDevice}) {
    EXPECT_EQ(*ParseTrialError(TrialErrorName(e)), e);
  }
  EXPECT_FALSE(ParseTrialState("fine").ok());
  EXPECT_FALSE(ParseTrialError("fine").ok());
  EXPECT_EQ(TrialErrorNames(), (std::vector<std::string>{"invalid", "compile", "timeout", "crash", "wrong", "device"}));
}

}  // namespace
}  // namespace hone
