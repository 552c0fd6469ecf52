// The last line of `make check` (tests/sum_results.awk) must not lose a crash, a missing program or a skip.
#include "base/file.h"
#include "base/subprocess.h"
#include "common/expect.h"

namespace hone {
namespace {

class SummaryTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(MakeDirs(dir_.Join("cases")).ok()); }

  // A program's list of cases as GoogleTest writes it.
  void Cases(const std::string& program, int tests, int failures, int disabled, int skipped,
             const std::string& inside = "") {
    std::string counts = "tests=\"" + std::to_string(tests) + "\" failures=\"" + std::to_string(failures) +
                         "\" disabled=\"" + std::to_string(disabled) + "\"";
    std::string path = dir_.Join("cases/" + program + ".xml");
    std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites " + counts +
                       " errors=\"0\" name=\"AllTests\">\n  <testsuite name=\"A\" " + counts + " skipped=\"" +
                       std::to_string(skipped) + "\" errors=\"0\" time=\"0\">" + inside +
                       "\n  </testsuite>\n</testsuites>\n";
    ASSERT_TRUE(WriteFileAtomic(path, text).ok());
    files_.push_back(path);
  }

  // A program in ctest's list.
  void Program(const std::string& name, const std::string& status, const std::string& inside = "") {
    programs_ += "\t<testcase name=\"" + name + "\" classname=\"" + name + "\" time=\"0.1\" status=\"" + status +
                 "\">\n" + inside + "\t\t<system-out>&lt;testcase name=\n</system-out>\n\t</testcase>\n";
  }

  CommandResult Sum() {
    EXPECT_TRUE(WriteFileAtomic(dir_.Join("programs.xml"), "<testsuite name=\"(empty)\"\n>\n" + programs_).ok());
    std::vector<std::string> argv = {"awk", "-f", std::string(HONE_SOURCE_DIR) + "/tests/sum_results.awk"};
    argv.insert(argv.end(), files_.begin(), files_.end());
    argv.push_back(dir_.Join("programs.xml"));
    return Must(RunCommand(argv));
  }

  TempDir dir_ = Must(TempDir::Create("hone-summary-test"));
  std::vector<std::string> files_;
  std::string programs_;
};

TEST_F(SummaryTest, CasesAreCountedNotPrograms) {
  Cases("a", 10, 0, 1, 2);
  Cases("b", 5, 0, 0, 0);
  Program("a", "run");
  Program("b", "run");
  CommandResult result = Sum();
  EXPECT_EQ(result.out, "12 passed, 0 failed, 3 skipped\n");
  EXPECT_TRUE(result.status.ok());
}

TEST_F(SummaryTest, EachReasonToSkipIsPrintedWithItsCount) {
  const std::string skip =
      "\n      <skipped message=\"/a/b.cc:7&#x0A;no GPU&#x0A;here\"><![CDATA[/a/b.cc:7\nno GPU\nhere]]></skipped>";
  Cases("a", 5, 0, 1, 2, skip + skip + "\n    <testcase name=\"Later\" status=\"notrun\" result=\"suppressed\" />");
  Program("a", "run");
  EXPECT_EQ(Sum().out, "skipped 1 of a: disabled, Later\nskipped 2 of a: no GPU here\n2 passed, 0 failed, 3 skipped\n");
}

TEST_F(SummaryTest, FailedCasesFail) {
  Cases("a", 4, 2, 0, 0);
  Program("a", "fail", "\t\t<failure message=\"\"/>\n");
  CommandResult result = Sum();
  EXPECT_EQ(result.out, "2 passed, 2 failed, 0 skipped\n");
  EXPECT_EQ(result.status.code, 1);
}

TEST_F(SummaryTest, ACrashLeavesNoListAndIsAFailure) {
  Cases("a", 4, 0, 0, 0);
  Program("a", "run");
  Program("crashed", "fail", "\t\t<failure message=\"\"/>\n");
  CommandResult result = Sum();
  EXPECT_EQ(result.out, "failed without a list of failed cases: crashed\n4 passed, 1 failed, 0 skipped\n");
  EXPECT_EQ(result.status.code, 1);
}

TEST_F(SummaryTest, AProgramThatFailsAfterItsCasesPassedIsAFailure) {
  Cases("a", 4, 0, 0, 0);
  Program("a", "fail", "\t\t<failure message=\"\"/>\n");
  EXPECT_EQ(Sum().status.code, 1);
}

TEST_F(SummaryTest, OtherProgramsCountAsOneEach) {
  Program("script", "run");
  Program("no_device", "notrun", "\t\t<skipped message=\"SKIP_RETURN_CODE=77\"/>\n");
  Program("no_tool", "notrun",
          "\t\t<skipped message=\"SKIP_RETURN_CODE=77\"/>\n\t\t<system-out>skipped: there is no tool\n</system-out>\n");
  Program("not_built", "notrun", "\t\t<skipped message=\"Unable to find executable\"/>\n");
  EXPECT_EQ(Sum().out,
            "failed without a list of failed cases: not_built\nskipped 1 of no_device: the whole program\n"
            "skipped 1 of no_tool: there is no tool\n1 passed, 1 failed, 2 skipped\n");
}

}  // namespace
}  // namespace hone
