// Kernels of a device in the interpreter and the verifier: correct ones give their values; races and divergence are
// found by whichever can know them.
#include "common/expect.h"
#include "interpreter/interpreter.h"
#include "ir/device_kernels.h"
#include "ir/verifier.h"
#include "types.h"

namespace hone::ir {
namespace {

class DeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    for (int k = 0; k < 16; ++k) x.push_back(static_cast<float>(k));
    y.assign(16, -1.0f);
  }
  // `body` for 2 blocks of 4 x 2 threads, with `shared`.
  Stmt Nest(Stmt body) {
    Stmt threads =
        MakeFor(ty, 0, 2, ForKind::kThreadY, MakeFor(tx, 0, 4, ForKind::kThreadX, MakeAllocate(own, std::move(body))));
    return MakeFor(bx, 0, 2, ForKind::kBlockX, MakeAllocate(shared, threads));
  }
  // The error in any order of threads; all orders must agree.
  std::string Run(const Stmt& s) {
    std::string message;
    for (auto order : {ParallelOrder::kForward, ParallelOrder::kReversed, ParallelOrder::kShuffled}) {
      y.assign(16, -1.0f);
      Status status = ir::Run({"test", {in, out}, s}, {{x.data(), 16}, {y.data(), 16}}, {order, 3});
      EXPECT_TRUE(order == ParallelOrder::kForward || message.empty() == status.ok()) << status.message() << message;
      message = status.message();
    }
    return message;
  }
  void ExpectRun(const char* what, const Stmt& s) { EXPECT_THAT(Run(s), HasSubstr(what)); }
  std::string Verified(const Stmt& s) { return VerifyDevice({"test", {in, out}, s}).message(); }
  void ExpectVerified(const char* what, const Stmt& s) { EXPECT_THAT(Verified(s), HasSubstr(what)); }

  Var bx{"bx"}, tx{"tx"}, ty{"ty"}, i{"i"};
  Buffer in = Buffer::Make("in", kF32, 16, Scope::kArgument);
  Buffer out = Buffer::Make("out", kF32, 16, Scope::kArgument, true);
  Buffer shared = Buffer::Make("board", kF32, 8, Scope::kShared);
  Buffer own = Buffer::Make("own", kF32, 1, Scope::kScratch);
  Expr one = Imm(kF32, 1);
  Expr me = Expr(ty) * 4 + tx, place = Expr(bx) * 8 + me;
  std::vector<float> x, y;

  Stmt Put(Expr at, Expr value) { return MakeStore(shared, std::move(at), std::move(value)); }
  Expr Get(Expr at) { return MakeLoad(shared, std::move(at)); }
  Stmt Out(Expr at, Expr value) { return MakeStore(out, std::move(at), std::move(value)); }
};

TEST_F(DeviceTest, ABlockTurnsItsPartAround) {
  Stmt s = Nest(MakeBlock({Put(me, MakeLoad(in, place)), MakeBarrier(), Out(place, Get(Expr(7) - me))}));
  EXPECT_EQ(Run(s), "");
  EXPECT_EQ(Verified(s), "");
  EXPECT_EQ(y, (std::vector<float>{7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8}));
}

TEST_F(DeviceTest, PrivateMemoryOutlivesABarrier) {
  Stmt s = Nest(MakeBlock({MakeStore(own, 0, MakeLoad(in, place)), Put(me, one), MakeBarrier(),
                           MakeFor(i, 0, 3, ForKind::kSerial,
                                   MakeBlock({MakeStore(own, 0, MakeLoad(own, 0) + Get(Expr(7) - me)), MakeBarrier()})),
                           Out(place, MakeLoad(own, 0))}));
  EXPECT_EQ(Run(s), "");
  for (int k = 0; k < 16; ++k) EXPECT_EQ(y[k], static_cast<float>(k + 3));
}

TEST_F(DeviceTest, ReadsOfWhatAnotherThreadWritesNeedABarrier) {
  Stmt filled = MakeBlock({Put(me, one), MakeBarrier()});
  ExpectRun("race: ", Nest(MakeBlock({filled, Put(me, MakeLoad(in, place)), Out(place, Get(Expr(7) - me))})));
  ExpectRun("race: ", Nest(MakeBlock({filled, Out(place, Get(Expr(7) - me)), Put(me, MakeLoad(in, place))})));
  // A thread's own element needs no barrier.
  EXPECT_EQ(Run(Nest(MakeBlock({Put(me, MakeLoad(in, place)), Out(place, Get(me))}))), "");
}

