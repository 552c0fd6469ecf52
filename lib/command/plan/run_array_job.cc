#include "command/plan/run_array_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/file.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "command/plan/ninja_view.h"
#include "pipeline/ninja_reader.h"
#include "pipeline/plan.h"

namespace hone::command {

Status RunArrayJob(const std::string& work, const ArrayJob& job) {
  HONE_ASSIGN_OR_RETURN(const NinjaView view, LookAtWork(work, {}));
  const pipeline::NinjaBuild* build = view.Maker(job.outputs[0]);
  const auto command = build == nullptr ? view.commands.end() : view.commands.find(build->outputs[0]);
  std::vector<std::string> words;
  if (command != view.commands.end()) words = pipeline::SplitCommand(command->second);
  if (words.empty()) {
    return Status::NotFound(fmt::format("{}/build.ninja: no edge makes `{}` (any more); export the jobs again", work,
                                        Printable(job.outputs[0])));
  }
  const auto* known = std::find(std::begin(pipeline::kTools), std::end(pipeline::kTools), BaseName(words[0]));
  if (build->rule != "tune" || known == std::end(pipeline::kTools)) {
    return Status::Invalid(
        fmt::format("{} cannot be an array job; `ninja -C {}` runs it after the arrays", Printable(job.what), work));
  }
  const char* launcher = getenv("HONE_LAUNCHER");
  if (launcher != nullptr && StartsWith(command->second, "exec $HONE_LAUNCHER ")) {
    const std::vector<std::string> front = SplitWords(launcher);
    words.insert(words.begin(), front.begin(), front.end());
  }
  return ReplaceProcess(words, work);
}

}  // namespace hone::command
