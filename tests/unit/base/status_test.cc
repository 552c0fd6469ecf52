#include "base/status.h"

#include "common/expect.h"

namespace hone {
namespace {

TEST(Status, OkIsOnePointerAndHasNoWords) {
  Status ok;
  EXPECT_TRUE(ok.ok());
  EXPECT_EQ(ok.message(), "");
  EXPECT_EQ(ok.kind(), StatusKind::kOk);
  EXPECT_EQ(sizeof(Status), sizeof(void*));
}

TEST(Status, KeepsKindAndMessageThroughCopies) {
  Status a = Status::Locked("held");
  Status b = a;
  a = Status();
  EXPECT_TRUE(a.ok());
  EXPECT_EQ(b.kind(), StatusKind::kLocked);
  EXPECT_EQ(b.message(), "held");
  EXPECT_EQ(b.WithContext("job x").message(), "job x: held");
  EXPECT_EQ(b.WithContext("job x").kind(), StatusKind::kLocked);
  EXPECT_TRUE(Status().WithContext("job x").ok());
}

Result<int> Half(int x) {
  if (x % 2 != 0) return Status::Invalid("odd");
  return x / 2;
}

Result<int> Quarter(int x) {
  HONE_ASSIGN_OR_RETURN(int half, Half(x));
  HONE_ASSIGN_OR_RETURN(int quarter, Half(half));
  return quarter;
}

Status CheckQuarter(int x) {
  HONE_RETURN_IF_ERROR(Quarter(x).status());
  return Status();
}

TEST(Result, ValueOrReason) {
  ASSERT_TRUE(Quarter(12).ok());
  EXPECT_EQ(*Quarter(12), 3);
  EXPECT_EQ(Quarter(6).status().message(), "odd");
  EXPECT_TRUE(CheckQuarter(8).ok());
  EXPECT_EQ(CheckQuarter(7).kind(), StatusKind::kInvalid);
}

TEST(ResultDeathTest, TheValueOfAFailureIsOurBug) { EXPECT_DEATH((void)*Half(3), "internal error: ok\\(\\)"); }

}  // namespace
}  // namespace hone
