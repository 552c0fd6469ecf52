// hone-plan: writes the Ninja manifest of all pipelines.
#include <CLI/CLI.hpp>

#include "base/flags.h"
#include "base/log.h"
#include "command/plan.h"

int main(int argc, char** argv) {
  hone::SetLogName("hone-plan");
  hone::command::PlanOptions options;
  CLI::App app("Writes build.ninja, and the small files its edges read, from the pipeline files.", "hone-plan");
  app.add_option("--pipelines", options.pipelines, "folder of the pipeline files (*.toml, targets/*.toml)")
      ->capture_default_str();
  app.add_option("--work", options.work, "folder to write into")->capture_default_str();
  app.add_option("--tools", options.tools, "folder of the hone-* programs (default: that of hone-plan)");
  if (const auto code = hone::ParseFlags(&app, argc, argv)) return *code;
  return hone::command::RunPlan(options);
}
