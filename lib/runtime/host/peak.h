// The arithmetic peaks for figures of "% of peak". They are measured, not taken from a data sheet, because clocks
// depend on what runs (AVX-512 on all cores clocks lower than one scalar core).
#pragma once

namespace hone::runtime {

class ThreadPool;

// FLOP/s of `threads` pinned threads that run only independent f32 fused multiply-adds on the widest vectors of this
// CPU; the best of many short runs within about `seconds`. 0 if the threads cannot be created.
double MeasureFmaPeak(int threads, double seconds);

// The same with the threads of an existing pool, which may be pinned.
double MeasureFmaPeak(ThreadPool* pool, double seconds);

// The same for sums of products of bytes, with two operations for each product: by dot4, as kernels have it
// (codegen/llvm/dot4.cc). 0 if this Hone has no loop for the CPU.
double MeasureDot4Peak(int threads, double seconds);
double MeasureDot4Peak(ThreadPool* pool, double seconds);

// An upper bound of the FLOP/s of `threads` threads: the rate of the calling thread alone, times `threads`. Unlike the
// peak it needs no moment in which all cores are free, so it holds on a busy machine. It may exceed the peak: on an
// idle machine, and if separate units for additions work beside those for multiply-adds (AMD's Zen: 1.5 times as much).
double MeasureArithmeticBound(int threads, double seconds = 0.1);  // several time slices of the scheduler
// The same for products of bytes; 0 if the peak is unknown.
double MeasureDot4Bound(int threads, double seconds = 0.1);

}  // namespace hone::runtime