TEST_F(DeviceTest, ALoopNeedsABarrierAtItsHeadToo) {
  auto loop = [&](bool with) {
    Stmt use = MakeBlock({Put(me, one), MakeBarrier(), MakeStore(own, 0, Get(Expr(7) - me))});
    return Nest(MakeBlock({MakeFor(i, 0, 2, ForKind::kSerial, with ? MakeBlock({MakeBarrier(), use}) : use),
                           Out(place, MakeLoad(own, 0))}));
  };
  ExpectRun("race: ", loop(false));
  EXPECT_EQ(Run(loop(true)), "");
  EXPECT_EQ(Verified(loop(false)), "");  // only a run can detect it
}

TEST_F(DeviceTest, TwoThreadsMayNotWriteOneElement) {
  ExpectRun("writes `board` at index", Nest(Put(tx, MakeLoad(in, place))));  // ty does not matter
  EXPECT_EQ(Run(Nest(MakeIf(Expr(ty) < 1, Put(tx, MakeLoad(in, place))))), "");
}

TEST_F(DeviceTest, BlocksMayNotMeetInGlobalMemory) {
  ExpectRun("touches without a barrier", Nest(Out(me, one)));
  ExpectRun("which block", Nest(MakeBlock({Out(place, one), MakeBarrier(), MakeStore(own, 0, MakeLoad(out, 15))})));
  // The next kernel may read what all blocks of this one wrote.
  Var b2("b2"), t2("t2");
  Stmt second =
      MakeFor(b2, 0, 4, ForKind::kBlockX,
              MakeFor(t2, 0, 4, ForKind::kThreadX,
                      Out(Expr(b2) * 4 + t2, MakeLoad(out, Expr(b2) * 4 + t2) + MakeLoad(in, Expr(15) - b2 * 4 - t2))));
  EXPECT_EQ(Run(MakeBlock({Nest(Out(place, MakeLoad(in, place))), second})), "");
  for (float v : y) EXPECT_EQ(v, 15.0f);
}

TEST_F(DeviceTest, BarriersAreForAllThreads) {
  Stmt meet = MakeBlock({Put(me, one), MakeBarrier()});
  Stmt part = Nest(MakeBlock({MakeIf(Expr(tx) < 2, meet), Out(place, one)}));
  ExpectRun("divergent control: threads (", part);
  ExpectVerified("a barrier where threads of a block part", part);
  Stmt rounds = Nest(MakeFor(i, 0, Expr(tx) + 1, ForKind::kSerial, meet));
  ExpectRun("divergent control: threads (", rounds);
  ExpectVerified("a barrier where threads of a block part", rounds);
  Stmt by_data = Nest(MakeIf(MakeLoad(in, place) < Imm(kF32, 100), meet));
  EXPECT_EQ(Run(by_data), "");  // by chance
  ExpectVerified("a barrier where threads of a block part", by_data);
  // A condition with the same value in the whole block is allowed.
  Stmt uniform = Nest(MakeIf(Expr(bx) < 1, meet));
  EXPECT_EQ(Run(uniform), "");
  EXPECT_EQ(Verified(uniform), "");
}

TEST_F(DeviceTest, SharedMemoryHasBoundsAndNoContentAtFirst) {
  ExpectRun("store to `board` at index 8: out of bounds", Nest(Put(me + bx, one)));
  ExpectRun("not written before", Nest(MakeIf(Expr(bx) < 1, Put(me, one), Out(place, Get(me)))));
  ExpectVerified("a constant index is out of range", Nest(Put(8, one)));
}

TEST_F(DeviceTest, TheFormOfAKernel) {
  ExpectVerified("outside block and thread loops", MakeBlock({Nest(Put(me, one)), Out(0, one)}));
  ExpectVerified("must go from 0 to a constant", MakeFor(bx, 1, 2, ForKind::kBlockX, Out(bx, one)));
  ExpectVerified("inside the thread loops", MakeFor(tx, 0, 4, ForKind::kThreadX, MakeAllocate(shared, Put(tx, one))));
  ExpectVerified("a loop over parallel `i` inside",
                 MakeFor(tx, 0, 4, ForKind::kThreadX, MakeFor(i, 0, 4, ForKind::kParallel, Out(i, one))));
  ExpectVerified("left for the backend",
                 MakeFor(tx, 0, 4, ForKind::kThreadX, MakeFor(i, 0, 4, ForKind::kVThread, Out(i, one))));
  ExpectVerified("a prefetch on a device",
                 MakeFor(tx, 0, 4, ForKind::kThreadX,
                         MakeBlock({MakeEvaluate(MakeCall(DType::Int(64), Intrinsic::kPrefetch, {MakeLoad(in, tx), 1})),
                                    Out(tx, one)})));
}

}  // namespace
}  // namespace hone::ir
