// A reader of files that others may have written, as a fuzzer calls it. One small file a reader (targets/NAME.cc):
//
//   HONE_FUZZ_TARGET(stamp) { return pipeline::ParseStamp(input, "fuzz").status(); }
//
// Two kinds of program have them: `fuzz_NAME` has one, under libFuzzer (`make fuzz`), and the test fuzz_corpus_test has
// all and runs each over what lies in corpus/NAME and over changes of it.
//
// A target says whether the reader took the input. Where it has a writer, what it took is written and read again
// (ReadWriteRead).
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

std::vector<FuzzTarget>& FuzzTargets();  // those of this program
bool AddFuzzTarget(const char* name, Status (*read)(std::string_view));

// `input` as the content of a file, for readers that take a path: always the same one, in memory where there is
// /dev/shm. What lies beside it, such as a journal, is gone.
const std::string& InputFile(std::string_view input);

// A folder beside that one, for readers of several files: empty but for what the target puts there.
const std::string& InputFolder();

// Of what was read from a file, `text` is what its writer makes, `again` what that is when read and written once more.
void CheckSame(const std::string& text, const std::string& again);

// For a format with a reader, of a text alone or of a text and its file's name, and a writer: checks that what was read
// is the same when it is written and read again. What the reader says of the input.
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
