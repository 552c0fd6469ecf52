// Mistakes in the files that people write.
#pragma once

#include <string>

#include "common/expect.h"

namespace hone::pipeline {

struct Bad {
  const char* text;
  const char* message;  // beginning of the error after the file's name
};

// Each case is rejected with its message, in one line. `parse` takes the text and the file's name.
template <typename Parse, size_t N>
void ExpectRefused(Parse parse, const std::string& file, const std::string& head, const Bad (&cases)[N]) {
  for (const Bad& bad : cases) {
    const Status status = parse(head + bad.text, file).status();
    EXPECT_EQ(status.kind(), StatusKind::kInvalid) << bad.text;
    EXPECT_THAT(status.message(), StartsWith(file + ":" + bad.message)) << bad.text;
    EXPECT_THAT(status.message(), Not(HasSubstr("\n")));
  }
}

}  // namespace hone::pipeline
