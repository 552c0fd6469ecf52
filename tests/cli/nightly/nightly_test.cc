// Nights through real Ninja and the real tools, with invented times: what they decide, what they keep, and what they
// leave alone.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <string>

#include "chain_folder.h"
#include "nightly/accepted.h"
#include "nightly/history.h"

namespace hone {
namespace {

using ::testing::HasSubstr;

class Nightly : public ChainFolder {
 protected:
  void SetUp() override {
    ChainFolder::SetUp();
    ASSERT_TRUE(Remove(Path("pipelines/two.toml")).ok());
    InventTimes(1);
    Write("bin/hone-bench",
          fmt::format("#!/bin/sh\ncase $1 in nightly) shift; exec '{0}/hone-bench' nightly --fake-times '{1}' \"$@\";; "
                      "esac\nexec '{0}/hone-bench' \"$@\"\n",
                      HONE_BIN, Path("times")));
    ASSERT_EQ(chmod(Path("bin/hone-bench").c_str(), 0755), 0);
    Write("times", "");
    ASSERT_TRUE(Plan().status.ok());
    NinjaOk({"build-one-cpu"});
  }

  CommandResult Report(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), Path("bin/hone-report"));
    return Run(arguments);
  }
  // The output of Ninja for a night that fails.
  std::string BadNight() {
    const CommandResult result = Ninja({"nightly"});
    EXPECT_FALSE(result.status.ok()) << result.out;
    return result.out;
  }
  void Accept(const std::string& reason) {
    const CommandResult result = Report({"accept", "--work", "work", "--reason", reason, "one.cpu"});
    EXPECT_TRUE(result.status.ok()) << result.err;
  }
  // What the last night's verdict exits with, without Ninja.
  int Verdict() { return Report({"nightly", "--nights", "work/nights", "--accepted", "work/accepted"}).status.code; }
  std::vector<nightly::Night> Nights(const std::string& series = "") const {
    auto history = nightly::ReadHistory(Work("nights/" + series + "one.cpu.jsonl"));
    EXPECT_TRUE(history.ok()) << history.status().message();
    return history.ok() ? history->nights : std::vector<nightly::Night>();
  }
  std::vector<nightly::Acceptance> Log() const {
    auto log = nightly::ReadAcceptances(Work("accepted"), "one.cpu");
    EXPECT_TRUE(log.ok()) << log.status().message();
    return log.ok() ? *log : std::vector<nightly::Acceptance>();
  }
  // Makes the untuned library the reference, so that the tuned one is another artifact; times of both in seconds.
  void AcceptTheUntuned() {
    NinjaOk({"out/one.cpu.untuned/libone.so"});
    ASSERT_TRUE(Run({"mkdir", "-p", "other/out"}).status.ok());
    ASSERT_TRUE(Run({"cp", "-r", "work/out/one.cpu.untuned", "other/out/one.cpu"}).status.ok());
    ASSERT_TRUE(Report({"accept", "--work", "other", "--reason", "untuned", "one.cpu"}).status.ok());
    ASSERT_TRUE(Run({"rm", "-r", "work/accepted"}).status.ok());
    ASSERT_TRUE(Run({"mv", "other/accepted", "work/accepted"}).status.ok());
  }
};

