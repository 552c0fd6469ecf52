// A folder of pipeline files, and the files that they name.
#include "base/file.h"
#include "base/hash.h"
#include "common/expect.h"
#include "pipeline/model_file.h"
#include "pipeline/pipeline_file.h"

namespace hone::pipeline {
namespace {

class PipelineFolderTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(MakeDirs(dir_.Join("targets")).ok()); }
  void Write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(WriteFileAtomic(dir_.Join(name), text).ok());
  }
  TempDir dir_ = Must(TempDir::Create());
};

TEST_F(PipelineFolderTest, ReadsTheSketchesOfAPipeline) {
  const std::string text = "sketch mine\nparallel out i\n";
  Write("targets/gpu.toml", "kind = \"opencl\"\n");
  Write("targets/mine.sketch", text);
  Write("other.sketch", text);
  Write("a.toml",
        "network = \"n\"\ntargets = [\"cpu\", \"gpu\"]\n[tune]\nsketch = \"targets/mine.sketch\"\n"
        "[tune.gpu]\nsketch = [\"other.sketch\", \"targets/mine.sketch\"]\n");
  const PipelineFolder folder = Must(ReadPipelineFolder(dir_.path()));
  const PipelineFile& file = folder.pipelines[0];
  EXPECT_EQ(file.For("cpu").tune.sketches, (std::vector<SketchFile>{{"targets/mine.sketch", text}}));
  EXPECT_EQ(file.For("gpu").tune.sketches,
            (std::vector<SketchFile>{{"other.sketch", text}, {"targets/mine.sketch", text}}));
  EXPECT_EQ(Must(ParseTuneSettings(TuneSettingsText(file.For("gpu").tune), "s.json")), file.For("gpu").tune);
  for (const char* name : {"targets/mine.sketch", "other.sketch"}) {
    EXPECT_EQ(std::ranges::count(folder.read, dir_.Join(name)), 1) << name;
  }
  Write("other.sketch", "sketch mine\nparalel out i\n");
  EXPECT_THAT(ReadPipelineFolder(dir_.path()).status().message(), StartsWith(dir_.Join("other.sketch") + ":2:1: "));
  Must(RemoveTree(dir_.Join("other.sketch")));
  EXPECT_EQ(ReadPipelineFolder(dir_.path()).status().message(),
            dir_.Join("a.toml") + ":6: no such file: " + dir_.Join("other.sketch"));
}

TEST_F(PipelineFolderTest, ReadsTheModelOfAPipeline) {
  const std::string text = SavedModelText({"cpu -x", "cpu=A", "0f", 0, {}, ""});
  Write("targets/gpu.toml", "kind = \"opencl\"\n");
  Write("here.model", text);
  Write("a.toml", "network = \"n\"\ntargets = [\"cpu\", \"gpu\"]\n[tune.cpu]\nmodel = \"here.model\"\n");
  const PipelineFolder folder = Must(ReadPipelineFolder(dir_.path()));
  const PipelineFile& file = folder.pipelines[0];
  EXPECT_EQ(file.For("cpu").tune.model, (ModelFile{"here.model", Digest128(text).Hex()}));
  EXPECT_EQ(file.For("gpu").tune.model, ModelFile());
  EXPECT_EQ(Must(ParseTuneSettings(TuneSettingsText(file.For("cpu").tune), "s.json")), file.For("cpu").tune);
  EXPECT_EQ(std::ranges::count(folder.read, dir_.Join("here.model")), 1);
  Write("here.model", text.substr(0, text.size() / 2));
  EXPECT_THAT(ReadPipelineFolder(dir_.path()).status().message(),
              AllOf(StartsWith(dir_.Join("here.model")), HasSubstr("make it again with `hone-records learn`")));
  Must(RemoveTree(dir_.Join("here.model")));
  EXPECT_EQ(ReadPipelineFolder(dir_.path()).status().message(),
            dir_.Join("a.toml") + ":4: no such file: " + dir_.Join("here.model") +
                "; `hone-records learn` writes one, or leave `model` out");
}

