#include "base/channel.h"

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "base/subprocess.h"
#include "common/expect.h"

namespace hone {
namespace {

class ChannelTest : public testing::Test {
 protected:
  void SetUp() override {
    std::pair<Channel, Channel> pair = Must(Channel::Pair());
    a_ = std::move(pair.first);
    b_ = std::move(pair.second);
  }
  // Sends raw bytes.
  void SendRaw(std::string_view bytes) {
    ASSERT_EQ(::send(a_.fd(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }
  Channel a_, b_;
};

TEST_F(ChannelTest, MessagesArriveWholeAndInOrder) {
  std::string zeros(3, '\0');
  for (const std::string& text : {std::string("one"), std::string(), zeros, std::string("four")}) {
    ASSERT_TRUE(a_.Send(text).ok());
  }
  EXPECT_EQ(*b_.Receive(1), "one");
  EXPECT_EQ(*b_.Receive(1), "");
  EXPECT_EQ(*b_.Receive(1), zeros);
  EXPECT_EQ(*b_.Receive(1), "four");
  EXPECT_EQ(b_.Receive(0).status().kind(), StatusKind::kTimeout);
}

TEST_F(ChannelTest, TheFrameIsTheOneInTheHeader) {
  SendRaw(std::string("HNC1\x02\x00\x00\x00hi", 10));
  EXPECT_EQ(*b_.Receive(1), "hi");
}

TEST_F(ChannelTest, MessagesLargerThanTheSocketsBuffer) {
  std::string big(5 << 20, 'x');
  big.back() = 'y';
  std::thread sender([&] { EXPECT_TRUE(a_.Send(big).ok()); });
  Result<std::string> got = b_.Receive(20);
  sender.join();
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_EQ(*got, big);
}

TEST_F(ChannelTest, ATornFrameIsKeptOverATimeoutAndCompleted) {
  SendRaw(std::string("HNC1\x05\x00", 6));
  EXPECT_EQ(b_.Receive(0.01).status().kind(), StatusKind::kTimeout);
  SendRaw(std::string("\x00\x00he", 4));
  EXPECT_EQ(b_.Receive(0.01).status().kind(), StatusKind::kTimeout);
  SendRaw("llo");
  EXPECT_EQ(*b_.Receive(1), "hello");
}

TEST_F(ChannelTest, APeerThatDies) {
  ASSERT_TRUE(a_.Send("last words").ok());
  a_.Close();
  EXPECT_EQ(*b_.Receive(1), "last words");
  EXPECT_EQ(b_.Receive(1).status().kind(), StatusKind::kCrashed);
  EXPECT_EQ(b_.Send("anyone?").kind(), StatusKind::kCrashed);  // and no SIGPIPE
  EXPECT_EQ(a_.Send("closed").kind(), StatusKind::kCrashed);
}

TEST_F(ChannelTest, APeerThatDiesInTheMiddle) {
  SendRaw(std::string("HNC1\x05\x00\x00\x00he", 10));
  a_.Close();
  Status status = b_.Receive(1).status();
  EXPECT_EQ(status.kind(), StatusKind::kCrashed);
  EXPECT_THAT(status.message(), HasSubstr("middle"));
}

TEST_F(ChannelTest, WordsInsteadOfFramesAndALengthThatCannotBe) {
  for (const char* raw : {"warning: something was printed here\n", "HNC1\xff\xff\xff\xff"}) {
    SetUp();
    SendRaw(raw);
    EXPECT_EQ(b_.Receive(1).status().kind(), StatusKind::kCorrupt) << raw;
  }
}

TEST_F(ChannelTest, APeerThatDoesNotRead) {
  std::string big(kMaxFrameBytes, 'x');
  EXPECT_EQ(a_.Send(big, 0.01).kind(), StatusKind::kTimeout);
}

TEST_F(ChannelTest, WaitReadableFindsTheOneWithNews) {
  EXPECT_EQ(WaitReadable({a_.fd(), b_.fd()}, 0), -1);
  ASSERT_TRUE(a_.Send("x").ok());
  EXPECT_EQ(WaitReadable({a_.fd(), -1, b_.fd()}, 1), 2);
  // Receive takes exactly one frame, so that a second one remains visible to poll.
  ASSERT_TRUE(a_.Send("y").ok());
  EXPECT_EQ(*b_.Receive(1), "x");
  EXPECT_EQ(WaitReadable({b_.fd()}, 0), 0);
  EXPECT_EQ(*b_.Receive(1), "y");
  a_.Close();
  EXPECT_EQ(WaitReadable({b_.fd()}, 1), 0);  // the end counts as readable
}

TEST_F(ChannelTest, AChildOnTheOtherEnd) {
  SpawnOptions options;
  options.argv = {"sh", "-c", "cat <&3 >&3"};  // an echo
  options.extra_fds = {{b_.fd(), 3}};
  Subprocess child = Must(Subprocess::Spawn(options));
  b_.Close();
  ASSERT_TRUE(a_.Send("hello").ok());
  EXPECT_EQ(*a_.Receive(10), "hello");
  child.Kill(SIGKILL);
  EXPECT_EQ(a_.Receive(10).status().kind(), StatusKind::kCrashed);
}

}  // namespace
}  // namespace hone
