#include "runtime/host/pool.h"

#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "common/expect.h"
#include "runtime/host/loader.h"
#include "runtime/host/peak.h"
#include "runtime/host/thread_pool.h"

namespace hone::runtime {
namespace {

struct Visits {
  std::vector<std::atomic<int>> count;
  std::vector<std::thread::id> who;
  std::vector<char*> scratch;
  std::atomic<int> ranges{0};
  explicit Visits(int64_t n) : count(n), who(n), scratch(n) {}
};

void Visit(void* closure, int64_t begin, int64_t end, char* scratch) {
  auto* visits = static_cast<Visits*>(closure);
  visits->ranges++;
  for (int64_t i = begin; i < end; ++i) {
    visits->count[i]++;
    visits->who[i] = std::this_thread::get_id();
    visits->scratch[i] = scratch;
  }
}

TEST(Pool, EveryIterationOnceInContiguousEvenRanges) {
  for (int threads : {1, 2, 3, 8}) {
    auto pool = Must(ThreadPool::Create(threads, false));
    EXPECT_EQ(pool.threads(), threads);
    for (int64_t n : {0, 1, 2, 3, 7, 8, 9, 100}) {
      Visits visits(n);
      hone_pool_launch(pool.get(), Visit, &visits, n);
      std::vector<int64_t> lengths;
      for (int64_t i = 0; i < n; ++i) {
        ASSERT_EQ(visits.count[i], 1);
        if (i == 0 || visits.who[i] != visits.who[i - 1]) lengths.push_back(0);
        ++lengths.back();
      }
      EXPECT_EQ(static_cast<int64_t>(lengths.size()), std::min<int64_t>(threads, n));
      EXPECT_EQ(visits.ranges, std::min<int64_t>(threads, n));
      for (int64_t length : lengths) EXPECT_LE(std::abs(length - lengths[0]), 1);
      if (n > 0) {
        EXPECT_EQ(visits.who[0], std::this_thread::get_id()) << "the caller takes part";
      }
    }
  }
}

TEST(Pool, TheSameRangesOnTheSameThreadsEachTime) {
  auto pool = Must(ThreadPool::Create(3, false));
  Visits first(10);
  hone_pool_launch(pool.get(), Visit, &first, 10);
  for (int i = 0; i < 50; ++i) {
    if (i % 10 == 9) usleep(2000);  // long enough for the workers to fall asleep
    Visits again(10);
    hone_pool_launch(pool.get(), Visit, &again, 10);
    EXPECT_EQ(again.who, first.who);
  }
}

TEST(Pool, ScratchIsPrivateAlignedAndGrows) {
  auto pool = Must(ThreadPool::Create(3, false));
  EXPECT_EQ(pool.scratch(), nullptr);
  for (int64_t bytes : {100, 50, 100000}) {
    ASSERT_TRUE(pool.Reserve(bytes).ok());
    Visits visits(3);
    hone_pool_launch(pool.get(), Visit, &visits, 3);
    std::set<char*> blocks(visits.scratch.begin(), visits.scratch.end());
    EXPECT_EQ(blocks.size(), 3U);
    EXPECT_EQ(visits.scratch[0], pool.scratch());
    for (char* block : blocks) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 64, 0U);
      std::fill(block, block + bytes, 1);
    }
  }
}

TEST(Pool, ScratchCanBeLentAndIsItsOwnAgain) {
  auto pool = Must(ThreadPool::Create(2, false));
  ASSERT_TRUE(pool.Reserve(64).ok());
  char* own = pool.scratch();
  alignas(64) char first[64], second[64];
  const auto used = [&] {
    Visits visits(2);
    hone_pool_launch(pool.get(), Visit, &visits, 2);
    return visits.scratch;
  };
  const auto at_first = used();
  pool.LendScratch({first, second});
  EXPECT_EQ(pool.scratch(), first);
  EXPECT_EQ(used(), (std::vector<char*>{first, second}));
  ASSERT_TRUE(pool.Reserve(32).ok());
  ASSERT_TRUE(pool.Reserve(100000).ok());
  EXPECT_EQ(used(), (std::vector<char*>{first, second})) << "more of its own does not end the loan";
  pool.LendScratch({});
  EXPECT_NE(pool.scratch(), first);
  EXPECT_NE(pool.scratch(), nullptr);
  EXPECT_EQ(at_first[0], own);
  std::fill(pool.scratch(), pool.scratch() + 100000, 1);
}

