// Regression runs with a real Ninja and the real tools, with simulated times: what they decide, keep, and leave alone.
#include <fmt/format.h>

#include "chain_folder.h"
#include "nightly/accepted.h"
#include "nightly/history.h"

namespace hone {
namespace {

class Nightly : public ChainFolder {
 protected:
  void SetUp() override {
    ChainFolder::SetUp();
    Delete("pipelines/two.toml");
    InventTimes(1);
    WriteProgram("bin/hone-bench", fmt::format("#!/bin/sh\ncase $1 in nightly) shift; set -- nightly --fake-times '{}' "
                                               "\"$@\";; esac\nexec '{}/hone-bench' \"$@\"\n",
                                               Path("times"), HONE_BIN));
    Write("times", "");
    ExpectOk(Plan());
    NinjaOk({"build-one-cpu"});
  }

  CommandResult Report(const Words& arguments) { return Tool("hone-report", arguments); }
  void ExpectBadNight(const Words& parts) { ExpectFails(Ninja({"nightly"}), parts); }
  // Accepts the library of a job in work/ or another such folder.
  CommandResult TryAccept(const std::string& reason, const std::string& job = "one.cpu",
                          const std::string& work = "work") {
    return Report({"accept", "--work", work, "--reason", reason, job});
  }
  void Accept(const std::string& reason) { ExpectOk(TryAccept(reason)); }
  // The exit code of the last night's verdict, without Ninja.
  int Verdict() { return Report({"nightly", "--nights", "work/nights", "--accepted", "work/accepted"}).status.code; }
  std::vector<nightly::Night> Nights(const std::string& series = "") const {
    return Must(nightly::ReadHistory(Work("nights/" + series + "one.cpu.jsonl"))).nights;
  }
  std::vector<nightly::Acceptance> Log() const { return Must(nightly::ReadAcceptances(Work("accepted"), "one.cpu")); }
  // Makes the untuned library the reference, so that the tuned one is another artifact; both times in seconds.
  void AcceptTheUntuned() {
    NinjaOk({"out/one.cpu.untuned/libone.so"});
    RunOk({"mkdir", "-p", "other/out"});
    RunOk({"cp", "-r", "work/out/one.cpu.untuned", "other/out/one.cpu"});
    ExpectOk(TryAccept("untuned", "one.cpu", "other"));
    RunOk({"rm", "-r", "work/accepted"});
    RunOk({"mv", "other/accepted", "work/accepted"});
  }
};

TEST_F(Nightly, AReferenceIsAcceptedMeasuredAndKept) {
  // Nothing is accepted, so no night can be fine.
  ExpectBadNight({"hone-report accept --reason WHY NET.TARGET"});
  EXPECT_EQ(Verdict(), 3);
  EXPECT_EQ(TryAccept(" ").status.code, 2);
  EXPECT_THAT(TryAccept("x", "on.cpu").err, HasSubstr("did you mean `one.cpu`?"));
  EXPECT_THAT(Tool("hone-bench", {"nightly", "--help"}).out, Not(HasSubstr("as above")));

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

  // A job that has its line is skipped until the night is closed.
  NinjaOk({"nights/one.cpu.tonight"});
  ASSERT_EQ(Nights().size(), 3u);
  NinjaOk({"nightly"});
  EXPECT_EQ(Nights().size(), 3u);
  NinjaOk({"nightly"});
  EXPECT_EQ(Nights().size(), 4u);

  // The same choices by the same code generator give the same bytes.
  EXPECT_THAT(NinjaOk({"nightly-replay"}), HasSubstr("no confirmed slowdown in 1 of 1"));
  ASSERT_EQ(Nights("replay/").size(), 1u);
  EXPECT_EQ(Nights("replay/")[0].library.digest, digest);
  EXPECT_EQ(Nights().size(), 4u);

  // A modified reference is rejected.
  RunOk({"chmod", "-R", "u+w", "work/accepted"});
  Write("work/accepted/one.cpu/" + digest + "/libone.so", "no library");
  ExpectBadNight({"is not what was accepted", "nothing usable was measured"});
  EXPECT_EQ(Verdict(), 3);
}

TEST_F(Nightly, ASlowdownIsFoundConfirmedAndAccepted) {
  AcceptTheUntuned();
  const std::string reference = Log()[0].digest;
  Write("times", reference + " 0.01\n");
  // The library has no time in that file: it could not be measured, which is said, and is not fine.
  ExpectBadNight({"failed"});
  ASSERT_EQ(Nights().size(), 1u);
  const std::string library = Nights()[0].library.digest;
  ASSERT_NE(library, reference);
  EXPECT_EQ(Verdict(), 3);

  const auto times = [&](double seconds) {
    Write("times", fmt::format("{} 0.01\n{} {}\n", reference, library, seconds));
  };
  times(0.0106);
  ExpectBadNight({"1 of 1 is slower than accepted"});
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
  RunOk({"chmod", "-R", "u+w", "work/accepted"});
  Write(file, "no parameters");
  EXPECT_THAT(NinjaOk({"nightly"}), HasSubstr("no confirmed slowdown in 1 of 1"));
  ASSERT_EQ(Nights().size(), 1u);
  EXPECT_TRUE(Nights()[0].Usable());
  EXPECT_FALSE(Nights()[0].canary.has_value());
  EXPECT_THAT(Nights()[0].no_canary, HasSubstr("one.params: is not what was accepted"));
  EXPECT_THAT(Read("work/report/nightly/index.html"), HasSubstr("without its canary: " + Nights()[0].no_canary));
  // A folder in its place: the disk is not what it was, and no night is measured on it.
  RunOk({"rm", file});
  RunOk({"mkdir", file});
  ExpectBadNight({"one.params: cannot open: it is a folder"});
  EXPECT_EQ(Nights().size(), 1u);
}

// Taken over while it waits for its times: that the lock beats meanwhile is heartbeat_test's.
TEST_F(Nightly, WhoeverLostTheLockWritesNothing) {
  Accept("the beginning");
  const std::string lock = Work("nights/one.cpu.lock");
  const CommandResult lost =
      Run({"sh", "-c",
           fmt::format("{{ for i in $(seq 6000); do test -s '{0}' && break; sleep 0.01; done; echo 'host far' > "
                       "'{0}.far'; mv '{0}.far' '{0}'; "
                       "echo '{1} 0.01'; }} | '{2}/hone-bench' nightly --fake-times /dev/stdin --accepted '{3}' "
                       "--nights '{4}' --lib '{5}' --job one.cpu",
                       lock, Log()[0].digest, HONE_BIN, Work("accepted"), Work("nights"), Work("out/one.cpu"))});
  EXPECT_EQ(lost.status.code, 1) << lost.out;
  EXPECT_THAT(lost.err, HasSubstr("one.cpu.lock: this lock was taken over or removed; stopping"));
  EXPECT_FALSE(Has("work/nights/one.cpu.jsonl")) << "no line";
  EXPECT_TRUE(Exists(lock)) << "it is the other's";
}

TEST_F(Nightly, ADamagedLibraryIsNotAccepted) {
  const std::string params = "work/out/one.cpu/one.params", whole = Read(params);
  std::string bytes = whole;
  bytes.back() ^= 1;
  Write(params, bytes);
  ExpectFails(TryAccept("why not"), {"one.params"});
  EXPECT_FALSE(Has("work/accepted/one.cpu.jsonl"));

  Write(params, whole);
  Accept("whole again");
  EXPECT_EQ(Log().size(), 1u);
}

}  // namespace
}  // namespace hone
