// The locks of a host and its device: compiling for a GPU shares the host and leaves the GPU to others; timing on the
// GPU releases the host.
#include "unit/session/tune_session_fixture.h"

namespace hone::session {
namespace {

class TurnsTest : public TwoLocksTest {
 protected:
  Turns Apart() { return Turns(Lock("host"), Lock("gpu")); }
  Turns AsOne() { return Turns(Lock("host")); }
  std::string HostAndGpu() { return Free("host") + ", " + Free("gpu"); }
};

TEST_F(TurnsTest, WhoCompilesForAGpuSharesTheHostAndLeavesTheGpu) {
  Turns turns = Apart();
  EXPECT_TRUE(turns.apart());
  ASSERT_TRUE(turns.Compute(0).ok());
  EXPECT_EQ(HostAndGpu(), "shared, alone");
  turns.Computed();
  ASSERT_TRUE(turns.Time(0).ok());
  EXPECT_EQ(HostAndGpu(), "alone, nothing");
  turns.Unlock();
  EXPECT_EQ(HostAndGpu(), "alone, alone");
}

TEST_F(TurnsTest, OneMayCompileAndTimeAtOnceWhereTheTwoAreApart) {
  Turns turns = Apart();
  ASSERT_TRUE(turns.Compute(0).ok());
  ASSERT_TRUE(turns.Time(0).ok());
  EXPECT_EQ(HostAndGpu(), "shared, nothing");
  turns.Computed();
  EXPECT_EQ(HostAndGpu(), "alone, nothing");
  turns.Unlock();
  EXPECT_EQ(HostAndGpu(), "alone, alone");
}

TEST_F(TurnsTest, WhereTheDeviceIsTheHostTimingHasItAlone) {
  Turns turns = AsOne();
  EXPECT_FALSE(turns.apart());
  ASSERT_TRUE(turns.Compute(0).ok());
  EXPECT_EQ(Free("host"), "shared");
  turns.Computed();
  EXPECT_EQ(Free("host"), "shared") << "given back by Time alone";
  ASSERT_TRUE(turns.Time(0).ok());
  EXPECT_EQ(Free("host"), "nothing");
  turns.Unlock();
  EXPECT_EQ(Free("host"), "alone");
}

TEST_F(TurnsTest, EachWaitsForItsOwnLock) {
  MachineLock timing = Lock("host"), other = Lock("gpu");
  Turns turns = Apart();
  ASSERT_TRUE(timing.LockExclusive(0).ok());
  EXPECT_EQ(turns.Compute(0).kind(), StatusKind::kTimeout) << "something is timed on the host";
  EXPECT_TRUE(turns.Time(0).ok()) << "which is no matter of the GPU's";
  turns.Unlock();
  timing.Unlock();
  ASSERT_TRUE(other.LockExclusive(0).ok());
  EXPECT_TRUE(turns.Compute(0).ok());
  EXPECT_EQ(turns.Time(0).kind(), StatusKind::kTimeout);
}

// What is free during each activity of a session.
using Seen = std::map<std::string, std::set<std::string>>;

class SessionTurns : public TurnsTest {
 protected:
  // For a whole session, including finalists.
  Seen Watch(Turns turns) {
    MemoryStore store;
    return Watch(std::move(turns), &store);
  }
  Seen Watch(Turns turns, MemoryStore* store) {
    Seen seen;
    hooks_.open = [&] { seen["open"].insert(HostAndGpu()); };
    hooks_.built = [&](auto*) { seen["build"].insert(HostAndGpu()); };
    hooks_.before = [&] { seen["measure"].insert(HostAndGpu()); };
    hooks_.finalists = [&](auto*) { seen["finalists"].insert(HostAndGpu()); };
    SessionWorld world = World(store);
    world.turns = &turns;
    Must(RunIn(world));
    EXPECT_EQ(HostAndGpu(), "alone, alone") << "nothing is held when it is over";
    return seen;
  }
};

TEST_F(SessionTurns, TheHostIsSharedWhileItCompilesAndWhatIsTimedIsHadAlone) {
  for (const auto& [apart, timed] : {std::pair(true, "alone, nothing"), {false, "nothing, alone"}}) {
    const Seen seen = Watch(apart ? Apart() : AsOne());
    EXPECT_EQ(seen.at("build"), std::set<std::string>{"shared, alone"}) << apart;
    EXPECT_EQ(seen.at("measure"), std::set<std::string>{timed}) << apart;
    EXPECT_EQ(seen.at("finalists"), std::set<std::string>{timed}) << apart;
  }
}

// Opening it computes the reference on all cores: nothing may be timed on the host meanwhile.
TEST_F(SessionTurns, TheDeviceIsOpenedWithTheHostShared) {
  for (const bool apart : {false, true}) {
    MemoryStore store;
    EXPECT_EQ(Watch(apart ? Apart() : AsOne(), &store).at("open"), std::set<std::string>{"shared, alone"});
    store.Truncate(50);  // killed before the finalists, which is all that the next run does
    const Seen seen = Watch(apart ? Apart() : AsOne(), &store);
    EXPECT_EQ(seen.at("open"), std::set<std::string>{"shared, alone"});
    EXPECT_EQ(seen.count("measure"), 0U);
    EXPECT_EQ(seen.count("finalists"), 1U);
  }
}

}  // namespace
}  // namespace hone::session