TEST_F(Nightly, AReferenceIsAcceptedMeasuredAndKept) {
  // Nothing is accepted: no night can be fine.
  EXPECT_THAT(BadNight(), HasSubstr("hone-report accept --reason WHY NET.TARGET"));
  EXPECT_EQ(Verdict(), 3);
  EXPECT_EQ(Report({"accept", "--work", "work", "--reason", " ", "one.cpu"}).status.code, 2);
  EXPECT_THAT(Report({"accept", "--work", "work", "--reason", "x", "on.cpu"}).err,
              HasSubstr("did you mean `one.cpu`?"));
  EXPECT_THAT(Run({Path("bin/hone-bench"), "nightly", "--help"}).out, ::testing::Not(HasSubstr("as above")));

  Accept("the beginning");
  ASSERT_EQ(Log().size(), 1u);
  const std::string digest = Log()[0].digest;
  Write("times", digest + " 0.01\n");
  EXPECT_THAT(NinjaOk({"nightly"}), HasSubstr("no confirmed slowdown in 1 of 1"));
  ASSERT_EQ(Nights().size(), 1u);
  EXPECT_EQ(Nights()[0].reference.digest, digest);
  EXPECT_EQ(Nights()[0].library.processes.size(), 7u);
  EXPECT_EQ(Nights()[0].canary->digest, digest);
  EXPECT_EQ(Verdict(), 0);
  // It always runs, and makes nothing else out of date.
  ExpectNoWork("build-one-cpu");
  NinjaOk({"nightly"});
  ASSERT_EQ(Nights().size(), 2u);
  EXPECT_NE(Nights()[1].night, Nights()[0].night);

  // A job that has its line is left alone until the night is closed.
  NinjaOk({"nights/one.cpu.tonight"});
  ASSERT_EQ(Nights().size(), 3u);
  NinjaOk({"nightly"});
  EXPECT_EQ(Nights().size(), 3u);
  NinjaOk({"nightly"});
  EXPECT_EQ(Nights().size(), 4u);

  // The same choices by the same code generator are the same bytes.
  EXPECT_THAT(NinjaOk({"nightly-replay"}), HasSubstr("no confirmed slowdown in 1 of 1"));
  ASSERT_EQ(Nights("replay/").size(), 1u);
  EXPECT_EQ(Nights("replay/")[0].library.digest, digest);
  EXPECT_EQ(Nights().size(), 4u);

  // A reference that was tampered with is no reference.
  const std::string library = Work("accepted/one.cpu/" + digest + "/libone.so");
  ASSERT_TRUE(Run({"chmod", "u+w", library}).status.ok());
  Write("work/accepted/one.cpu/" + digest + "/libone.so", "no library");
  EXPECT_THAT(BadNight(), AllOf(HasSubstr("is not what was accepted"), HasSubstr("nothing usable was measured")));
  EXPECT_EQ(Verdict(), 3);
}

TEST_F(Nightly, ASlowdownIsFoundConfirmedAndAccepted) {
  AcceptTheUntuned();
  const std::string reference = Log()[0].digest;
  Write("times", reference + " 0.01\n");
  // The library has no time in that file: it could not be measured, which is said, and is not fine.
  EXPECT_THAT(BadNight(), HasSubstr("failed"));
  ASSERT_EQ(Nights().size(), 1u);
  const std::string library = Nights()[0].library.digest;
  ASSERT_NE(library, reference);
  EXPECT_EQ(Verdict(), 3);

  const auto times = [&](double seconds) {
    Write("times", fmt::format("{} 0.01\n{} {}\n", reference, library, seconds));
  };
  times(0.0106);
  EXPECT_THAT(BadNight(), HasSubstr("1 of 1 is slower than accepted"));
  EXPECT_EQ(Verdict(), 1);
  ASSERT_EQ(Nights().size(), 2u);
  EXPECT_EQ(Nights()[1].comparison.change, nightly::Change::kSlower);
  EXPECT_NEAR(Nights()[1].comparison.ratio, 1.06, 0.01);
  ASSERT_TRUE(Nights()[1].repeat.has_value());

  times(0.0101);
  NinjaOk({"nightly"});
  times(0.009);
  EXPECT_THAT(NinjaOk({"nightly"}), HasSubstr("1 faster: accept to keep it"));
  EXPECT_EQ(Verdict(), 0);

  Accept("tuned");
  ASSERT_EQ(Log().size(), 2u);
  EXPECT_EQ(Log()[1].before, reference);
  EXPECT_EQ(Log()[1].digest, library);
  EXPECT_EQ(Log()[1].reason, "tuned");
  EXPECT_THAT(NinjaOk({"nightly"}), HasSubstr("no confirmed slowdown"));
  const nightly::Night last = Nights().back();
  EXPECT_EQ(last.reference.digest, library);
  EXPECT_EQ(last.canary->digest, reference);  // the first one, to the end
  EXPECT_NEAR(last.canary->processes.at(0), 0.01, 0.0005);
  ExpectNoWork("build-one-cpu");
}

