// Messages between two processes over a stream socket: byte strings that arrive whole, in order, or not at all.
//
// A frame is: magic "HNC1" (4 bytes), the length of the payload (u32, little endian), the payload. A peer that died
// shows as kCrashed, bytes that are not a frame (a print into the descriptor, say) as kCorrupt; after either, the
// channel is useless. Both ends are of the same build, so there is no version negotiation.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace hone {

inline constexpr size_t kMaxFrameBytes = size_t{16} << 20;  // a peer that sends nonsense cannot fill our memory

// The child's descriptor of its end.
inline constexpr int kChannelFd = 3;

// Owns one end. Movable. Only one thread may send and only one may receive at a time.
class Channel {
 public:
  // Two connected ends, both close-on-exec. Give one to a child by SpawnOptions::extra_fds, then Close() it here.
  static Result<std::pair<Channel, Channel>> Pair();

  explicit Channel(int fd) : fd_(fd) {}  // takes ownership of the stream socket
  Channel() = default;

  int fd() const { return fd_.get(); }  // for WaitReadable; -1 if closed
  void Close();

  // Returns kInvalid if the payload is longer than kMaxFrameBytes (nothing is sent), kCrashed if the peer is gone, and
  // kTimeout if the peer does not read: then the frame is torn, so close the channel. A negative timeout means no
  // limit.
  Status Send(std::string_view payload, double timeout_seconds = -1);

  // Returns kTimeout if no whole frame has arrived yet (the part received is kept for the next call), kCrashed if the
  // peer closed, kCorrupt if the bytes are not a frame.
  Result<std::string> Receive(double timeout_seconds = -1);
  // Whether bytes of another message have arrived.
  bool Pending() const;

 private:
  Fd fd_;
  std::string partial_;  // header and payload bytes of the frame being received; never beyond its end
};

// Waits until one of the descriptors is readable or its peer is gone, and returns its index (the first if there are
// several). Returns -1 on timeout or on a signal. Skips negative descriptors; a negative timeout means no limit.
int WaitReadable(const std::vector<int>& fds, double timeout_seconds);

}  // namespace hone
