// The text of build.ninja from resolved jobs. plan.h decides what is to be done; this file writes it for Ninja.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "pipeline/ninja_writer.h"
#include "pipeline/pipeline_file.h"
#include "pipeline/task_list.h"

namespace hone::pipeline {

// One network on one target. Pointers are borrowed from the PlanInput.
struct NetworkJob {
  const PipelineFile* pipeline = nullptr;  // what holds on the target (PipelineFile::For)
  const TargetFile* target = nullptr;
  bool on_request = false;              // `tune-all` and `report` leave it out
  std::string network;                  // --network; a file is named from the work folder
  bool network_is_file = false;         // then it is an input of the extract edge too
  std::vector<std::string> reads;       // files that its file refers to, named from the work folder
  std::string parameters;               // file of its parameters, named from the work folder; empty: none
  std::string plugin;                   // library with operators of its own, likewise; empty: none
  const TaskList* tasks = nullptr;      // null: not extracted yet, or failed
  bool failed = false;                  // extraction failed: each target of the job prints the reason and fails
  std::vector<std::string> task_files;  // those that this job's extract edge makes, in the order of the list
  std::vector<std::string> stamps;      // that say its tasks are tuned, in the order of the list
  std::string extract_inputs;           // the text of everything hone-extract reads that hone-plan wrote

  std::string Name() const;          // JobName
  std::string TaskListPath() const;  // relative to the work folder
};

// One task on one target, tuned by one edge: for all networks that have it with the same numerics; or for one
// network alone, in one round of its sharing out `trials_total`.
struct TuneJob {
  struct User {
    const PipelineFile* pipeline;
    int64_t weight;
  };
  struct Donor {
    std::string id, stamp, db;
  };
  const TaskEntry* entry = nullptr;
  const TargetFile* target = nullptr;
  const PipelineFile* budget = nullptr;  // whose settings it is tuned with
  std::vector<User> users;               // in the order of the jobs
  std::string settings, stamp, db;
  bool own_settings = false;  // nobody else is tuned with those
  std::vector<Donor> donors;  // nearest first
  bool optional = true;       // no network needs it: it only serves to choose among alternatives
  bool shared = false;        // other edges write into the same records: never two at the same time
};

// A network that shares out its trials: the edge that does, and those that spend them, a round each.
struct Round {
  const NetworkJob* job = nullptr;
  int round = 1;                      // of kRounds
  std::string dir;                    // of the settings that it writes
  std::vector<std::string> settings;  // a task each
  std::vector<std::string> before;    // stamps of the round before; empty in the first
  std::string before_dir;             // where those are
  std::vector<TuneJob> tasks;         // in the order of the list
};

// A job whose library was accepted as a reference (nightly/accepted.h).
struct AcceptedJob {
  std::string digest;   // of the reference
  bool choice = false;  // its choice is known
};

struct ManifestInput {
  std::vector<const TargetFile*> targets;
  std::vector<NetworkJob> jobs;                 // sorted by pipeline, then target
  std::vector<TuneJob> tasks;                   // sorted by target, then id
  std::vector<Round> rounds;                    // sorted by job, then round
  std::map<std::string, AcceptedJob> accepted;  // by JobName
  std::string tools;
  std::string pipelines;
  std::vector<std::string> reads;  // what planning reads besides the task lists
};

// Paths relative to the work folder.
std::string TaskPath(const std::string& id);
std::string TargetPath(const std::string& target);
std::string AbiPath(const std::string& tool);
std::string SettingsPath(const std::string& pipeline, const std::string& part);  // part: extract, tune, bench

std::string RecordsPath(const std::string& target, const std::string& id);

struct Manifest {
  std::string text;
  std::vector<NinjaBuild> builds;  // its statements. Edges that tune have the rule `tune` and the binding `settings`,
                                   // whatever rule they share in the text
};

// kInvalid if two statements make the same path.
Result<Manifest> MakeManifest(const ManifestInput& input);

}  // namespace hone::pipeline
