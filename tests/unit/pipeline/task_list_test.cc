#include "pipeline/task_list.h"

#include "base/text.h"
#include "common/expect.h"

namespace hone::pipeline {
namespace {

constexpr const char* kGoodList =
    R"json({"version": 2, "network": "n", "target": "cpu -threads=2", "target_name": "cpu",
 "tasks": [{"id": "conv2d-0123456789ab", "workload": "conv2d(...)", "weight": 4, "flop": 231211008}],
 "alternatives": [{"replaces": ["c", "p"], "by": [{"name": "p", "workload": "a -> b", "inputs": ["x", "w"]}]}]})json";

TEST(TaskList, ReadsTheAgreedForm) {
  const TaskList list = Must(ParseTaskList(kGoodList, "t.json"));
  EXPECT_EQ(list.network, "n");
  EXPECT_EQ(list.target, "cpu -threads=2");
  EXPECT_EQ(list.target_name, "cpu");
  ASSERT_EQ(list.tasks.size(), 1u);
  EXPECT_EQ(list.tasks[0].id, "conv2d-0123456789ab");
  EXPECT_EQ(list.tasks[0].weight, 4);
  EXPECT_EQ(list.tasks[0].flop, 231211008);
  ASSERT_EQ(list.alternatives.size(), 1u);
  EXPECT_EQ(list.alternatives[0].replaces, (std::vector<std::string>{"c", "p"}));
  ASSERT_EQ(list.alternatives[0].by.size(), 1u);
  EXPECT_EQ(list.alternatives[0].by[0].workload, "a -> b");
  EXPECT_EQ(list.alternatives[0].by[0].inputs, (std::vector<std::string>{"x", "w"}));
  const TaskList back = Must(ParseTaskList(TaskListText(list), "t.json"));
  EXPECT_EQ(TaskListText(back), TaskListText(list));
  EXPECT_EQ(back.alternatives, list.alternatives);
}

TEST(TaskList, ReadsVersionOne) {
  const auto list = Must(ParseTaskList(R"({"version": 1, "network": "n", "target": "c", "target_name": "c", "tasks": [
      {"id": "a", "workload": "", "weight": 1, "flop": 0}]})",
                                       "t.json"));
  EXPECT_TRUE(list.alternatives.empty());
}

std::string With(const std::string& from, const std::string& to) {
  std::string text = kGoodList;
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(TaskList, MistakesAreNamed) {
  const std::pair<std::string, const char*> cases[] = {
      {With("\"version\": 2", "\"version\": 4"), "version"},
      {With("\"version\": 2, ", ""), "version"},
      {With("conv2d-0123456789ab", "../evil"), "'../evil' is not a task id"},
      {With("conv2d-0123456789ab", "a b"), "'a b' is not a task id"},
      {With("conv2d-0123456789ab", ""), "is not a task id"},
      {With("\"weight\": 4", "\"weight\": 0"), "/tasks/0/weight"},
      {With("\"flop\": 231211008", "\"flop\": -1"), "/tasks/0/flop"},
      {With("\"flop\": 231211008", "\"flop\": \"1\""), "/tasks/0/flop"},
      {With("\"flop\"", "\"flops\""), "flop"},
      {With("\"tasks\": [", "\"tasks\": [3, "), "/tasks/0"},
      {With("\"tasks\"", "\"task\""), "tasks"},
      {With("[\"c\", \"p\"]", "[]"), "/alternatives/0/replaces"},
      {With("\"inputs\"", "\"input\""), "/alternatives/0/by/0"},
      {std::string(kGoodList).substr(0, 100), "t.json:"},
      {"", "t.json:"},
      {"[]", "t.json"},
      {R"({"version": 1, "network": "n", "target": "c", "target_name": "c", "tasks": [
          {"id": "a", "workload": "", "weight": 1, "flop": 0}, {"id": "a", "workload": "", "weight": 1, "flop": 0}]})",
       "'a' is listed twice"},
  };
  for (const auto& [text, part] : cases) {
    const std::string message = ParseTaskList(text, "t.json").status().message();
    EXPECT_THAT(message, StartsWith("t.json")) << text;
    EXPECT_THAT(message, HasSubstr(part));
  }
}

TEST(TaskList, PlainNames) {
  for (const char* name : {"a", "resnet18", "conv2d-0123456789ab", "A_b.c-1", "0"})
    EXPECT_TRUE(IsPlainName(name)) << name;
  for (const char* name : {"", ".", "..", ".a", "-a", "a b", "a/b", "a:b", "a$b", "a\n"})
    EXPECT_FALSE(IsPlainName(name)) << name;
}

}  // namespace
}  // namespace hone::pipeline
