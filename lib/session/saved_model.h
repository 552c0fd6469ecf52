// Saved models (pipeline/model_file.h): from records to a file, and from a file to the donors of a task's tuner.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "pipeline/model_file.h"
#include "pipeline/settings.h"
#include "session/tuner_context.h"
#include "target/target.h"
#include "task/workload.h"

namespace hone::session {

// The most trials that a saved model has of each task, which search::ChooseTrials chooses.
inline constexpr size_t kMostOfTask = 128;

struct LearntModel {
  pipeline::SavedModel model;
  int64_t elsewhere = 0;  // trials of other machines, or of earlier versions of their templates
};
// A model of the trials of these record files, one for each task. They must be for one target. With records of several
// devices, takes that with the most trials. Returns kInvalid if no trial is left.
Result<LearntModel> LearnModel(const std::vector<std::string>& paths);

// Reads the file that the settings name. Returns kInvalid if it is not the one with their digest.
Result<pipeline::SavedModel> ReadModel(const pipeline::ModelFile& file);

// Adds the tasks of a model that have a common template with the task, in its current version. Returns kInvalid if the
// model is of another target or device. `fingerprint` is that of the machine that tunes.
Status AddDonorsOfModel(const std::string& path, const pipeline::SavedModel& model, const Workload& workload,
                        const Target& target, const std::string& fingerprint, DonorRecords* donors);

}  // namespace hone::session
