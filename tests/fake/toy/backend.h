// A back end that Hone does not have: kernels are scheduled as for CPUs, "compiled" to JSON, and run by the interpreter
// on a device with its own memory. It shows what a new back end needs, one class per layer; a test's main program adds
// it, where a real one is a line in lib/target/backends.def.
#pragma once

namespace hone::toy {

// Call it before anything else.
void AddToyBackend();

}  // namespace hone::toy
