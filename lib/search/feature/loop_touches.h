// The content of each loop of a program: the raw numbers that search/feature/loop_features.h defines.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/stmt.h"

namespace hone::search {

struct Touch {
  std::string buffer;
  int64_t stride = 0;
  double count = 1, reuse = 1, thread_count = 0, thread_reuse = 0;
};

struct LoopTouches {
  ir::ForKind kind = ir::ForKind::kSerial;
  int64_t length = 1;
  int nest = 0;
  double top_down = 1, bottom_up = 1;
  int additions = 0, multiplications = 0, divisions = 0;
  std::map<std::string, Touch> touches;  // by the access's name, "data_0007"
};

std::vector<LoopTouches> CollectTouches(const ir::Function& function);

// A loop's length, at least 1; that of the first iteration if it depends on outer loops.
int64_t FirstLength(const ir::For& loop);

}  // namespace hone::search
