#include "search/autotvm/set_order.h"

#include <cstddef>

namespace hone::search {
namespace {

// A set of positive integers with CPython's layout: open addressing, short linear runs, then jumps. An integer is its
// own hash; 0 marks a free slot.
class PythonSet {
 public:
  void Add(int64_t key) {
    int64_t* slot = Find(key);
    if (*slot == key) return;
    *slot = key;
    if (++used_ * 5 >= Mask() * 3) Resize(used_ * (used_ > 50000 ? 2 : 4));
  }

  void Merge(const PythonSet& other) {
    if (other.used_ == 0) return;
    if ((used_ + other.used_) * 5 >= Mask() * 3) Resize((used_ + other.used_) * 2);
    if (used_ == 0 && slots_.size() == other.slots_.size()) {
      slots_ = other.slots_;
      used_ = other.used_;
      return;
    }
    const bool was_empty = used_ == 0;
    for (int64_t key : other.slots_) {
      if (key == 0) continue;
      if (!was_empty) {
        Add(key);
        continue;
      }
      *Find(key) = key;  // the table never grows when inserting into an empty set
      ++used_;
    }
  }

  std::vector<int64_t> Keys() const {
    std::vector<int64_t> keys;
    for (int64_t key : slots_) {
      if (key != 0) keys.push_back(key);
    }
    return keys;
  }

 private:
  size_t Mask() const { return slots_.size() - 1; }

  // Where `key` is, or the free slot where it belongs.
  int64_t* Find(int64_t key) {
    constexpr size_t kRun = 9;
    size_t perturb = static_cast<size_t>(key);
    size_t i = perturb & Mask();
    for (;;) {
      const size_t run = i + kRun <= Mask() ? kRun : 0;
      for (size_t k = i; k <= i + run; ++k) {
        if (slots_[k] == 0 || slots_[k] == key) return &slots_[k];
      }
      perturb >>= 5;
      i = (i * 5 + 1 + perturb) & Mask();
    }
  }

  void Resize(size_t more_than) {
    size_t size = 8;
    while (size <= more_than) size *= 2;
    std::vector<int64_t> old(size, 0);
    old.swap(slots_);
    for (int64_t key : old) {
      if (key != 0) *Find(key) = key;
    }
  }

  std::vector<int64_t> slots_ = std::vector<int64_t>(8, 0);
  size_t used_ = 0;
};

}  // namespace

std::vector<int64_t> VerboseFactors(int64_t n) {
  PythonSet divisors, powers, both;
  for (int64_t d = 1; d <= n; ++d) {
    if (n % d == 0) divisors.Add(d);
  }
  for (int64_t p = 1; p <= n; p *= 2) powers.Add(p);
  both.Merge(divisors);  // `a | b` copies a, then merges b into the copy
  both.Merge(powers);
  return both.Keys();
}

}  // namespace hone::search
