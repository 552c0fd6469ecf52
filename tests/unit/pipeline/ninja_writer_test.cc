#include "pipeline/ninja_writer.h"

#include "base/text.h"
#include "common/expect.h"

namespace hone::pipeline {
namespace {

// Ninja's reading of a wrapped line: "$\n" and the following indent vanish.
std::string Unwrapped(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '$' && i + 1 < text.size() && text[i + 1] == '\n') {
      ++i;
      while (i + 1 < text.size() && text[i + 1] == ' ') ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

TEST(NinjaWriter, EscapesForNinjaAndQuotesForTheShellOnlyWhatNeedsIt) {
  EXPECT_EQ(EscapePath("a/b.c"), "a/b.c");
  EXPECT_EQ(EscapePath("my net:1$"), "my$ net$:1$$");
  EXPECT_EQ(EscapeValue("a $b: c"), "a $$b: c");
  for (auto [word, quoted] : {std::pair("../build/bin/hone-tune", "../build/bin/hone-tune"),
                              {"a b", "'a b'"},
                              {"it's", "'it'\\''s'"},
                              {"$HOME", "'$HOME'"},
                              {"", "''"}}) {
    EXPECT_EQ(ShellQuote(word), quoted);
  }
}

TEST(NinjaWriter, WritesEveryPartOfABuildStatement) {
  NinjaWriter writer;
  writer.Build({{"out 1"}, {"side"}, "cc", {"in"}, {"abi.txt"}, {"tool"}, {{"pool", "gpu"}}});
  EXPECT_EQ(writer.text(), "build out$ 1 | side: cc in | abi.txt || tool\n  pool = gpu\n");
}

TEST(NinjaWriter, WrapsAtUnescapedSpacesAndKeepsTheMeaning) {
  NinjaBuild build{.outputs = {"out"}, .rule = "phony"};
  std::string flat = "build out: phony";
  for (int i = 0; i < 40; ++i) {
    build.inputs.push_back("stamp number " + std::to_string(i));
    flat += " stamp$ number$ " + std::to_string(i);
  }
  NinjaWriter writer;
  writer.Build(build);
  EXPECT_EQ(Unwrapped(writer.text()), flat + "\n");
  int lines = 0;
  for (const std::string& line : Split(writer.text(), '\n')) {
    EXPECT_LE(line.size(), 120u) << line;
    ++lines;
  }
  EXPECT_GT(lines, 6);
}

TEST(NinjaWriter, LeavesAWordLongerThanALineWhole) {
  const std::string word(200, 'x');
  NinjaWriter writer;
  writer.Variable("v", word + " " + word);
  EXPECT_EQ(Unwrapped(writer.text()), "v = " + word + " " + word + "\n");
}

TEST(NinjaWriter, FillsComments) {
  NinjaWriter writer;
  std::string text;
  for (int i = 0; i < 60; ++i) text += "word ";
  writer.Comment(text);
  std::string words;
  for (const std::string& line : Split(writer.text(), '\n')) {
    if (line.empty()) continue;
    EXPECT_EQ(line.substr(0, 2), "# ");
    EXPECT_LE(line.size(), 120u);
    words += line.substr(2) + " ";
  }
  EXPECT_EQ(words, text);
}

TEST(NinjaWriter, ANewlineInACommentStaysInTheComment) {
  NinjaWriter writer;
  writer.Comment("one\nbuild evil: phony");
  EXPECT_EQ(writer.text(), "# one build evil: phony\n");
}

TEST(NinjaWriter, PoolsRulesDefaults) {
  NinjaWriter writer;
  writer.Pool("gpu", 2);
  writer.Rule("r", {{"command", "exec x $in"}, {"restat", "1"}});
  writer.Default({"a b", "c"});
  EXPECT_EQ(writer.text(), "pool gpu\n  depth = 2\nrule r\n  command = exec x $in\n  restat = 1\ndefault a$ b c\n");
}

}  // namespace
}  // namespace hone::pipeline
