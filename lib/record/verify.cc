#include <cmath>

#include "record/rows.h"
#include "task/candidate.h"
#include "task/protocol.h"

namespace hone::record {
namespace {

constexpr size_t kMaxFindings = 100;

bool IsHex(const std::string& text) { return text.find_first_not_of("0123456789abcdef") == std::string::npos; }

class Verifier {
 public:
  Verifier(Database* db, int64_t version) : db_(db), version_(version) {}

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
    const std::string columns = version_ < 3 ? "config_digest" : "config_digest, template";
    HONE_RETURN_IF_ERROR(
        Rows(fmt::format("SELECT ordinal, config, {} FROM trial ORDER BY ordinal", columns), [&](const Statement& s) {
          Result<Config> config = Config::FromJson(s.Text(1));
          if (!config.ok()) return fmt::format("trial {}: {}", s.Int(0), config.status().message());
          if (version_ >= 3 && config->template_name != s.Text(3)) {
            Add(fmt::format("trial {}: its config is of the template `{}`, the column beside it says `{}`", s.Int(0),
                            config->template_name, s.Text(3)));
          }
          if (config->ValueDigest().Hex() == s.Text(2)) return std::string();
          return fmt::format("trial {}: its config does not have the digest stored beside it", s.Int(0));
        }));
    HONE_RETURN_IF_ERROR(Rows("SELECT ordinal, artifact_digest FROM trial ORDER BY ordinal", [](const Statement& s) {
      return IsHex(s.Text(1))
                 ? ""
                 : fmt::format("trial {}: its artifact digest `{}` is not hexadecimal", s.Int(0), s.Text(1));
    }));
    HONE_RETURN_IF_ERROR(Rows("SELECT ordinal, steps FROM trial ORDER BY ordinal", [](const Statement& s) {
      const Status steps = Candidate::Parse(s.Text(1)).status();
      return steps.ok() ? "" : fmt::format("trial {}: its steps: {}", s.Int(0), steps.message());
    }));
    HONE_RETURN_IF_ERROR(Rows(
        "SELECT a.ordinal, b.ordinal FROM trial a JOIN session sa ON sa.id = a.session JOIN trial b ON b.config_digest "
        "= a.config_digest AND b.ordinal > a.ordinal " +
            std::string(version_ < 3 ? "" : "AND b.template_version = a.template_version ") +
            "JOIN session sb ON sb.id = b.session WHERE sa.fingerprint = sb.fingerprint ORDER BY a.ordinal",
        [](const Statement& s) { return fmt::format("trials {} and {} are of the same config", s.Int(0), s.Int(1)); }));
    HONE_RETURN_IF_ERROR(Medians());
    return std::move(findings_);
  }

 private:
  template <typename F>
  Status Rows(const std::string& sql, const F& describe) {
    return db_->Each(sql, [&](const Statement& row) { Add(describe(row)); });
  }

  void Add(const std::string& finding) {
    if (!finding.empty() && findings_.size() < kMaxFindings) findings_.push_back(finding);
  }

  Status Medians() {
    const char* sql =
        "SELECT t.ordinal, t.state, t.median, t.count, s.fingerprint FROM trial t LEFT JOIN session s ON s.id = "
        "t.session ORDER BY t.ordinal";
    return db_->Each(sql, [&](const Statement& s) -> Status {
      Trial trial{.ordinal = s.Int(0)};
      HONE_RETURN_IF_ERROR(ReadSamples(db_, &trial));
      const auto count = static_cast<int64_t>(trial.rounds.size());
      if (count != s.Int(3)) Add(fmt::format("trial {}: {} samples, its count says {}", s.Int(0), count, s.Int(3)));
      for (const double x : trial.LastRound()) {
        if (!std::isfinite(x) || x <= 0) Add(fmt::format("trial {}: a sample of {} seconds", s.Int(0), x));
      }
      if (s.Text(1) == "failed") return Status();
      trial.outcome.state = s.Text(1) == "pruned" ? TrialState::kPruned : TrialState::kOk;
      if (count > 0) {
        OwnMedian(s, trial);
      } else {
        HONE_RETURN_IF_ERROR(TwinMedian(s));
      }
      return Status();
    });
  }

  void OwnMedian(const Statement& row, const Trial& trial) {
    if (IsOfSamples(row.Real(2), trial, CountsTrimmedMeans(row.Text(4)))) return;
    Add(fmt::format("trial {}: its median is {}, but its {} samples give {}", row.Int(0), row.Real(2),
                    trial.LastRound().size(), MedianOfSamples(trial)));
  }

  // A trial without samples must have the median of an earlier one with the same artifact on the same machine. If that
  // one failed when it was measured again, it has no median: then one of its rounds must give the time.
  Status TwinMedian(const Statement& trial) {
    HONE_ASSIGN_OR_RETURN(
        Statement q,
        db_->Prepare("SELECT b.ordinal, b.median, b.state FROM trial a JOIN session sa ON sa.id = a.session JOIN "
                     "trial b ON b.artifact_digest = a.artifact_digest AND b.ordinal < a.ordinal AND "
                     "b.count > 0 JOIN session sb ON sb.id = b.session WHERE a.ordinal = ? AND "
                     "a.artifact_digest <> '' AND sa.fingerprint = sb.fingerprint ORDER BY b.ordinal"));
    HONE_ASSIGN_OR_RETURN(const bool found, q.Bind(trial.Int(0)).Step());
    if (!found) {
      Add(fmt::format("trial {}: {}, but neither it nor an earlier trial of its artifact has a sample", trial.Int(0),
                      trial.Text(1)));
    } else if (q.Text(2) == "failed") {
      HONE_RETURN_IF_ERROR(TimeOfARound(trial, q.Int(0)));
    } else if (trial.Real(2) != q.Real(1)) {
      Add(fmt::format("trial {}: its median is {}, but trial {}, which is the same artifact, has {}", trial.Int(0),
                      trial.Real(2), q.Int(0), q.Real(1)));
    }
    return Status();
  }

  Status TimeOfARound(const Statement& trial, int64_t ordinal) {
    Trial twin{.ordinal = ordinal};
    HONE_RETURN_IF_ERROR(ReadSamples(db_, &twin));
    twin.outcome.state = trial.Text(1) == "pruned" ? TrialState::kPruned : TrialState::kOk;
    const bool trimmed = CountsTrimmedMeans(trial.Text(4));
    while (!twin.rounds.empty()) {
      if (IsOfSamples(trial.Real(2), twin, trimmed)) return Status();
      const size_t others = twin.rounds.size() - twin.LastRound().size();
      twin.rounds.resize(others);
      twin.outcome.samples.resize(others);
    }
    Add(fmt::format("trial {}: its median is {}, but no round of trial {}, which is the same artifact, gives it",
                    trial.Int(0), trial.Real(2), ordinal));
    return Status();
  }

  Database* const db_;
  const int64_t version_;  // the schema's
  std::vector<std::string> findings_;
};

}  // namespace

Result<std::vector<std::string>> VerifyRecords(Database* db, int64_t version) { return Verifier(db, version).Run(); }

}  // namespace hone::record
