// Pretends to be built with the headers of another version.
extern "C" {
__attribute__((visibility("default"))) const char* hone_plugin_interface() { return "hone 0.0.1 plugin 0"; }
__attribute__((visibility("default"))) void hone_plugin_operators(void*) { __builtin_trap(); }
}
