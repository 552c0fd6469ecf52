#include "task/candidate.h"

#include "common/expect.h"

namespace hone {
namespace {

TEST(Algorithm, TextIsReadAsItIsWritten) {
  EXPECT_EQ(Algorithm().Text(), "direct");
  const Algorithm winograd{"winograd", {{"m", 4}, {"tiles", 96}}};
  EXPECT_EQ(winograd.Text(), "winograd(m=4, tiles=96)");
  for (const Algorithm& algorithm : {Algorithm(), winograd}) {
    const Result<Algorithm> parsed = Algorithm::Parse(algorithm.Text());
    ASSERT_TRUE(parsed.ok()) << parsed.status().message();
    EXPECT_EQ(*parsed, algorithm);
  }
  EXPECT_EQ(winograd.Number("tiles", 0), 96);
  EXPECT_EQ(winograd.Number("pad", 7), 7);
  for (const char* text : {"", "()", "f(", "f()", "f(m)", "f(m=)", "f(4)", "f(m=4", "f(m=4)x", "f(m=4,n=1)", "f(m=+4)",
                           "f(m=4=4)", "f(m=99999999999999999999)"}) {
    EXPECT_FALSE(Algorithm::Parse(text).ok()) << text;
  }
}

// Records of direct algorithms are unchanged from before algorithms had names.
TEST(Candidate, TextBeginsWithAnAlgorithmThatIsNotDirect) {
  const Candidate direct{{}, {Unroll("out", "k")}};
  EXPECT_EQ(direct.Text(), StepsText(direct.steps));
  const Candidate winograd{{"winograd", {{"m", 4}}}, {Unroll("out", "k"), Vectorize("out", "m")}};
  EXPECT_EQ(winograd.Text(), "algorithm winograd(m=4)\n" + StepsText(winograd.steps));
  for (const Candidate& candidate : {direct, winograd, Candidate{{"gemm", {}}, {}}, Candidate()}) {
    const Result<Candidate> parsed = Candidate::Parse(candidate.Text());
    ASSERT_TRUE(parsed.ok()) << candidate.Text() << parsed.status().message();
    EXPECT_EQ(*parsed, candidate);
  }
  for (const char* text : {"algorithm \nunroll out k", "algorithm f(m\n", "algorithm f\nunroll"}) {
    EXPECT_FALSE(Candidate::Parse(text).ok()) << text;
  }
}

}  // namespace
}  // namespace hone
