#include "search/tuner/auto_tried.h"

namespace hone::search {

void TriedValues::Add(size_t row) {
  const size_t t = points_.template_of[row];
  const AutoPoints::Template& info = points_.templates[t];
  for (size_t c = info.estimates; c < info.columns; ++c) tried_[t].insert({c, points_.row(row)[c]});
}

bool TriedValues::HasNew(size_t row) const {
  const size_t t = points_.template_of[row];
  const AutoPoints::Template& info = points_.templates[t];
  for (size_t c = info.estimates; c < info.columns; ++c) {
    if (!tried_[t].count({c, points_.row(row)[c]})) return true;
  }
  return false;
}

}  // namespace hone::search
