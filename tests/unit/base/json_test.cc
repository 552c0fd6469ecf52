#include "base/json.h"

#include "common/expect.h"

namespace hone {
namespace {

Json Parse(const std::string& text) { return Must(ParseJson(text, "t.json")); }

TEST(ParseJson, NamesFileLineAndColumn) {
  const Status status = ParseJson("{\n  \"a\": 1,\n  \"b\" 2\n}\n", "tasks.json").status();
  EXPECT_EQ(status.kind(), StatusKind::kInvalid);
  EXPECT_THAT(status.message(), StartsWith("tasks.json:3:7: s"));
}

TEST(ParseJson, EmptyTruncatedAndTooMuch) {
  for (const char* text : {"", "{", "[1,", "{} {}", "nul", "{\"a\":1e999}", "\"\xff\""}) {
    const std::string message = ParseJson(text, "f").status().message();
    EXPECT_THAT(message, StartsWith("f:")) << text;
    EXPECT_THAT(message, Not(HasSubstr("\n")));
  }
}

TEST(ParseJson, AKeyThatIsThereTwiceIsRefused) {
  const auto message = [](const char* text) { return ParseJson(text, "f").status().message(); };
  EXPECT_EQ(message(R"({"a": 1, "b": 2, "a": 1})"), "f: /a: this key is there twice; keep one");
  EXPECT_EQ(message(R"({"l": [{"x": 1}, 5, [], {"x": 1, "y/z": {}, "y/z": 2}], "l": 0})"),
            "f: /l/3/y~1z: this key is there twice; keep one");
  EXPECT_EQ(message(R"({"a": {"a": {"a": 1}}, "b": [{"a": 1}, {"a": 1}]})"), "");  // each in its own object
}

TEST(DumpJson, KeepsTheOrderOfKeysAndSurvivesBadText) {
  EXPECT_EQ(DumpJson(Parse("{\"b\":1,\"a\":[true,null]}"), -1), "{\"b\":1,\"a\":[true,null]}\n");
  EXPECT_EQ(DumpJson(Json("\xff"), -1), "\"\xef\xbf\xbd\"\n");
}

TEST(JsonReader, ReadsEveryType) {
  Json json = Parse(R"({"i": 9007199254740993, "n": -3, "d": 2, "b": true, "s": "x", "li": [1, 2], "ld": [0.5, 1],
                        "ls": ["p"], "o": {"k": 1}, "lo": [{"k": 5}, {"k": 6}]})");
  JsonReader reader(json, "t.json");
  int64_t i = 0;
  int n = 0;
  double d = 0;
  bool b = false;
  std::string s;
  std::vector<int64_t> li;
  std::vector<double> ld;
  std::vector<std::string> ls;
  JsonReader o;
  std::vector<JsonReader> lo;
  for (Status status : {reader.Read("i", &i), reader.Read("n", &n), reader.Read("d", &d), reader.Read("b", &b),
                        reader.Read("s", &s), reader.Read("li", &li), reader.Read("ld", &ld), reader.Read("ls", &ls),
                        reader.Read("o", &o), reader.Read("lo", &lo), reader.Finish()}) {
    EXPECT_TRUE(status.ok()) << status.message();
  }
  EXPECT_EQ(i, 9007199254740993);  // 2^53 + 1: not through a double
  EXPECT_EQ(n, -3);
  EXPECT_EQ(d, 2);
  EXPECT_TRUE(b);
  EXPECT_EQ(s, "x");
  EXPECT_EQ(li, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(ld, (std::vector<double>{0.5, 1}));
  EXPECT_EQ(ls, std::vector<std::string>{"p"});
  ASSERT_EQ(lo.size(), 2u);
  EXPECT_TRUE(lo[1].Read("k", &n).ok());
  EXPECT_EQ(n, 6);
}

TEST(JsonReader, MessagesNameThePlace) {
  Json json = Parse(R"({"tasks": [{"weight": 1}, {"weight": "two"}], "big": 5000000000, "huge": 18446744073709551615,
                        "float": 1.0,
                        "mixed": [1, "x"], "a/b": 1})");
  JsonReader reader(json, "tasks.json");
  std::vector<JsonReader> tasks;
  ASSERT_TRUE(reader.Read("tasks", &tasks).ok());
  int n = 7;
  EXPECT_EQ(tasks[1].Read("weight", &n).message(), "tasks.json: /tasks/1/weight: expected an integer, found a string");
  EXPECT_EQ(tasks[0].Read("wait", &n).message(), "tasks.json: /tasks/0/wait: missing");
  EXPECT_EQ(reader.Read("big", &n).message(), "tasks.json: /big: 5000000000 is out of range");
  EXPECT_EQ(n, 7);
  int64_t wide = 0;
  EXPECT_FALSE(reader.Read("huge", &wide).ok());
  EXPECT_FALSE(reader.Read("float", &wide).ok());
  std::vector<int64_t> list;
  EXPECT_EQ(reader.Read("mixed", &list).message(), "tasks.json: /mixed/1: expected an integer, found a string");
  std::string text;
  EXPECT_EQ(reader.Read("a/b", &text).message(), "tasks.json: /a~1b: expected a string, found an integer");
}

TEST(JsonReader, OptionalAndNull) {
  Json json = Parse("{\"a\": null, \"b\": \"x\"}");
  JsonReader reader(json, "f");
  int n = 3;
  EXPECT_TRUE(reader.ReadOptional("a", &n).ok());
  EXPECT_TRUE(reader.ReadOptional("c", &n).ok());
  EXPECT_EQ(n, 3);
  EXPECT_FALSE(reader.ReadOptional("b", &n).ok());
}

TEST(ParseJson, WhatIsNestedTooDeepIsRefused) {
  EXPECT_TRUE(ParseJson(std::string(100, '[') + std::string(100, ']'), "f").ok());
  std::string objects;
  for (int i = 0; i < 200; ++i) objects += "{\"a\":";
  for (const std::string& text : {std::string(101, '[') + std::string(101, ']'), std::string(1000000, '['),
                                  objects + "1" + std::string(200, '}')}) {
    EXPECT_EQ(ParseJson(text, "f.json").status().message(), "f.json: lists and objects are nested more than 100 deep");
  }
}

TEST(JsonReader, UnknownKeysAreRefusedWithASuggestion) {
  Json json = Parse("{\"seed\": 1, \"trails\": 2}");
  JsonReader reader(json, "f.json");
  int n = 0;
  ASSERT_TRUE(reader.Read("seed", &n).ok());
  ASSERT_TRUE(reader.ReadOptional("trials", &n).ok());
  EXPECT_EQ(reader.Finish().message(), "f.json: /: unknown key `trails`; did you mean `trials`?");
}

TEST(JsonReader, SomethingElseThanAnObject) {
  Json json = Parse("[1]");
  JsonReader reader(json, "f.json");
  int n = 0;
  EXPECT_EQ(reader.Read("x", &n).message(), "f.json: /: expected an object, found a list");
  EXPECT_FALSE(reader.Finish().ok());
}

TEST(JsonReader, AVersionIsKnownNewerOrNone) {
  const auto read = [](const char* text) {
    const Json json = *ParseJson(text, "f.json");
    return JsonReader(json, "f.json").ReadVersion(2);
  };
  EXPECT_TRUE(read(R"({"version": 1})").ok());
  EXPECT_TRUE(read(R"({"version": 2})").ok());
  const Status newer = read(R"({"version": 3})");
  EXPECT_EQ(newer.kind(), StatusKind::kUnsupported);
  EXPECT_EQ(newer.message(), "f.json: /version: version 3 is newer than this Hone reads (2); use a newer Hone");
  EXPECT_EQ(read(R"({"version": 0})").kind(), StatusKind::kInvalid);
  EXPECT_EQ(read(R"({"version": "2"})").kind(), StatusKind::kInvalid);
  EXPECT_EQ(read("{}").kind(), StatusKind::kInvalid);
}

}  // namespace
}  // namespace hone
