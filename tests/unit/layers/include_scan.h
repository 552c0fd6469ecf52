// The rules of lib/LAYERS and HACKING.md on who may include what, as functions on text.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hone::layers {

// Row of each folder of lib/.
using Rows = std::map<std::string, int>;

// kInvalid for a line that is not "ROW folder folder..." and for a folder that is there twice.
Result<Rows> ParseRows(std::string_view text);

// The folder of lib/ that a path ("search/space/knob.h", as in an include) belongs to: the longest one in `rows` that
// is a prefix; empty if there is none.
std::string LayerOf(const Rows& rows, std::string_view path);

struct Include {
  int line = 0;
  std::string path;
  bool quoted = false;  // "x", not <x>
};

// The #include lines of a source text; what stands in comments or raw strings at the start of a line counts too.
std::vector<Include> Includes(std::string_view text);

struct Source {
  std::string path;  // relative to lib/
  std::string text;
};

// The headers that some file of another folder sees, directly or through other headers. `users` are sources outside
// lib/.
std::set<std::string> ExportedHeaders(const Rows& rows, const std::vector<Source>& lib,
                                      const std::vector<Source>& users);

// What is wrong with the includes of a file, a line each: "lib/te/tensor.cc:3: ...". An exported header must not
// include heavy ones.
std::vector<std::string> Complaints(const Rows& rows, const Source& source, bool exported);

// Libraries whose headers cost seconds to compile or that one layer wraps for all others: `path` is an angle include.
bool IsHeavy(std::string_view path);

}  // namespace hone::layers
