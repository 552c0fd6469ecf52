// The fuzzer's target over its corpus: models that are whole, and what mutations of them were found to be worth
// keeping.
#include <gtest/gtest.h>

#include "base/file.h"
#include "fuzz_target.h"

namespace hone::onnx {
namespace {

Status ReadPath(const std::string& path) {
  const auto bytes = ReadFile(path);
  EXPECT_TRUE(bytes.ok()) << path;
  return ReadBytes(reinterpret_cast<const uint8_t*>(bytes->data()), bytes->size());
}

TEST(Corpus, MalformedModelsAreRefused) {
  const std::string folder = "tests/fuzz/onnx/corpus";
  const auto names = ListDir(folder);
  ASSERT_TRUE(names.ok());
  ASSERT_GE(names->size(), 8u);
  for (const std::string& name : *names) {
    const Status status = ReadPath(JoinPath(folder, name));
    EXPECT_FALSE(status.ok()) << name;
  }
}

// Each byte of a whole model changed, and the model cut there: whatever comes of it, nothing crashes.
TEST(Corpus, MutationsOfAWholeModel) {
  const auto bytes = ReadFile("tests/data/onnx/branches/model.onnx");
  ASSERT_TRUE(bytes.ok());
  int refused = 0;
  for (size_t i = 0; i < bytes->size(); ++i) {
    for (const uint8_t flip : {0x01, 0x80, 0xff}) {
      std::string changed = *bytes;
      changed[i] = static_cast<char>(changed[i] ^ flip);
      refused += !ReadBytes(reinterpret_cast<const uint8_t*>(changed.data()), changed.size()).ok();
    }
    refused += !ReadBytes(reinterpret_cast<const uint8_t*>(bytes->data()), i).ok();
  }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace hone::onnx
