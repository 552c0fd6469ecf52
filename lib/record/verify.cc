#include "record/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "task/outcome.h"

namespace hone::record {
namespace {

constexpr size_t kMaxFindings = 100;

class Verifier {
 public:
  explicit Verifier(Database* db) : db_(db) {}

  Result<std::vector<std::string>> Run() {
    HONE_RETURN_IF_ERROR(Rows("PRAGMA integrity_check(20)",
                              [](const Statement& s) { return s.Text(0) == "ok" ? "" : "page: " + s.Text(0); }));
    HONE_RETURN_IF_ERROR(Rows("PRAGMA foreign_key_check", [](const Statement& s) {
      return fmt::format("{} row {} refers to a missing {}", s.Text(0), s.Int(1), s.Text(2));
    }));
    int64_t expected = 0;
    HONE_RETURN_IF_ERROR(Rows("SELECT ordinal FROM trial ORDER BY ordinal", [&](const Statement& s) {
      const int64_t wanted = expected;
      expected = s.Int(0) + 1;
      return s.Int(0) == wanted ? ""
                                : fmt::format("trial {}: expected ordinal {}: a trial is missing", s.Int(0), wanted);
    }));
    HONE_RETURN_IF_ERROR(
        Rows("SELECT ordinal, config, config_digest FROM trial ORDER BY ordinal", [](const Statement& s) {
          Result<Config> config = Config::FromJson(s.Text(1));
          if (!config.ok()) return fmt::format("trial {}: {}", s.Int(0), config.status().message());
          if (config->ValueDigest().Hex() == s.Text(2)) return std::string();
          return fmt::format("trial {}: its config does not have the digest stored beside it", s.Int(0));
        }));
    HONE_RETURN_IF_ERROR(Rows(
        "SELECT a.ordinal, b.ordinal FROM trial a JOIN session sa ON sa.id = a.session JOIN trial b ON "
        "b.config_digest = a.config_digest AND b.ordinal > a.ordinal JOIN session sb ON sb.id = b.session "
        "WHERE sa.fingerprint = sb.fingerprint ORDER BY a.ordinal",
        [](const Statement& s) { return fmt::format("trials {} and {} are of the same config", s.Int(0), s.Int(1)); }));
    HONE_RETURN_IF_ERROR(Medians());
    return std::move(findings_);
  }

 private:
  template <typename F>
  Status Rows(const std::string& sql, const F& describe) {
    HONE_ASSIGN_OR_RETURN(Statement s, db_->Prepare(sql));
    for (;;) {
      HONE_ASSIGN_OR_RETURN(bool row, s.Step());
      if (!row) return Status();
      Add(describe(s));
    }
  }

  void Add(const std::string& finding) {
    if (!finding.empty() && findings_.size() < kMaxFindings) findings_.push_back(finding);
  }

  Status Medians() {
    HONE_ASSIGN_OR_RETURN(Statement s,
                          db_->Prepare("SELECT ordinal, state, median, count FROM trial ORDER BY ordinal"));
    for (;;) {
      HONE_ASSIGN_OR_RETURN(bool row, s.Step());
      if (!row) return Status();
      HONE_ASSIGN_OR_RETURN(Statement q, db_->Prepare("SELECT seconds FROM sample WHERE trial = ? ORDER BY sequence"));
      q.Bind(s.Int(0));
      std::vector<double> samples;
      for (;;) {
        HONE_ASSIGN_OR_RETURN(bool more, q.Step());
        if (!more) break;
        samples.push_back(q.Real(0));
      }
      if (static_cast<int64_t>(samples.size()) != s.Int(3)) {
        Add(fmt::format("trial {}: {} samples, its count says {}", s.Int(0), samples.size(), s.Int(3)));
      }
      for (double x : samples) {
        if (!std::isfinite(x) || x <= 0) Add(fmt::format("trial {}: a sample of {} seconds", s.Int(0), x));
      }
      // A finalist's median is of its last measurement, so it must lie among the samples, not equal the median of all.
      const bool inside = samples.empty() || s.Text(1) == "failed" ||
                          (s.Real(2) >= *std::min_element(samples.begin(), samples.end()) &&
                           s.Real(2) <= *std::max_element(samples.begin(), samples.end()));
      if (!inside) Add(fmt::format("trial {}: its median {} is outside its samples", s.Int(0), s.Real(2)));
      if (s.Text(1) == "ok" && samples.empty()) Add(fmt::format("trial {}: ok, but it has no sample", s.Int(0)));
    }
  }

  Database* const db_;
  std::vector<std::string> findings_;
};

}  // namespace

Result<std::vector<std::string>> VerifyRecords(Database* db) { return Verifier(db).Run(); }

}  // namespace hone::record
