#include "base/fields.h"

#include "common/expect.h"

namespace hone {
namespace {

enum class Colour { kRed, kBlue };

struct Part {
  std::string name;
  int64_t count = 0;
};

struct Whole {
  int64_t size = 1;
  double share = 0.5;
  uint64_t seed = 7;
  Colour colour = Colour::kRed;
  std::vector<Part> parts;
  std::optional<Part> spare;
  std::vector<std::vector<double>> runs;
  std::string note;
  Part inner;
};

void ListFields(Fields* f, Part* part) {
  f->Value("name", &part->name).Check(!part->name.empty(), "must not be empty");
  f->Value("count", &part->count).AtLeast(0);
}

void ListFields(Fields* f, Whole* whole) {
  f->Version(2);
  f->Value("size", &whole->size).In(1, 9);
  f->Maybe("share", &whole->share).Above(0);
  f->Value("seed", &whole->seed);
  f->Choice("colour", &whole->colour, {{Colour::kRed, "red"}, {Colour::kBlue, "blue"}});
  f->Value("parts", &whole->parts);
  f->Maybe("spare", &whole->spare);
  f->Value("runs", &whole->runs);
  f->Maybe("note", &whole->note, !whole->note.empty());
  f->MaybeObject("inner", [whole](Fields* inner) { inner->Maybe("count", &whole->inner.count); });
}

constexpr char kText[] =
    R"({"version":2,"size":3,"share":0.25,"seed":9,"colour":"blue","parts":[{"name":"a","count":1}],)"
    R"("runs":[[1.5],[]],"inner":{"count":4}})";

TEST(Fields, WritesInTheOrderOfTheListWhatItReads) {
  const Whole whole = Must(ParseFields<Whole>(kText, "w.json"));
  EXPECT_EQ(whole.seed, 9u);
  EXPECT_EQ(whole.colour, Colour::kBlue);
  ASSERT_EQ(whole.parts.size(), 1u);
  EXPECT_EQ(whole.parts[0].name, "a");
  EXPECT_FALSE(whole.spare.has_value());
  EXPECT_EQ(whole.runs, (std::vector<std::vector<double>>{{1.5}, {}}));
  EXPECT_EQ(whole.inner.count, 4);
  EXPECT_EQ(FieldsText(whole, -1), std::string(kText) + "\n");
}

TEST(Fields, WhatMayBeMissingKeepsItsValue) {
  const char* text = R"({"version": 1, "size": 3, "seed": 9, "colour": "red", "parts": [], "runs": []})";
  const Whole whole = Must(ParseFields<Whole>(text, "w.json"));
  EXPECT_EQ(whole.share, 0.5);
  EXPECT_EQ(whole.inner.count, 0);
}

TEST(Fields, AnErrorNamesTheFileAndThePlace) {
  const auto refused = [](const std::string& from, const std::string& to) {
    std::string text = kText;
    text.replace(text.find(from), from.size(), to);
    return ParseFields<Whole>(text, "w.json").status().message();
  };
  EXPECT_EQ(refused("\"size\":3", "\"size\":10"), "w.json: /size: must be at most 9, is 10");
  EXPECT_EQ(refused("\"size\":3,", ""), "w.json: /size: missing");
  EXPECT_EQ(refused("0.25", "0"), "w.json: /share: must be above 0, is 0");
  EXPECT_EQ(refused("\"seed\":9", "\"seed\":-9"), "w.json: /seed: must be at least 0");
  EXPECT_EQ(refused("blue", "green"), "w.json: /colour: expected red or blue, found `green`");
  EXPECT_EQ(refused("\"count\":1", "\"count\":-1"), "w.json: /parts/0/count: must be at least 0, is -1");
  EXPECT_EQ(refused("\"name\":\"a\",", ""), "w.json: /parts/0/name: missing");
  EXPECT_EQ(refused("[1.5]", "[\"x\"]"), "w.json: /runs/0: expected numbers");
  EXPECT_EQ(refused("\"inner\":{\"count\"", "\"inner\":{\"cuont\""),
            "w.json: /inner: unknown key `cuont`; did you mean `count`?");
  EXPECT_EQ(refused("\"version\":2", "\"version\":3"),
            "w.json: /version: version 3 is newer than this Hone reads (2); use a newer Hone");
}

TEST(Fields, ValuesAreCheckedWithoutAFile) {
  Whole whole;
  EXPECT_EQ(FieldsProblem(whole), "");
  whole.size = 0;
  EXPECT_EQ(FieldsProblem(whole), "size: must be at least 1, is 0");
}

TEST(Fields, MacrosNameValuesAfterTheirMembers) {
  struct {
    Part part;
    int64_t size = 3;
  } all{{"a", 4}};
  EXPECT_EQ(HONE_JSON(all.part.name, all.size).dump(), R"({"name":"a","size":3})");
  Json json;
  Fields fields(&json);
  Part* part = &all.part;
  HONE_VALUES(&fields, part->count, all.size);
  EXPECT_EQ(json.dump(), R"({"count":4,"size":3})");
}

TEST(Fields, FieldsAreTakenFromAnotherKindOfFile) {
  Part part{"before", 2};
  Fields fields([](const std::string& key, Fields::Place place) {
    if (key == "count") *std::get<int64_t*>(place) = -5;
    return Status();
  });
  ListFields(&fields, &part);
  EXPECT_TRUE(fields.status().ok());
  EXPECT_EQ(part.name, "before");
  EXPECT_EQ(part.count, -5) << "conditions are checked afterwards, where the line is known";
}

}  // namespace
}  // namespace hone
