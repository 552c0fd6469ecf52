// A line of a log of Ansor, and its schedule in words.
#include "fuzz_target.h"
#include "record/foreign_formats.h"

HONE_FUZZ_TARGET(ansor_log) {
  const auto record = hone::record::ReadAnsor(input.substr(0, input.find('\n')));
  if (record.ok()) (void)hone::record::AnsorSteps(*record);
  return record.status();
}
