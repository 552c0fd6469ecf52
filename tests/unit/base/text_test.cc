#include "base/text.h"

#include "common/expect.h"

namespace hone {
namespace {

TEST(Text, PrintableLeavesNothingThatATerminalObeys) {
  using namespace std::string_literals;
  const std::pair<std::string, const char*> cases[] = {
      {"a\nb\t\r\x1b[2J\0\x7f"s, "a\\nb\\t\\r\\x1b[2J\\x00\\x7f"},
      {"caf\xc3\xa9 `x` \\", "caf\xc3\xa9 `x` \\"},
      {"\xf0\x9f\x94\xa5 \xe2\x82\xac \xc2\xb5s", "\xf0\x9f\x94\xa5 \xe2\x82\xac \xc2\xb5s"},
      {"\xc2\x9b[J", "\\xc2\\x9b[J"},                // CSI as one character
      {"\x9b[J", "\\x9b[J"},                         // as on an 8-bit terminal
      {"a\xe2\x80\xae.", "a\\xe2\\x80\\xae."},       // right to left
      {"\xc3", "\\xc3"},                             // half a character
      {"\xc0\x9b", "\\xc0\\x9b"},                    // overlong
      {"\xe0\x82\x9b", "\\xe0\\x82\\x9b"},           // CSI again, overlong in three bytes
      {"\xf0\x80\x82\x9b", "\\xf0\\x80\\x82\\x9b"},  // and in four
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},           // a surrogate
      {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},  // beyond U+10FFFF
  };
  for (const auto& [text, printable] : cases) EXPECT_EQ(Printable(text), printable);
  EXPECT_EQ(PrintableLines("a\tb\n\x1b]0;title\x07\n"), "a\tb\n\\x1b]0;title\\x07\n");
}

TEST(Text, CutMiddleKeepsBothEndsAndWholeCharacters) {
  EXPECT_EQ(CutMiddle("0123456789", 10), "0123456789");
  EXPECT_EQ(CutMiddle("0123456789a", 9), "012...89a");
  EXPECT_EQ(CutMiddle("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 6), "...\xc3\xa9");  // one byte before, two behind
  EXPECT_EQ(CutMiddle("0123", 3), "...");
}

using Strings = std::vector<std::string>;

TEST(Text, SplitAndJoin) {
  EXPECT_EQ(Split("a,,b", ','), (Strings{"a", "", "b"}));
  EXPECT_EQ(Split("", ','), Strings{""});
  EXPECT_EQ(Split(",", ','), (Strings{"", ""}));
  EXPECT_EQ(SplitWords("  a\tb \n c"), (Strings{"a", "b", "c"}));
  EXPECT_EQ(SplitWords(" \n"), Strings{});
  EXPECT_EQ(Join({"a", "", "b"}, ", "), "a, , b");
  EXPECT_EQ(Join({}, ", "), "");
}

TEST(Text, TrimAndReplace) {
  EXPECT_EQ(Trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(Trim("  "), "");
  EXPECT_EQ(ReplaceAll("aaa", "aa", "b"), "ba");
  EXPECT_EQ(ReplaceAll("a.b.c", ".", "::"), "a::b::c");
  EXPECT_EQ(ReplaceAll("x", "y", "z"), "x");
}

TEST(Text, ParseIntIsStrict) {
  EXPECT_EQ(*ParseInt("0"), 0);
  EXPECT_EQ(*ParseInt("-9223372036854775808"), std::numeric_limits<int64_t>::min());
  for (const char* bad : {"", " 1", "1 ", "+1", "1x", "0x10", "1.0", "9223372036854775808", "-"}) {
    EXPECT_FALSE(ParseInt(bad).ok()) << bad;
  }
}

TEST(Text, ParseDoubleIsStrictAndParseRealTakesInfinitiesToo) {
  EXPECT_EQ(*ParseDouble("1e-3"), 0.001);
  EXPECT_EQ(*ParseDouble("-2"), -2);
  for (const char* bad : {"", " 1", "1,5", "nan", "inf", "1e999", "+1", "1x"}) {
    EXPECT_FALSE(ParseDouble(bad).ok()) << bad;
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(*ParseReal("-2.5"), -2.5);
  EXPECT_EQ(*ParseReal("inf"), kInfinity);
  EXPECT_EQ(*ParseReal(FormatDouble(-kInfinity)), -kInfinity);
  for (const char* bad : {"", "nan", "-nan", "infinity", "+inf", "--inf", "1inf"}) {
    EXPECT_FALSE(ParseReal(bad).ok()) << bad;
  }
}

TEST(Text, FormatDoubleReadsBackExactly) {
  EXPECT_EQ(FormatDouble(0.1), "0.1");
  EXPECT_EQ(FormatDouble(3), "3");
  for (double value : {1.0 / 3, 1e300, 5e-324, -0.0, 123456789.123}) {
    EXPECT_EQ(*ParseDouble(FormatDouble(value)), value);
  }
}

TEST(Text, FormatSeconds) {
  const std::pair<double, const char*> table[] = {
      {0, "0 s"},        {1.234e-3, "1.23 ms"}, {45e-6, "45.0 us"},    {0.5, "500 ms"},    {12.34, "12.3 s"},
      {7e-9, "7.00 ns"}, {999.6e-6, "1.00 ms"}, {0.99949, "999 ms"},   {0.9996, "1.00 s"}, {9.996, "10.0 s"},
      {99.96, "100 s"},  {3600, "3600 s"},      {-1.5e-3, "-1.50 ms"}, {1e-3, "1.00 ms"},  {1, "1.00 s"},
  };
  for (const auto& [seconds, text] : table) EXPECT_EQ(FormatSeconds(seconds), text) << seconds;
}

TEST(Text, FormatCountAndSi) {
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(-1000), "-1,000");
  EXPECT_EQ(FormatCount(1234567), "1,234,567");
  EXPECT_EQ(FormatSi(3.63e9, "FLOP"), "3.63 GFLOP");
  EXPECT_EQ(FormatSi(12, "B"), "12 B");
  EXPECT_EQ(FormatSi(999.7e3, "B"), "1.00 MB");
}

}  // namespace
}  // namespace hone
