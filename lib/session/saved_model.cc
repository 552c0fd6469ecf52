#include "session/saved_model.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "base/file.h"
#include "base/hash.h"
#include "propose/versions.h"
#include "record/store.h"
#include "search/tuner/auto_donors.h"
#include "session/history.h"

namespace hone::session {
namespace {

// The part of a fingerprint that names the device. The rest changes with updates of the system and of Hone.
std::string DeviceOf(const std::string& fingerprint) { return fingerprint.substr(0, fingerprint.find(';')); }

// The trials of one device in one record file.
struct OfDevice {
  std::vector<record::Trial> trials;
  std::vector<double> seconds;  // during the search; 0 if not ok
};

Result<std::map<std::string, OfDevice>> ByDevice(const record::Store& store) {
  HONE_ASSIGN_OR_RETURN(const std::vector<record::Session> sessions, store.Sessions());
  HONE_ASSIGN_OR_RETURN(std::vector<record::Trial> trials, store.AllTrials());
  std::map<int64_t, std::string> machines;
  for (const record::Session& session : sessions) machines[session.id] = session.fingerprint;
  std::map<std::string, SearchTimes> times;
  std::map<std::string, OfDevice> by_device;
  for (record::Trial& trial : trials) {
    const std::string& machine = machines[trial.session];
    const double searched = times.try_emplace(machine, machine).first->second.Take(trial.outcome, trial.rounds);
    OfDevice& of = by_device[DeviceOf(machine)];
    of.seconds.push_back(trial.outcome.state == TrialState::kOk && std::isfinite(searched) ? searched : 0);
    of.trials.push_back(std::move(trial));
  }
  return by_device;
}

}  // namespace

Result<LearntModel> LearnModel(const std::vector<std::string>& paths) {
  struct Task {
    std::string workload;
    std::map<std::string, OfDevice> by_device;
  };
  LearntModel learnt;
  std::map<std::string, Task> tasks;      // by id, so that the order of files makes no difference
  std::map<std::string, size_t> devices;  // number of trials
  for (const std::string& path : paths) {
    HONE_ASSIGN_OR_RETURN(const std::unique_ptr<record::Store> store, record::Store::OpenForReading(path));
    const record::Meta& meta = store->meta();
    if (learnt.model.target.empty()) learnt.model.target = meta.target;
    if (meta.target != learnt.model.target) {
      return Status::Invalid("{}: its target is `{}`, that of {} is `{}`; learn a model for each target", path,
                             meta.target, paths[0], learnt.model.target);
    }
    if (tasks.count(meta.task_id)) {
      return Status::Invalid("{}: a second file of task {}; merge them with `hone-records merge`", path, meta.task_id);
    }
    HONE_ASSIGN_OR_RETURN(auto by_device, ByDevice(*store));
    for (const auto& [device, of] : by_device) devices[device] += of.trials.size();
    tasks[meta.task_id] = {meta.workload, std::move(by_device)};
  }
  const auto most = std::ranges::max_element(devices, {}, [](const auto& d) { return d.second; });
  if (most == devices.end()) return Status::Invalid("no trials in these files: tune first");
  learnt.model.device = most->first;
  Hasher records;
  for (auto& [id, task] : tasks) {
    for (const auto& [device, of] : task.by_device) {
      if (device != most->first) learnt.elsewhere += static_cast<int64_t>(of.trials.size());
    }
    OfDevice& of = task.by_device[most->first];
    pipeline::SavedTask saved;
    HONE_ASSIGN_OR_RETURN(saved.workload, Workload::Parse(task.workload));
    for (const record::Trial& trial : of.trials) {
      int64_t& newest = saved.templates[trial.outcome.config.template_name];
      newest = std::max<int64_t>(newest, trial.template_version);
    }
    for (size_t i = 0; i < of.trials.size(); ++i) {
      const record::Trial& trial = of.trials[i];
      records.Add(fmt::format("{} {} {} {};", id, trial.template_version, trial.outcome.config.ValueDigest().Hex(),
                              of.seconds[i]));
      if (trial.template_version == saved.templates[trial.outcome.config.template_name]) continue;
      of.seconds[i] = 0;
      ++learnt.elsewhere;
    }
    learnt.model.trials += static_cast<int64_t>(of.trials.size());
    for (const size_t i : search::ChooseTrials(of.seconds, kMostOfTask)) {
      saved.trials.push_back({of.trials[i].outcome.config, of.seconds[i]});
    }
    if (!saved.trials.empty()) learnt.model.tasks.push_back(std::move(saved));
  }
  if (learnt.model.tasks.empty()) return Status::Invalid("no correct trial in these files: tune first");
  learnt.model.records = records.Finish().Hex();
  return learnt;
}

Result<pipeline::SavedModel> ReadModel(const pipeline::ModelFile& file) {
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(file.file));
  if (Digest128(text).Hex() != file.digest) {
    return Status::Invalid("{}: the model is not the one that the settings were made for; run `hone-plan` again",
                           file.file);
  }
  return pipeline::ParseSavedModel(text, file.file);
}

Status AddDonorsOfModel(const std::string& path, const pipeline::SavedModel& model, const Workload& workload,
                        const Target& target, const std::string& fingerprint, DonorRecords* donors) {
  if (model.target != target.Text()) {
    return Status::Invalid("{}: a model for `{}`, this task is for `{}`; learn one from records of this target", path,
                           model.target, target.Text());
  }
  if (model.device != DeviceOf(fingerprint)) {
    return Status::Invalid("{}: a model of the device `{}`, this is `{}`; learn one from records of this device", path,
                           model.device, DeviceOf(fingerprint));
  }
  HONE_ASSIGN_OR_RETURN(const TemplateVersions current, propose::VersionsOf(workload, target));
  std::set<std::string> outdated;
  for (const pipeline::SavedTask& task : model.tasks) {
    search::Donor donor{task.workload, {}};
    for (const pipeline::SavedTrial& trial : task.trials) {
      const std::string& name = trial.config.template_name;
      const int64_t version = VersionIn(current, name);
      if (version == 0) continue;
      if (version != VersionIn(task.templates, name)) {
        outdated.insert(name);
        continue;
      }
      donor.outcomes.push_back({.config = trial.config, .state = TrialState::kOk, .median = trial.seconds});
    }
    if (!donor.outcomes.empty()) donors->donors.push_back(std::move(donor));
  }
  for (const std::string& name : outdated) {
    donors->refused.push_back(
        fmt::format("{}: its trials of `{}` are of another version; learn the model again", path, name));
  }
  return Status();
}

}  // namespace hone::session
