// Texts that were reviewed line by line and are compared byte for byte. To accept a change, run the test program with
// HONE_UPDATE_GOLDEN=1, which fails because it tests nothing, and review the diff.
#pragma once

#include "base/file.h"
#include "base/text.h"
#include "common/expect.h"

namespace hone {

// Expects that `text` equals the file tests/golden/NAME; shows the first line that differs.
inline void ExpectGolden(const std::string& text, const std::string& name) {
  const std::string path = "tests/golden/" + name;
  if (std::getenv("HONE_UPDATE_GOLDEN") != nullptr) {
    const bool changed = Must(WriteFileIfChanged(path, text));
    FAIL() << path << (changed ? ": updated; read the diff" : ": unchanged") << ". Nothing was tested";
  }
  const std::string expected = Must(ReadFile(path));
  const std::vector<std::string> want = Split(expected, '\n'), have = Split(text, '\n');
  for (size_t i = 0; i < std::min(want.size(), have.size()); ++i) {
    ASSERT_EQ(have[i], want[i]) << "at line " << i + 1 << " of " << path;
  }
  EXPECT_EQ(have.size(), want.size());
}

}  // namespace hone
