#include "graph/shifts.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

#include "semantics/quantise.h"

namespace hone::graph {

Result<int> BitsBetween(float from, float to) {
  for (const float scale : {from, to}) {
    if (scale == std::ldexp(1.0F, std::ilogb(scale))) continue;
    return Status::Invalid("a scale of {} is not a power of two, as shifts need", scale);
  }
  return std::ilogb(to) - std::ilogb(from);
}

Result<Shifts> ChooseShifts(const std::vector<float>& scales, const std::vector<double>& largest,
                            const std::optional<ShiftedResidual>& residual, float to) {
  Shifts shifts;
  for (size_t c = 0; c < scales.size(); ++c) {
    HONE_ASSIGN_OR_RETURN(const int n, BitsBetween(scales[c], to));
    shifts.sums.push_back(n);
    double most = largest[c];
    int k = 0;
    if (residual) {
      HONE_ASSIGN_OR_RETURN(k, BitsBetween(scales[c], residual->scale));
      shifts.residual.push_back(k);
      const auto [low, high] = semantics::LimitsOf(residual->type);
      most += std::ldexp(std::max(-low, high), k);
    }
    most = n > 0 ? most + std::ldexp(1, n - 1) : std::ldexp(most, -n);
    if (k >= 0 && most <= INT32_MAX) continue;
    const std::string why = k < 0
                                ? fmt::format("the residual of channel {} is finer than its sums, by {} bits", c, -k)
                                : fmt::format("sums, bias and residual of channel {} could reach 2^{}, beyond 32 bits",
                                              c, std::ilogb(most));
    return Status::Invalid("{}; keep the layer in floats, or use another scheme", why);
  }
  return shifts;
}

}  // namespace hone::graph
