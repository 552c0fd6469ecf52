// Flags of the programs in this folder, and what most of them include. (They end with ExitCodeOf of base/interrupt.h.)
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/statistics.h"
#include "base/text.h"

namespace hone::perf {

// Flags as "--name=value" or "--name value". Each call consumes its flag; call Words() last. A mistake ends the program
// with `usage` and exit code 2.
class Flags {
 public:
  Flags(std::string usage, int argc, char** argv) : usage_(std::move(usage)), words_(argv + 1, argv + argc) {}

  // All values of a flag that may be repeated.
  std::vector<std::string> All(const std::string& name) {
    std::vector<std::string> values;
    for (size_t i = 0; i < words_.size();) {
      if (StartsWith(words_[i], name + "=")) {
        values.push_back(words_[i].substr(name.size() + 1));
      } else if (words_[i] == name && i + 1 < words_.size()) {
        values.push_back(words_[i + 1]);
        words_.erase(words_.begin() + static_cast<ptrdiff_t>(i));
      } else {
        ++i;
        continue;
      }
      words_.erase(words_.begin() + static_cast<ptrdiff_t>(i));
    }
    return values;
  }
  std::string Text(const std::string& name, const std::string& otherwise = "") {
    const std::vector<std::string> values = All(name);
    return values.empty() ? otherwise : values.back();
  }
  int64_t Number(const std::string& name, int64_t otherwise, int64_t least = 1) {
    const Result<int64_t> value = ParseInt(Text(name, std::to_string(otherwise)));
    if (!value.ok() || *value < least) Misused(name);
    return *value;
  }
  double Real(const std::string& name, double otherwise) {
    const Result<double> value = ParseDouble(Text(name, FormatDouble(otherwise)));
    if (!value.ok()) Misused(name);
    return *value;
  }
  bool Has(const std::string& name) { return std::erase(words_, name) > 0; }

  // The remaining words. A flag that nobody consumed is a mistake.
  std::vector<std::string> Words() {
    for (const std::string& word : words_) {
      if (StartsWith(word, "--")) Misused(word);
    }
    return words_;
  }

  [[noreturn]] void Misused(const std::string& what) const {
    fmt::print(stderr, "{}: not understood\nusage: {}\n", what, usage_);
    std::exit(2);
  }

 private:
  std::string usage_;
  std::vector<std::string> words_;
};

}  // namespace hone::perf
