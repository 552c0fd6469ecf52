// A sketch that somebody wrote, and the sketches of some of its points.
#include "sketch/sketch.h"

#include "fuzz_target.h"

namespace hone {

HONE_FUZZ_TARGET(sketch) {
  HONE_RETURN_IF_ERROR(fuzz::ReadWriteRead(input, sketch::ParseSketch, sketch::SketchText));
  const sketch::Sketch sketch = *sketch::ParseSketch(std::string(input), "fuzz");
  const search::Space space = sketch::SpaceOf(sketch);
  for (const PointIndex index : {PointIndex{0}, space.size() / 2, space.size() - 1}) {
    const Config config = space.At(index);
    const auto steps = sketch::StepsOf(sketch, config);
    if (!steps.ok() || steps->empty()) continue;  // another value makes no step, or a condition none
    const sketch::Sketch decided = sketch::Decided(sketch, config);
    const auto again = sketch::ParseSketch(sketch::SketchText(decided), "again");
    HONE_CHECK(again.ok());
    HONE_CHECK(*sketch::StepsOf(*again, sketch::SpaceOf(*again).At(0)) == *steps);
  }
  return Status();
}

}  // namespace hone
