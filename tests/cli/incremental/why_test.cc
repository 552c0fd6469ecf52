// hone-plan --why where files are missing or Ninja knows nothing; table_test.cc has the changes.
#include <string>

#include "base/text.h"
#include "chain_folder.h"

namespace hone {
namespace {

class WhyTest : public ChainFolder {
 protected:
  CommandResult Why(const std::string& target) {
    return Run({Path("bin/hone-plan"), "--tools", Path("bin"), "--why", target});
  }
  void ExpectSays(const std::string& target, const std::string& words) {
    const CommandResult why = Why(target);
    EXPECT_TRUE(why.status.ok()) << why.err;
    EXPECT_NE(why.out.find(words), std::string::npos) << "expected `" << words << "` in:\n" << why.out;
  }
};

TEST_F(WhyTest, FromAFreshFolderToDeletedFiles) {
  ASSERT_TRUE(Remove(Path("pipelines/two.toml")).ok());
  WritePipeline("one", 3, "random");
  InventTimes(5);
  ExpectSays("records-one-cpu", "tasks/one.cpu.tasks.json is not there");
  ExpectSays("records-one-cpu", "run `ninja build.ninja`, then this command again");
  NinjaOk({"build.ninja"});
  ExpectSays("records-one-cpu", "never tuned");
  ExpectSays("records-one-cpu", "At most 9 new trials");
  NinjaOk({"records-one-cpu"});
  ExpectSays("records-one-cpu", "records-one-cpu is up to date.\n");
  // Asking changes nothing.
  ExpectNoWork("records-one-cpu");

  const std::string id = Tasks("one")[0];
  ASSERT_TRUE(Remove(Stamp(id)).ok());
  ExpectSays("records-one-cpu", "tune " + id + ": its stamp is missing");
  NinjaOk({"records-one-cpu"});

  ASSERT_TRUE(Remove(Work(".ninja_log")).ok());
  ExpectSays("records-one-cpu", "it is not in Ninja's log");
  ExpectSays("records-one-cpu", "No new trials");
  NinjaOk({"records-one-cpu"});

  Touch("work/tasks/" + id + ".task.json");
  ExpectSays("records-one-cpu", "was written again, with nothing changed");

  const CommandResult unknown = Why("tune-one-gpu");
  EXPECT_EQ(unknown.status.code, 2);
  EXPECT_NE(unknown.err.find("unknown target 'tune-one-gpu'"), std::string::npos) << unknown.err;
  EXPECT_NE(unknown.err.find("tune-one-cpu"), std::string::npos) << unknown.err;
}

}  // namespace
}  // namespace hone
