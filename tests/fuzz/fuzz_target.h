// A fuzz target: a reader of files that others may have written. One small file per reader (targets/NAME.cc):
//
//   HONE_FUZZ_TARGET(stamp) { return pipeline::ParseStamp(input, "fuzz").status(); }
//
// Two kinds of program contain them: `fuzz_NAME` has one, under libFuzzer (`make fuzz`), and the test fuzz_corpus_test
// has all and runs each over corpus/NAME and variations of it.
//
// A target returns whether the reader accepted the input. If there is a writer, the accepted input is written and read
// again (ReadWriteRead).
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/check.h"
#include "base/status.h"

namespace hone::fuzz {

struct FuzzTarget {
  std::string name;
  Status (*read)(std::string_view input) = nullptr;
};

std::vector<FuzzTarget>& FuzzTargets();  // all targets of this program
bool AddFuzzTarget(const char* name, Status (*read)(std::string_view));

// Writes `input` to a file, for readers that take a path: always the same one, in memory if /dev/shm exists. Removes
// files beside it, such as a journal.
const std::string& InputFile(std::string_view input);

// A folder beside that file, for readers of several files: empty except for what the target writes.
const std::string& InputFolder();

// Checks that `text`, written from the first reading, equals `again`, written after reading it once more.
void CheckSame(const std::string& text, const std::string& again);

// For a format with a writer and a reader (of a text, or of a text and its file's name): checks that the input is
// unchanged after writing and reading it again. Returns the reader's status for the input.
template <typename Parse, typename Write>
Status ReadWriteRead(std::string_view input, Parse parse, Write write) {
  const auto read = [&](const std::string& text) {
    if constexpr (std::is_invocable_v<Parse, const std::string&, const char*>) {
      return parse(text, "fuzz");
    } else {
      return parse(text);
    }
  };
  const auto first = read(std::string(input));
  if (!first.ok()) return first.status();
  const std::string text = write(*first);
  const auto again = read(text);
  HONE_CHECK(again.ok());
  CheckSame(text, write(*again));
  return Status();
}

}  // namespace hone::fuzz

#define HONE_FUZZ_TARGET(name)                                                                                 \
  static hone::Status FuzzTarget_##name(std::string_view input);                                               \
  [[maybe_unused]] static const bool fuzz_added_##name = hone::fuzz::AddFuzzTarget(#name, &FuzzTarget_##name); \
  static hone::Status FuzzTarget_##name([[maybe_unused]] std::string_view input)
