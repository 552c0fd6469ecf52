// Config: one point of a space: its template, and a value for each knob by name. Readable as data. The values are its
// identity; the index is only its position in the space of its version.
//
// JSON (stored in records, in best/*.json):
//   {"template": "dense_packed", "index": 1234, "entity": [["tile_ow","sp",[-1,14]], ["order","ot","oc_first"],
//   ["unroll","ot",4]]}
// with AutoTVM's tags: sp split, re reorder, an annotate, ot other. An index of 2^64 or more is written as null.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/json_fwd.h"
#include "base/result.h"

namespace hone {

// A position in a space. 128 bits: a space with many knobs has more than 2^64 points.
using PointIndex = unsigned __int128;
inline constexpr PointIndex kNoIndex = ~PointIndex{0};
Result<PointIndex> ParseIndex(std::string_view text);  // as ParseInt

enum class KnobKind { kSplit, kReorder, kAnnotate, kOther };

// kSplit: part sizes, outermost first; the outermost is always -1 (the rest). kReorder: a permutation. kAnnotate: one
// word per axis. kOther: an integer or a word.
struct KnobValue {
  std::string name;
  KnobKind kind = KnobKind::kOther;
  std::vector<int64_t> numbers;
  std::vector<std::string> words;
  std::string Text() const;  // the numbers or the words, with commas between them
  bool operator==(const KnobValue&) const = default;
};

struct Config {
  std::string template_name;
  PointIndex index = 0;
  std::vector<KnobValue> values;  // in the space's order

  // The value of a knob. REQUIRES: it exists and has this kind (a template asks only for its own knobs).
  const std::vector<int64_t>& Sizes(std::string_view knob) const;  // split parts
  int64_t Number(std::string_view knob) const;                     // an integer choice
  const std::string& Word(std::string_view knob) const;            // a word choice

  std::string IndexText() const;  // "1234"; "-" for 2^64 and above
  std::string Text() const;  // one line for people: "dense_packed tile_ow=[-1,14] unroll=4"
  std::string ToJson() const;  // the text of ConfigJson
  static Result<Config> FromJson(const std::string& json);
  Digest ValueDigest() const;  // of the template and the values, not of the index
  bool operator==(const Config&) const = default;
};

Json ConfigJson(const Config& config);
Result<Config> ConfigFromJson(const Json& json);

}  // namespace hone
