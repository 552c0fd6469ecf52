// The scanner itself: each rule of layers_test.cc must be able to fail.
#include "include_scan.h"

#include <gtest/gtest.h>

namespace hone::layers {
namespace {

const Rows kRows = {{"base", 0}, {"task", 1}, {"ir", 2}, {"search/space", 3}, {"schedule", 4}, {"search/tuner", 7}};

TEST(ParseRows, ReadsFoldersAndSkipsComments) {
  Result<Rows> rows = ParseRows("# words\n0 base\n\n3 te search/space\n");
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ(*rows, (Rows{{"base", 0}, {"te", 3}, {"search/space", 3}}));
}

TEST(ParseRows, RefusesNonsenseWithItsLine) {
  EXPECT_EQ(ParseRows("0 base\nx te\n").status().message(), "LAYERS:2: expected a row number and folders");
  EXPECT_EQ(ParseRows("0 base\n1 base\n").status().message(), "LAYERS:2: base is there twice");
}

TEST(LayerOf, TakesTheLongestFolder) {
  EXPECT_EQ(LayerOf(kRows, "ir/expr.h"), "ir");
  EXPECT_EQ(LayerOf(kRows, "search/space/knob.h"), "search/space");
  EXPECT_EQ(LayerOf(kRows, "ir/deep/er/x.h"), "ir");
  EXPECT_EQ(LayerOf(kRows, "search/x.h"), "");
  EXPECT_EQ(LayerOf(kRows, "expr.h"), "");
}

TEST(Includes, FindsBothFormsWithTheirLines) {
  std::vector<Include> found =
      Includes("// #include <no>\n#include <vector>\n\n  #  include \"ir/expr.h\"  // why\n#define X\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].line, 2);
  EXPECT_EQ(found[0].path, "vector");
  EXPECT_FALSE(found[0].quoted);
  EXPECT_EQ(found[1].line, 4);
  EXPECT_EQ(found[1].path, "ir/expr.h");
  EXPECT_TRUE(found[1].quoted);
}

TEST(Complaints, LowerRowsAndOneselfAreFine) {
  Source source = {"schedule/apply.cc", "#include \"schedule/apply.h\"\n#include \"ir/expr.h\"\n"};
  EXPECT_TRUE(Complaints(kRows, source, false).empty());
}

TEST(Complaints, HigherAndEqualRowsAreNot) {
  Source source = {"ir/expr.cc", "#include \"ir/expr.h\"\n#include \"schedule/apply.h\"\n"};
  EXPECT_EQ(Complaints(kRows, source, false),
            std::vector<std::string>{"lib/ir/expr.cc:2: ir (row 2) must not include schedule (row 4)"});
  Rows equal = {{"a", 1}, {"b", 1}};
  EXPECT_EQ(Complaints(equal, {"a/x.h", "#include \"b/y.h\""}, true).size(), 1u);
}

TEST(Complaints, HeavyHeadersOnlyWhereNobodyElseSeesThem) {
  Source source = {"ir/a.h", "#include <llvm/IR/Module.h>"};
  EXPECT_EQ(
      Complaints(kRows, source, true),
      std::vector<std::string>{"lib/ir/a.h:1: llvm/IR/Module.h is heavy and other folders see this header: include "
                               "it in a .cc only"});
  EXPECT_TRUE(Complaints(kRows, source, false).empty());
  EXPECT_EQ(Complaints(kRows, {"ir/a.h", "#include \"base/json.h\""}, true).size(), 1u);
  EXPECT_TRUE(Complaints(kRows, {"ir/a.h", "#include <nlohmann/json_fwd.hpp>"}, true).empty());
}

TEST(ExportedHeaders, WhatOtherFoldersReach) {
  std::vector<Source> lib = {
      {"ir/public.h", "#include \"ir/detail.h\"\n"},
      {"ir/detail.h", ""},
      {"ir/private.h", ""},
      {"ir/x.cc", "#include \"ir/private.h\"\n"},
      {"ir/for_tool.h", ""},
      {"schedule/apply.cc", "#include \"ir/public.h\"\n"},
  };
  std::vector<Source> users = {{"tune/main.cc", "#include \"ir/for_tool.h\"\n#include \"options.h\"\n"}};
  EXPECT_EQ(ExportedHeaders(kRows, lib, users), (std::set<std::string>{"ir/detail.h", "ir/for_tool.h", "ir/public.h"}));
}

TEST(Complaints, IncludesWithoutAFolderAndUnknownFolders) {
  EXPECT_EQ(Complaints(kRows, {"ir/a.cc", "#include \"expr.h\""}, false).size(), 1u);
  EXPECT_EQ(Complaints(kRows, {"stray/a.cc", ""}, false).size(), 1u);
}

}  // namespace
}  // namespace hone::layers
