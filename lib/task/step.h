// Schedule steps: plain data, each one line of text. Templates (and later sketches) produce them, records store them,
// schedule::Schedule performs them. Stages and axes are identified by name: a stage has its tensor's name, an axis the
// name that te or the step that created it gave it. `doc/reference/schedule.md` lists all steps with examples.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace hone {

enum class StepKind {
  kSplit,         // split S axis [f1,f2,..] -> outer mid.. inner     inner parts by factor; it need not divide (tail)
  kFuse,          // fuse S a b .. -> fused                           adjacent axes, outermost first
  kReorder,       // reorder S a b ..                                 these axes, in this order, in the places they hold
  kVectorize,     // vectorize S axis
  kUnroll,        // unroll S axis
  kParallel,      // parallel S axis
  kBind,          // bind S axis blockIdx.x|..|threadIdx.z|vthread
  kComputeAt,     // compute_at S consumer axis                       S is computed inside consumer's loop `axis`
  kComputeRoot,   // compute_root S
  kInline,        // inline S                                         S has no reduction
  kCacheRead,     // cache_read T scope readers.. -> name             readers read a copy of tensor T
  kCacheWrite,    // cache_write S scope -> name                      S's body moves to `name`; S copies (epilogue-free)
  kRelayout,      // relayout T d0/16 d1 d0%16 .. -> name             how constant T is stored (schedule/relayout.h)
  kRfactor,       // rfactor S axis -> name                           partial results over reduce axis in stage `name`
  kSetScope,      // set_scope S register|scratch|workspace|shared    where S's tensor lives
  kStorageAlign,  // storage_align S axis factor offset
  kDoubleBuffer,  // double_buffer S
  kPrefetch,      // prefetch S T axis distance [level]               in S's loop: T's lines, `distance` bytes ahead
  kTensorize,     // tensorize S axis intrinsic
  kPragma,        // pragma S axis key value
};

struct Step {
  StepKind kind = StepKind::kSplit;
  std::string stage = {};              // S (T of cache_read)
  std::vector<std::string> axes = {};  // axis names read by the step; for cache_read the readers; for prefetch {T,
                                       // axis}; for relayout the parts
  std::vector<int64_t> values = {};    // factors, distance, alignment, pragma value
  std::string argument = {};           // consumer of compute_at, scope, thread name, intrinsic, pragma key
  std::vector<std::string> results = {};  // new names

  bool operator==(const Step&) const = default;
};

// Shorthands for templates.
inline Step Split(std::string stage, std::string axis, std::vector<int64_t> factors, std::vector<std::string> results) {
  return {StepKind::kSplit, std::move(stage), {std::move(axis)}, std::move(factors), {}, std::move(results)};
}
inline Step Fuse(std::string stage, std::vector<std::string> axes, std::string result) {
  return {StepKind::kFuse, std::move(stage), std::move(axes), {}, {}, {std::move(result)}};
}
inline Step Reorder(std::string stage, std::vector<std::string> axes) {
  return {StepKind::kReorder, std::move(stage), std::move(axes)};
}
inline Step Vectorize(std::string stage, std::string axis) {
  return {StepKind::kVectorize, std::move(stage), {std::move(axis)}};
}
inline Step Unroll(std::string stage, std::string axis) {
  return {StepKind::kUnroll, std::move(stage), {std::move(axis)}};
}
inline Step Parallel(std::string stage, std::string axis) {
  return {StepKind::kParallel, std::move(stage), {std::move(axis)}};
}
inline Step Bind(std::string stage, std::string axis, std::string thread) {
  return {StepKind::kBind, std::move(stage), {std::move(axis)}, {}, std::move(thread)};
}
inline Step ComputeAt(std::string stage, std::string consumer, std::string axis) {
  return {StepKind::kComputeAt, std::move(stage), {std::move(axis)}, {}, std::move(consumer)};
}
inline Step ComputeRoot(std::string stage) { return {StepKind::kComputeRoot, std::move(stage)}; }
inline Step Inline(std::string stage) { return {StepKind::kInline, std::move(stage)}; }
inline Step CacheRead(std::string tensor, std::string scope, std::vector<std::string> readers, std::string result) {
  return {StepKind::kCacheRead, std::move(tensor), std::move(readers), {}, std::move(scope), {std::move(result)}};
}
inline Step CacheWrite(std::string stage, std::string scope, std::string result) {
  return {StepKind::kCacheWrite, std::move(stage), {}, {}, std::move(scope), {std::move(result)}};
}
inline Step Relayout(std::string tensor, std::vector<std::string> parts, std::string result) {
  return {StepKind::kRelayout, std::move(tensor), std::move(parts), {}, {}, {std::move(result)}};
}
inline Step Rfactor(std::string stage, std::string axis, std::string result) {
  return {StepKind::kRfactor, std::move(stage), {std::move(axis)}, {}, {}, {std::move(result)}};
}
inline Step SetScope(std::string stage, std::string scope) {
  return {StepKind::kSetScope, std::move(stage), {}, {}, std::move(scope)};
}
inline Step AlignStorage(std::string stage, std::string axis, int64_t factor, int64_t offset) {
  return {StepKind::kStorageAlign, std::move(stage), {std::move(axis)}, {factor, offset}};
}
inline Step DoubleBuffer(std::string stage) { return {StepKind::kDoubleBuffer, std::move(stage), {}}; }
inline Step Prefetch(std::string stage, std::string tensor, std::string axis, int64_t distance_bytes) {
  return {StepKind::kPrefetch, std::move(stage), {std::move(tensor), std::move(axis)}, {distance_bytes}};
}
inline Step PragmaStep(std::string stage, std::string axis, std::string key, int64_t value) {
  return {StepKind::kPragma, std::move(stage), {std::move(axis)}, {value}, std::move(key)};
}

// One line, as in the table above: "split conv ow [14] -> ow.o ow.i". ParseStep accepts exactly the output of StepText.
std::string StepText(const Step& step);
Result<Step> ParseStep(const std::string& line);
// One step per line.
std::string StepsText(const std::vector<Step>& steps);
Result<std::vector<Step>> ParseSteps(const std::string& text);

}  // namespace hone
