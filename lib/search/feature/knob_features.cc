#include "search/feature/knob_features.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

namespace hone::search {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
constexpr std::array<const char*, 11> kAnnotations = {"none",        "vec",        "unroll",      "blockIdx.x",
                                                      "blockIdx.y",  "blockIdx.z", "threadIdx.x", "threadIdx.y",
                                                      "threadIdx.z", "vthread",    "fuse"};

static std::vector<float> Encode(const Knob& knob, const KnobValue& value) {
  std::vector<float> out;
  if (knob.kind() == KnobKind::kAnnotate) {
    for (const std::string& word : value.words) {
      for (const char* known : kAnnotations) out.push_back(word == known ? 1.f : 0.f);
    }
    return out;
  }
  for (const int64_t number : value.numbers) out.push_back(static_cast<float>(number));
  for (const std::string& word : value.words) {
    float position = kMissing;
    for (size_t d = 0; d < knob.size(); ++d) {
      const auto& words = knob.value(d).words;
      if (words.size() == 1 && words[0] == word) position = static_cast<float>(d);
    }
    out.push_back(position);
  }
  return out;
}

KnobFeatures::KnobFeatures(const TaskSpace& space) : space_(space) {
  columns_ = space.spaces().size() > 1 ? 1 : 0;
  for (const Space& s : space.spaces()) {
    std::vector<KnobTable>& knobs = templates_.emplace_back();
    for (const Knob& knob : s.knobs()) {
      KnobTable& t = knobs.emplace_back();
      t.column = columns_;
      std::vector<std::vector<float>> rows;
      for (size_t d = 0; d < knob.size(); ++d) {
        rows.push_back(Encode(knob, knob.value(d)));
        t.width = std::max(t.width, rows.back().size());
      }
      for (std::vector<float>& row : rows) {
        row.resize(t.width, kMissing);
        t.values.insert(t.values.end(), row.begin(), row.end());
      }
      columns_ += t.width;
    }
  }
}

void KnobFeatures::Write(PointIndex index, float* row) const {
  std::fill_n(row, columns_, kMissing);
  const auto [s, own] = space_.Find(index);
  if (templates_.size() > 1) row[0] = static_cast<float>(s);
  const std::vector<KnobTable>& knobs = templates_[s];
  space_.spaces()[s].VisitDigits(own, [&](size_t k, size_t digit) {
    std::copy_n(knobs[k].values.data() + digit * knobs[k].width, knobs[k].width, row + knobs[k].column);
  });
}

std::vector<float> KnobFeatures::RowOf(const Config& config) const {
  std::vector<float> row(columns_, kMissing);
  for (size_t s = 0; s < templates_.size(); ++s) {
    const Space& space = space_.spaces()[s];
    if (space.template_name() != config.template_name) continue;
    if (templates_.size() > 1) row[0] = static_cast<float>(s);
    for (size_t k = 0; k < space.knobs().size(); ++k) {
      const Knob& knob = space.knobs()[k];
      for (const KnobValue& value : config.values) {
        if (value.name != knob.name() || value.kind != knob.kind()) continue;
        const std::vector<float> encoded = Encode(knob, value);
        const KnobTable& table = templates_[s][k];
        std::copy_n(encoded.begin(), std::min(encoded.size(), table.width), row.begin() + table.column);
      }
    }
  }
  return row;
}

}  // namespace hone::search
