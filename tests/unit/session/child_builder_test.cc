// Children that compile: those that hang or die. They are shell scripts.
#include "session/child_builder.h"

#include <sys/stat.h>

#include "common/expect.h"

namespace hone::session {
namespace {

// The result for a candidate, by a child that runs these lines; and how many children there were.
std::pair<measure::BuildResult, size_t> BuiltBy(const std::string& lines, double timeout_seconds) {
  const TempDir dir = Must(TempDir::Create());
  const std::string program = dir.Join("worker"), count = dir.Join("count");
  Must(WriteFileAtomic(program, "#!/bin/sh\necho >> " + count + "\necho started >&2\n" + lines + "\n"));
  EXPECT_EQ(chmod(program.c_str(), 0755), 0);
  const auto builder = Must(ChildBuilder::Create(program, {}, {}, 1, {}, timeout_seconds));
  measure::BuildResult result = Must(builder->Build({Config()})).at(0);
  return {std::move(result), Must(ReadFile(count)).size()};
}

TEST(ChildBuilder, ACompilerThatDoesNotAnswerIsATimeout) {
  const auto [result, children] = BuiltBy("exec sleep 100", 0.5);
  EXPECT_EQ(result.error, TrialError::kTimeout);
  EXPECT_EQ(result.error_text, "not compiled within 0.5 s; the compiling child was killed");
  EXPECT_EQ(children, 1u);
}

TEST(ChildBuilder, ACompilerThatEndsFailsItsCandidateAtOnce) {
  const auto [result, children] = BuiltBy("kill -SEGV $$", 60);
  EXPECT_EQ(result.error, TrialError::kCompile);
  EXPECT_THAT(result.error_text, HasSubstr("killed by SIGSEGV"));
  EXPECT_EQ(children, 1u);
}

TEST(ChildBuilder, ThreeChildrenTryACandidateThatThisMachineFails) {
  const auto [result, children] = BuiltBy("kill -KILL $$", 60);
  EXPECT_EQ(result.error, TrialError::kDevice);
  EXPECT_EQ(children, 3u);
}

}  // namespace
}  // namespace hone::session
