/* The functions that all network libraries share. */
#include "library/runtime/net_runtime.h"

HONE_NET_EXPORT int HONE_NET_abi_version(void) { return HONE_NET_ABI_VERSION; }

HONE_NET_EXPORT const HoneNetInfo* HONE_NET_describe(void) { return hone_net_info(); }

HONE_NET_EXPORT const char* HONE_NET_strerror(int code) {
  static const char* const texts[] = {
      [HONE_NET_OK] = "no error",
      [HONE_NET_E_ARGUMENT] =
          "invalid argument: a pointer is null, a number negative, or not exactly one source of parameters given",
      [HONE_NET_E_MEMORY] = "out of memory",
      [HONE_NET_E_THREADS] = "the threads could not be started",
      [HONE_NET_E_CPU] =
          "this CPU or operating system lacks instructions that the library was built for; build it for this "
          "machine",
      [HONE_NET_E_WORKSPACE] = "the workspace is too small or not aligned to 64 bytes",
      [HONE_NET_E_BUSY] = "the instance is running in another thread; create one instance a thread",
      [HONE_NET_E_PARAMS_OPEN] = "the parameter file cannot be opened",
      [HONE_NET_E_PARAMS_FORMAT] = "the parameter file is not one of Hone's",
      [HONE_NET_E_PARAMS_VERSION] = "the parameter file is of a newer version than the library",
      [HONE_NET_E_PARAMS_TRUNCATED] = "the parameter file is truncated",
      [HONE_NET_E_PARAMS_DAMAGED] = "the parameter file is damaged",
      [HONE_NET_E_PARAMS_OTHER] =
          "the parameter file belongs to another build; use the one that was built with the library",
      [HONE_NET_E_DRIVER] = "the driver of the GPU is missing, or too old",
      [HONE_NET_E_DEVICE] = "there is no such device",
      [HONE_NET_E_DEVICE_ARCH] =
          "the library was built for another architecture than the device has; build it for this one",
      [HONE_NET_E_DEVICE_MEMORY] = "the device is out of memory",
      [HONE_NET_E_DEVICE_LOST] = "the device is lost; only a new process can use it again",
      [HONE_NET_E_DEVICE_CODE] = "the device does not take the kernels",
      [HONE_NET_E_DEVICE_CALL] = "the device's driver reports an error",
      [HONE_NET_E_FORKED] =
          "the instance belongs to the parent process: its threads and its device do not work in a child of fork()",
  };
  const size_t known = sizeof texts / sizeof *texts;
  return code >= 0 && (size_t)code < known && texts[code] ? texts[code] : "unknown error";
}
