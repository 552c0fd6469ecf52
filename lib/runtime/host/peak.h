// The floating-point peak that figures of "% of peak" are relative to, measured and not taken from a data sheet: clocks
// depend on what runs (AVX-512 on all cores is slower than one scalar core).
#pragma once

namespace hone::runtime {

class ThreadPool;

// FLOP/s of `threads` pinned threads that do nothing but independent f32 fused multiply-adds of the widest vectors of
// this CPU; the best of many short runs within about `seconds`. 0 if the threads cannot be made.
double MeasureFmaPeak(int threads, double seconds);

// The same on the threads of a pool that is there already (it is pinned, say, and so is the caller).
double MeasureFmaPeak(ThreadPool* pool, double seconds);

// FLOP/s that `threads` threads cannot exceed: what the calling one does alone, times their number. Unlike the peak it
// needs no moment in which all cores are free, so that it holds on a busy machine, too. It may be higher: on an idle
// machine, and where units that only add stand beside those of multiply-adds (AMD's Zen: half as much again).
double MeasureArithmeticBound(int threads, double seconds);

}  // namespace hone::runtime
