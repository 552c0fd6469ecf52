// The caches that estimates assume: targets do not specify them.
#pragma once

namespace hone {

// Bytes that stay in a cache beside other data, and bytes per cycle that one core gets from beyond it: typical for x86
// servers of the last years.
struct CacheModel {
  double l1_bytes = 32e3, l2_bytes = 1.2e6;
  double l2_rate = 32, l3_rate = 10;

  // Cycles to read `bytes` of data; `resident` of them are read repeatedly.
  double Read(double bytes, double resident) const;
};

inline constexpr CacheModel kCaches;

}  // namespace hone