// The machine's witness is of use, and no more: nights go on without it. What is no fault of its own ends them.
TEST_F(Nightly, ACanaryThatIsDamagedIsLeftOut) {
  AcceptTheUntuned();
  Accept("tuned");
  ASSERT_EQ(Log().size(), 2u);
  const std::string canary = Log()[0].digest, reference = Log()[1].digest;
  ASSERT_NE(canary, reference);
  Write("times", canary + " 0.01\n" + reference + " 0.01\n");
  const std::string file = "work/accepted/one.cpu/" + canary + "/one.params";
  ASSERT_TRUE(Run({"chmod", "-R", "u+w", Path("work/accepted/one.cpu/" + canary)}).status.ok());
  Write(file, "no parameters");
  EXPECT_THAT(NinjaOk({"nightly"}), HasSubstr("no confirmed slowdown in 1 of 1"));
  ASSERT_EQ(Nights().size(), 1u);
  EXPECT_TRUE(Nights()[0].Usable());
  EXPECT_FALSE(Nights()[0].canary.has_value());
  EXPECT_THAT(Nights()[0].no_canary, HasSubstr("one.params: is not what was accepted"));
  EXPECT_THAT(Read("work/report/nightly/index.html"), HasSubstr("without its canary: " + Nights()[0].no_canary));
  // A folder in its place: the disk is not what it was, and no night is measured on it.
  ASSERT_TRUE(Run({"rm", Path(file)}).status.ok());
  ASSERT_TRUE(Run({"mkdir", Path(file)}).status.ok());
  EXPECT_THAT(BadNight(), HasSubstr("one.params: cannot read: it is a folder"));
  EXPECT_EQ(Nights().size(), 1u);
}

// Taken over while it waits for its times: that the lock beats meanwhile is heartbeat_test's.
TEST_F(Nightly, WhoeverLostTheLockWritesNothing) {
  Accept("the beginning");
  const std::string lock = Work("nights/one.cpu.lock");
  const CommandResult lost =
      Run({"sh", "-c",
           fmt::format("mkfifo '{1}'; '{0}/hone-bench' nightly --fake-times '{1}' --accepted '{2}' --nights '{3}' "
                       "--lib '{4}' --job one.cpu & until test -s '{5}'; do sleep 0.01; done; "
                       "echo 'host far' > '{5}.far'; mv '{5}.far' '{5}'; echo '{6} 0.01' > '{1}'; wait $!",
                       HONE_BIN, Path("slow-times"), Work("accepted"), Work("nights"), Work("out/one.cpu"), lock,
                       Log()[0].digest)});
  EXPECT_EQ(lost.status.code, 1) << lost.out;
  EXPECT_THAT(lost.err, HasSubstr("one.cpu.lock: this lock was taken over or removed; stopping"));
  EXPECT_FALSE(Exists(Work("nights/one.cpu.jsonl"))) << "no line";
  EXPECT_TRUE(Exists(lock)) << "it is the other's";
}

TEST_F(Nightly, ADamagedLibraryIsNotAccepted) {
  const std::string params = Work("out/one.cpu/one.params");
  const auto whole = ReadFile(params);
  ASSERT_TRUE(whole.ok() && !whole->empty());
  std::string bytes = *whole;
  bytes.back() ^= 1;
  Write("work/out/one.cpu/one.params", bytes);
  const CommandResult damaged = Report({"accept", "--work", "work", "--reason", "why not", "one.cpu"});
  EXPECT_FALSE(damaged.status.ok());
  EXPECT_THAT(damaged.err, HasSubstr("one.params"));
  EXPECT_FALSE(Exists(Work("accepted/one.cpu.jsonl")));

  Write("work/out/one.cpu/one.params", *whole);
  Accept("whole again");
  EXPECT_EQ(Log().size(), 1u);
}

}  // namespace
}  // namespace hone
