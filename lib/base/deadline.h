// A point in monotonic time by which a blocking call must return.
#pragma once

namespace hone {

class Deadline {
 public:
  explicit Deadline(double timeout_seconds);  // from now; negative: never

  bool Passed() const;
  double SecondsLeft() const;  // at least 0; infinity for never
  int PollMillis() const;      // for poll(2): rounded up, -1 for never

 private:
  double end_ = 0;
};

}  // namespace hone
