#include "record/export.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "sample.h"

namespace hone::record {
namespace {

TEST(Export, OneLineATrialInBothForms) {
  const TempDir dir = *TempDir::Create();
  std::unique_ptr<Store> store = *Store::OpenForWriting(dir.Join("t.db"), SampleMeta());
  const int64_t session = *store->BeginSession(SampleSession());
  ASSERT_TRUE(store->Append(session, {Good(1, {2e-3}), Bad(2, TrialError::kCompile, "a \"quoted\"\nreason")}).ok());

  const std::vector<std::string> lines = Split(*ExportJsonLines(*store), '\n');
  ASSERT_EQ(lines.size(), 3u);  // the last one is empty
  const Json first = *ParseJson(lines[0], "line");
  EXPECT_EQ(first["workload"], SampleMeta().workload);
  EXPECT_EQ(first["median"], 2e-3);
  EXPECT_EQ(first["config"]["entity"][0][2], 1);
  EXPECT_EQ(first["fingerprint"], "f1");
  const Json second = *ParseJson(lines[1], "line");
  EXPECT_TRUE(second["median"].is_null());
  EXPECT_EQ(second["error_text"], "a \"quoted\"\nreason");

  const std::vector<std::string> rows = Split(*ExportCsv(*store), '\n');
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[1], "dense-0123456789abcdef,0,ok,,0.002,1,0,0,random,\"dense unroll=1\"");
  EXPECT_EQ(rows[2], "dense-0123456789abcdef,1,failed,compile,,0,0,0,,\"dense unroll=2\"");
}

}  // namespace
}  // namespace hone::record
