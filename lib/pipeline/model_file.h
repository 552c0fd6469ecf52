// The model file of `[tune] model`: trials of many tasks of one device, from which the tuner starts.
// `hone-records learn` writes it, session/saved_model.h uses it. It has configurations and times, and no
// numbers of a model: what is learnt from them is computed anew for each task, so a later Hone may learn better, and
// trials stay valid as long as the version of their template or sketch does.
// Format, version 1:
//   {"version": 1, "target": "cpu -triple=..", "device": "cpu=AMD EPYC", "records": "0123..", "trials": 3072,
//    "tasks": [{"workload": "..", "templates": [{"name": "sums", "version": 2}],
//               "trials": [{"config": {..}, "seconds": 1.2e-4}]}], "check": "4567.."}
// `device` is the beginning of the fingerprint of its times; `records` is the digest of the `trials` that it was made
// from, of which it has the most useful ones; `check` is the digest of the file without that value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "task/config.h"
#include "task/template_versions.h"
#include "task/workload.h"

namespace hone::pipeline {

struct SavedTrial {
  Config config;
  double seconds = 0;  // of the search, above 0
  bool operator==(const SavedTrial&) const = default;
};

struct SavedTask {
  Workload workload;
  TemplateVersions templates;  // of the trials
  std::vector<SavedTrial> trials;
  bool operator==(const SavedTask&) const = default;
};

struct SavedModel {
  std::string target, device, records;
  int64_t trials = 0;
  std::vector<SavedTask> tasks;
  std::string check;  // set by SavedModelText
  bool operator==(const SavedModel&) const = default;
};

std::string SavedModelText(SavedModel model);
// Returns kInvalid for a file that is cut off, was changed or is not a model, kUnsupported for one of a newer version;
// the message says what to do.
Result<SavedModel> ParseSavedModel(std::string_view text, const std::string& path);

}  // namespace hone::pipeline
