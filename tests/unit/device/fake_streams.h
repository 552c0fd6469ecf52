// The streams of the fake driver, and when their work runs.
//
// A stream's work runs as late as possible: when somebody waits for it. In a hurried stream (fake_cuda_hurry) it runs
// as early as possible. So a missing wait gives wrong data in one of the two.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <utility>

// A moment of a stream: when it has done its first `count` pieces of work.
struct Moment {
  void* stream = nullptr;
  size_t count = 0;
};
struct Work {
  std::function<void()> run;  // null: waits for `after`
  Moment after;
};
struct Stream {
  bool blocking = true;  // waits for the legacy stream, and that one for it
  bool hurried = false;
  size_t done = 0;
  std::deque<Work> left;
  size_t count() const { return done + left.size(); }
};

struct FakeStreams {
  static constexpr void* kLegacy = nullptr;  // no test creates it

  bool Exists(void* stream) { return stream == kLegacy || all.count(stream) > 0; }

  // Whether the moment has come. A stream that was destroyed had no work left.
  bool Past(const Moment& moment) {
    const auto it = all.find(moment.stream);
    return it == all.end() || it->second.done >= moment.count;
  }

  // Does the stream's work up to the moment, and before it what that waits for.
  void RunUntil(const Moment& moment) {
    while (!Past(moment)) {
      Stream& stream = all[moment.stream];
      const Work work = std::move(stream.left.front());
      if (!work.run) RunUntil(work.after);
      stream.left.pop_front();
      if (work.run) work.run();
      ++stream.done;
    }
  }

  void RunHurried() {
    for (bool moved = true; moved;) {
      moved = false;
      for (auto& [handle, stream] : all) {
        while (stream.hurried && !stream.left.empty() && (stream.left.front().run || Past(stream.left.front().after))) {
          RunUntil({handle, stream.done + 1});
          moved = true;
        }
      }
    }
  }

  void Finish(const Moment& moment) {
    RunUntil(moment);
    RunHurried();
  }

  void FinishAll() {
    for (const auto& [handle, stream] : all) RunUntil({handle, stream.count()});
  }

  void Append(void* handle, Work work) {
    const auto after = [this](void* to, void* from) {
      if (const size_t count = all[from].count(); count > 0) {
        all[to].left.push_back({nullptr, {from, count}});
      }
    };
    if (handle == kLegacy) {
      for (const auto& [other, stream] : all) {
        if (other != kLegacy && stream.blocking) after(kLegacy, other);
      }
    } else if (all[handle].blocking) {
      after(handle, kLegacy);
    }
    all[handle].left.push_back(std::move(work));
    RunHurried();
  }

  // The device is lost: nothing that is left will run.
  void DropAll() {
    for (auto& [handle, stream] : all) stream.done = stream.count(), stream.left.clear();
  }

  std::map<void*, Stream> all;
};
