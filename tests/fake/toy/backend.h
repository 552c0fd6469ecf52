// A back end that Hone does not have: kernels are scheduled as for CPUs, "compiled" to JSON, and run by the interpreter
// on a device with a memory of its own. It stands for what a new back end has to bring, a class a layer; a test's main
// program adds it where a real one is a line in lib/target/backends.def.
#pragma once

namespace hone::toy {

// Before anything else runs.
void AddToyBackend();

}  // namespace hone::toy
