// A record file of an older schema, for the tests of lib/record.
#pragma once

#include "base/file.h"
#include "common/expect.h"
#include "record/migrations.h"
#include "record/schema.h"
#include "record/sqlite.h"

namespace hone::record {

// Replaces the record file at `path` by one of schema `version`, 1 or 2, with the same rows.
inline void MakeOld(const std::string& path, int version) {
  const std::string old = path + ".old";
  {
    auto opened = Must(Database::Open(old, OpenMode::kCreate));
    Database& db = *opened;
    const std::string since_two = version < 2 ? "" : ", disturbed, retaken";
    const std::string trial =
        "ordinal, session, config, config_digest, artifact_digest, state, median, count, error, error_text, "
        "compile_seconds, measure_seconds, proposer, steps" +
        since_two;
    std::string script;
    for (int i = 0; i < version; ++i) script += std::string(kMigrations[i]) + ";";
    script += "ATTACH '" + path + "' AS now; INSERT INTO session SELECT * FROM now.session;" +
              "INSERT INTO main.trial(" + trial + ") SELECT " + trial + " FROM now.trial;" +
              "INSERT INTO main.sample SELECT * FROM now.sample; INSERT INTO main.meta SELECT * FROM now.meta;" +
              "INSERT INTO main.meta SELECT 'space_version', group_concat(name || '=' || version) FROM now.template;" +
              "PRAGMA main.user_version = " + std::to_string(version) +
              "; PRAGMA main.application_id = " + std::to_string(kApplicationId) + "; DETACH now";
    Must(db.Execute(script));
  }
  ASSERT_TRUE(Rename(old, path).ok());
}

}  // namespace hone::record
