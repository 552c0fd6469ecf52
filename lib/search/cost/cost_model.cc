#include "search/cost/cost_model.h"

#include <algorithm>
#include <limits>

namespace hone::search {

void Matrix::Append(const std::vector<float>& row) {
  const size_t given = std::min(row.size(), columns);
  values.insert(values.end(), row.begin(), row.begin() + static_cast<std::ptrdiff_t>(given));
  values.resize(values.size() + columns - given, std::numeric_limits<float>::quiet_NaN());
}

}  // namespace hone::search
