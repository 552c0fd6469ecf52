#include "target/caches.h"

#include <algorithm>

namespace hone {

double CacheModel::Read(double bytes, double resident) const {
  if (resident <= l1_bytes) return 0;
  // Between two cache sizes a part of the data stays: measured times have no jump there.
  const double near = std::clamp((2 * l2_bytes - resident) / l2_bytes, 0.0, 1.0);
  const double first = std::clamp((2 * l1_bytes - resident) / l1_bytes, 0.0, 1.0);
  return (1 - first) * bytes * (near / l2_rate + (1 - near) / l3_rate);
}

}  // namespace hone
