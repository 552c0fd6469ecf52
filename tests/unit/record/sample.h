// Outcomes and record files for the tests of lib/record.
#pragma once

#include <sqlite3.h>

#include "base/file.h"
#include "base/statistics.h"
#include "common/expect.h"
#include "record/store.h"

namespace hone::record {

inline Meta SampleMeta() { return {"dense-0123456789abcdef", "dense(f32[1,4], f32[8,4])", "cpu", {{"dense", 1}}}; }

inline Session SampleSession(const std::string& fingerprint = "f1") {
  return {.started = 1000,
          .host = "host",
          .device = "cpu",
          .fingerprint = fingerprint,
          .seed = 18446744073709551615ull,
          .settings = "{}"};
}

inline Config SampleConfig(int64_t unroll) {
  return {"dense", static_cast<uint64_t>(unroll), {{"unroll", KnobKind::kOther, {unroll}, {}}}};
}

inline Outcome Good(int64_t unroll, const std::vector<double>& samples, const std::string& artifact = "abc") {
  return {.config = SampleConfig(unroll),
          .state = TrialState::kOk,
          .samples = samples,
          .median = Median(samples),
          .artifact_digest = artifact,
          .proposer = "random",
          .steps = "vectorize out m"};
}

inline Outcome Bad(int64_t unroll, TrialError error, const std::string& text) {
  return {.config = SampleConfig(unroll), .error = error, .error_text = text};
}

// A folder with a record file in it, and ways to it past the store.
class RecordTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return dir_.Join(name); }
  std::unique_ptr<Store> Open() { return Must(Store::OpenForWriting(path_, SampleMeta())); }
  std::unique_ptr<Store> OpenToRead() { return Must(Store::OpenForReading(path_)); }
  // One session more.
  void Append(const std::vector<Outcome>& outcomes, const Session& session = SampleSession(),
              const Meta& meta = SampleMeta(), const std::string& path = "") {
    const auto store = Must(Store::OpenForWriting(path.empty() ? path_ : path, meta));
    Must(store->Append(Must(store->BeginSession(session)), outcomes));
  }
  std::vector<std::string> Findings() { return Must(OpenToRead()->Verify()); }
  // Straight into the file, as somebody with another tool would.
  void Sql(const std::string& sql) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &db), SQLITE_OK);
    char* error = nullptr;
    EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &error), SQLITE_OK) << error;
    sqlite3_free(error);
    sqlite3_close(db);
  }
  // Neither read nor written, in one line with `part`.
  void ExpectRefused(StatusKind kind, const std::string& part) {
    for (const Status& s :
         {Store::OpenForReading(path_).status(), Store::OpenForWriting(path_, SampleMeta()).status()}) {
      EXPECT_EQ(s.kind(), kind) << s.message();
      EXPECT_THAT(s.message(), HasSubstr(part));
      EXPECT_THAT(s.message(), Not(HasSubstr("\n")));
    }
  }

  TempDir dir_ = Must(TempDir::Create());
  const std::string path_ = dir_.Join("records/cpu/t.db");
};

}  // namespace hone::record