// After lent guarded blocks are destroyed, nobody writes into their memory.
TEST(Pool, LentScratchGoesBackWhereItsOwnerGoes) {
  auto pool = Must(ThreadPool::Create(2, false));
  ASSERT_TRUE(pool.Reserve(64).ok());
  char* own = pool.scratch();
  char* lent = nullptr;
  {
    LentScratch kept;
    {
      auto first = Must(LentScratch::Create(&pool, 100));
      EXPECT_EQ(pool.scratch(), own) << "not lent yet";
      first.Lend();
      lent = pool.scratch();
      EXPECT_NE(lent, own);
      kept = std::move(first);
    }
    EXPECT_EQ(pool.scratch(), lent) << "it has moved, and is there";
    std::fill(lent, lent + 100, 1);
    EXPECT_TRUE(kept.Intact());
    Must(LentScratch::Create(&pool, 0));
    EXPECT_EQ(pool.scratch(), lent) << "who lent nothing takes nothing back";
  }
  EXPECT_EQ(pool.scratch(), own);
  Visits visits(2);
  hone_pool_launch(pool.get(), Visit, &visits, 2);
  EXPECT_EQ(visits.scratch[0], own);
}

// The next loop reads what a loop wrote, on whichever thread it runs; with more threads than cores.
TEST(Pool, LoopsAreOrdered) {
  auto pool = Must(ThreadPool::Create(7, false));
  struct Data {
    std::vector<int64_t> from, to;
  } data{std::vector<int64_t>(97, 1), std::vector<int64_t>(97, 0)};
  auto step = [](void* closure, int64_t begin, int64_t end, char*) {
    auto* d = static_cast<Data*>(closure);
    for (int64_t i = begin; i < end; ++i) d->to[i] = d->from[96 - i] + 1;
  };
  for (int round = 0; round < 300; ++round) {
    hone_pool_launch(pool.get(), step, &data, 97);
    std::swap(data.from, data.to);
  }
  EXPECT_EQ(data.from, std::vector<int64_t>(97, 301));
}

TEST(Pool, PoolsAreIndependent) {
  auto work = [] {
    for (int i = 0; i < 20; ++i) {
      auto pool = Must(ThreadPool::Create(2, false));
      Visits visits(5);
      hone_pool_launch(pool.get(), Visit, &visits, 5);
      EXPECT_EQ(visits.ranges, 2);
    }
  };
  std::thread other(work);
  work();
  other.join();
}

TEST(Pool, PinningEndsWithThePool) {
  cpu_set_t before, during, after;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  {
    auto pool = Must(ThreadPool::Create(2, true));
    ASSERT_EQ(sched_getaffinity(0, sizeof during, &during), 0);
    EXPECT_EQ(CPU_COUNT(&during), 1);
    Visits visits(4);
    hone_pool_launch(pool.get(), Visit, &visits, 4);
    EXPECT_EQ(visits.ranges, 2);
  }
  ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

// No time is asserted: only that each CPU with AVX2 has a loop for products of bytes, which ends.
TEST(Peak, OfProductsOfBytes) {
#if defined(__x86_64__)
  const bool known = __builtin_cpu_supports("avx2") != 0;
#else
  const bool known = false;
#endif
  EXPECT_EQ(MeasureDot4Peak(2, 0.001) > 0, known);
  EXPECT_EQ(MeasureDot4Bound(2, 0.001) > 0, known);
}

}  // namespace
}  // namespace hone::runtime
