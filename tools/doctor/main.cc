// hone-doctor: checks the machine for what disturbs tuning.
#include "base/flags.h"
#include "command/doctor/doctor.h"

int main(int argc, char** argv) {
  hone::Flags flags("hone-doctor",
                    "Checks what tuning depends on (CPU, load, sandbox, compilers, devices) and prints advice.");
  if (const auto code = flags.Parse(argc, argv)) return *code;
  return hone::command::RunDoctor();
}
