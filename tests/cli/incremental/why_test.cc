// hone-plan --why with missing files, or if Ninja knows nothing; table_test.cc has the changes.
#include "base/text.h"
#include "chain_folder.h"

namespace hone {
namespace {

class WhyTest : public ChainFolder {
 protected:
  void ExpectSays(const Words& words) { ExpectHas(ExpectOk(Plan({"--why", "records-one-cpu"})).out, words); }
};

TEST_F(WhyTest, FromAFreshFolderToDeletedFiles) {
  Delete("pipelines/two.toml");
  WritePipeline("one", 3, "random");
  // A model whose name has spaces in it.
  Write("pipelines/models/the one.json", Read("pipelines/models/one.json"));
  Delete("pipelines/models/one.json");
  Write("pipelines/one.toml", ReplaceAll(Read("pipelines/one.toml"), "models/one.json", "models/the one.json"));
  InventTimes(5);
  ExpectSays({"tasks/one.cpu.tasks.json is not there", "run `ninja build.ninja`, then this command again"});
  NinjaOk({"build.ninja"});
  ExpectSays({"never tuned", "At most 9 new trials"});
  NinjaOk({"records-one-cpu"});
  ExpectSays({"records-one-cpu is up to date.\n"});
  // Asking changes nothing.
  ExpectNoWork("records-one-cpu");

  const std::string id = Tasks("one")[0];
  Delete("work/stamps/" + id + ".cpu.done");
  ExpectSays({"tune " + id + ": its stamp is missing"});
  NinjaOk({"records-one-cpu"});

  Delete("work/.ninja_log");
  ExpectSays({"it is not in Ninja's log", "No new trials"});
  NinjaOk({"records-one-cpu"});

  Touch("work/tasks/" + id + ".task.json");
  ExpectSays({"was written again, with nothing changed"});

  ExpectRefused(Plan({"--why", "tune-one-gpu"}), 2, {"unknown target 'tune-one-gpu'", "tune-one-cpu"});
}

}  // namespace
}  // namespace hone
