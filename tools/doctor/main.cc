// hone-doctor: checks the machine for what disturbs tuning.
#include <CLI/CLI.hpp>

#include "base/flags.h"
#include "base/log.h"
#include "command/doctor/doctor.h"

int main(int argc, char** argv) {
  hone::SetLogName("hone-doctor");
  CLI::App app("Checks what tuning depends on (CPU, load, sandbox, compilers, devices) and prints advice.",
               "hone-doctor");
  if (const auto code = hone::ParseFlags(&app, argc, argv)) return *code;
  return hone::command::RunDoctor();
}
