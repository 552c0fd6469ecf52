#include <fmt/format.h>

#include "base/counted.h"
#include "base/file.h"
#include "base/log.h"
#include "command/records/records.h"
#include "session/saved_model.h"

namespace hone::command {

static Status Learn(const RecordsOptions& options) {
  HONE_RETURN_IF_ERROR(CheckRegular(options.out));
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> files, ExpandRecordFiles(options.files));
  HONE_ASSIGN_OR_RETURN(const session::LearntModel learnt, session::LearnModel(files));
  const pipeline::SavedModel& model = learnt.model;
  if (learnt.elsewhere > 0) {
    LogWarning("{} of other devices than `{}`, or of earlier versions of their templates, left out",
               Counted(learnt.elsewhere, "trial"), model.device);
  }
  size_t kept = 0;
  for (const pipeline::SavedTask& task : model.tasks) kept += task.trials.size();
  HONE_RETURN_IF_ERROR(WriteFileIfChanged(options.out, pipeline::SavedModelText(model)).status());
  PrintOut(fmt::format("{}: {} of {} from {} on `{}`\n", options.out, kept, Counted(model.trials, "trial"),
                       Counted(static_cast<int64_t>(model.tasks.size()), "task"), model.device));
  return Status();
}

int LearnFromRecords(const RecordsOptions& options) { return ExitCodeOf(Learn(options)); }

}  // namespace hone::command