TEST_F(PipelineFolderTest, SortsByNameAndNotesWhatItRead) {
  Write("targets/cpu.toml", "kind = \"cpu\"\n");
  Write("targets/unused.toml", "kind = \"opencl\"\n");
  Write("a-b.toml", "network = \"n\"\ntargets = [\"cpu\"]\n");
  Write("a.toml", "network = \"n\"\ntargets = [\"cpu\"]\n");
  Write("notes.txt", "not a pipeline");
  Write(".#a.toml", "an editor's");
  const PipelineFolder folder = Must(ReadPipelineFolder(dir_.path()));
  ASSERT_EQ(folder.pipelines.size(), 2u);
  EXPECT_EQ(folder.pipelines[0].name, "a");
  EXPECT_EQ(folder.pipelines[1].name, "a-b");
  ASSERT_EQ(folder.targets.size(), 1u);
  const std::vector<std::string> read = {
      dir_.path(),          dir_.Join("a-b.toml"),         dir_.Join("a.toml"),
      dir_.Join("targets"), dir_.Join("targets/cpu.toml"), dir_.Join("targets/unused.toml")};
  EXPECT_EQ(folder.read, read);
}

TEST_F(PipelineFolderTest, TheHostNeedsNoFile) {
  Write("a.toml", "network = \"n\"\n");
  const PipelineFolder folder = Must(ReadPipelineFolder(dir_.path()));
  ASSERT_EQ(folder.targets.size(), 1u);
  EXPECT_EQ(folder.targets[0].name, "cpu");
  Write("targets/cpu.toml", "kind = \"cpu\"\nthreads = 1\n");
  EXPECT_NE((*ReadPipelineFolder(dir_.path())).targets[0].json, folder.targets[0].json) << "unless it has one";
}

TEST_F(PipelineFolderTest, ATargetWithoutAFileIsNamedWithItsLine) {
  Write("targets/cuda.toml", "kind = \"cuda\"\narch = \"sm_90\"\n");
  Write("a.toml", "network = \"n\"\n\ntargets = [\"cuad\"]\n");
  EXPECT_EQ(ReadPipelineFolder(dir_.path()).status().message(),
            dir_.Join("a.toml") + ":3: no file targets/cuad.toml; did you mean `cuda`?");
}

TEST_F(PipelineFolderTest, ANetworkFileThatIsNotThereIsNamedWithItsLine) {
  Write("targets/cpu.toml", "kind = \"cpu\"\n");
  // A name with '(' is a file if it ends like one: browsers save a second download so.
  for (const std::string file : {"models/x.onnx", "model (1).onnx", "graph(2).json", "models (3)/x.json"}) {
    Write("a.toml", "targets = [\"cpu\"]\nnetwork = \"" + file + "\"\n");
    const PipelineFolder folder = Must(ReadPipelineFolder(dir_.path()));
    EXPECT_EQ(CheckNetworkFiles(folder.pipelines[0], dir_.path()).message(),
              dir_.Join("a.toml") + ":2: no such file: " + dir_.Join(file));
  }
  Write("x.json", "a graph");
  Write("a.toml", "network = \"x.json\"\nparameters = \"p.bin\"\n");
  const PipelineFile file = Must(ReadPipelineFolder(dir_.path())).pipelines[0];
  EXPECT_EQ(CheckNetworkFiles(file, dir_.path()).message(),
            dir_.Join("a.toml") + ":2: no such file: " + dir_.Join("p.bin"));
  Write("p.bin", "values");
  Must(CheckNetworkFiles(file, dir_.path()));
}

TEST_F(PipelineFolderTest, CalibrationInputsAreListed) {
  Write("a.toml", "network = \"n\"\n[quantise]\nscheme = \"affine\"\ndata = \"images\"\n");
  const PipelineFile missing = Must(ReadPipelineFolder(dir_.path())).pipelines[0];
  EXPECT_THAT(missing.calibration, ElementsAre("images"));
  EXPECT_EQ(CheckNetworkFiles(missing, dir_.path()).message(),
            dir_.Join("a.toml") + ":4: no such file: " + dir_.Join("images"));
  Must(MakeDirs(dir_.Join("images")));
  Write("images/2.npy", "");
  Write("images/1.npy", "");
  Write("images/.hidden", "");
  const PipelineFolder folder = Must(ReadPipelineFolder(dir_.path()));
  EXPECT_THAT(folder.pipelines[0].calibration, ElementsAre("images", "images/1.npy", "images/2.npy"));
  EXPECT_EQ(std::ranges::count(folder.read, dir_.Join("images")), 1);
  Must(CheckNetworkFiles(folder.pipelines[0], dir_.path()));
}

TEST_F(PipelineFolderTest, NoPipelineIsAnError) {
  EXPECT_EQ(ReadPipelineFolder(dir_.path()).status().kind(), StatusKind::kNotFound);
  EXPECT_FALSE(ReadPipelineFolder(dir_.Join("nowhere")).ok());
}

}  // namespace
}  // namespace hone::pipeline
