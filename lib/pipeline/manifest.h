// Writes the text of build.ninja for resolved jobs. plan.h decides what to do.
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
  const PipelineFile* pipeline = nullptr;  // its settings for the target (PipelineFile::For)
  const TargetFile* target = nullptr;
  bool on_request = false;            // excluded from `tune-all` and `report`
  std::string network;                // --network; a path relative to the work folder if it is a file
  bool network_is_file = false;       // true: also an input of the extract edge
  std::vector<std::string> reads;     // files that the network's file refers to, relative to the work folder
  std::string parameters;             // file of its parameters, relative to the work folder; may be empty
  std::string plugin;                 // library with custom operators, likewise; may be empty
  std::vector<std::string> sketches;  // files of the user's sketches, likewise
  // With [quantise]: files of the calibration inputs, likewise; the first is the path itself. Empty: seeded inputs.
  std::vector<std::string> calibration;
  const TaskList* tasks = nullptr;      // null: not extracted yet, or failed
  bool failed = false;                  // extraction failed: each target of the job prints the reason and fails
  std::string reason;                   // the task list with the reason, if it is that of the job with the total
  std::vector<std::string> task_files;  // made by this job's extract edge, in the order of the list
  std::vector<std::string> stamps;      // of its tuned tasks, in the order of the list
  std::string extract_inputs;           // the text of everything hone-extract reads that hone-plan wrote

  std::string Name() const;          // JobName
  std::string TaskListPath() const;  // relative to the work folder
};

// One task on one target, tuned by one edge: for all networks that have it with the same numerics, or for one network
// alone in one round of distributing its total.
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
  const PipelineFile* budget = nullptr;  // the pipeline with the settings to use
  std::vector<User> users;               // in the order of the jobs
  std::string settings, stamp, db;
  bool own_settings = false;  // no other job uses these settings
  std::vector<Donor> donors;  // nearest first
  bool optional = true;       // a task without a correct candidate is no error (hone-tune --optional)
  bool shared = false;        // other edges write into the same records: never run two at the same time
};

// One round of a total: the edge that distributes it, and the edges that spend it.
struct Round {
  std::vector<const NetworkJob*> jobs;  // the first has the total, the others have named its pipeline
  int round = 1;                        // of its `rounds`
  std::string dir;                      // folder for the settings that it writes
  std::vector<std::string> settings;    // one per task
  std::vector<std::string> before;      // stamps of the previous round; empty in the first
  std::string before_dir;               // their folder
  std::vector<TuneJob> tasks;           // in the order of the lists, each once
};

// A job whose library was accepted as a reference (nightly/accepted.h).
struct AcceptedJob {
  std::string digest;   // the reference's
  bool choice = false;  // whether its choice is known
};

struct ManifestInput {
  std::vector<const TargetFile*> targets;
  std::vector<NetworkJob> jobs;                 // sorted by pipeline, then target
  std::vector<TuneJob> tasks;                   // sorted by target, then id
  std::vector<Round> rounds;                    // sorted by job, then round
  std::map<std::string, AcceptedJob> accepted;  // by JobName
  std::string tools;
  std::string pipelines;
  std::vector<std::string> reads;  // files that planning reads, except the task lists
};

// Paths relative to the work folder.
std::string TaskPath(const std::string& id);
std::string TargetPath(const std::string& target);
std::string AbiPath(const std::string& tool);
std::string SettingsPath(const std::string& pipeline, const std::string& part);  // part: extract, tune, bench

std::string RecordsPath(const std::string& target, const std::string& id);

struct Manifest {
  std::string text;
  std::vector<NinjaBuild> builds;  // its statements. Tuning edges have the rule `tune` and the binding `settings` here,
                                   // whatever shared rule they have in the text
};

// Returns kInvalid if two statements make the same path.
Result<Manifest> MakeManifest(const ManifestInput& input);

}  // namespace hone::pipeline
