/* The functions that all network libraries share. */
#include "library/runtime/net_runtime.h"

HONE_NET_EXPORT int HONE_NET_abi_version(void) { return HONE_NET_ABI_VERSION; }

HONE_NET_EXPORT const HoneNetInfo* HONE_NET_describe(void) { return hone_net_info(); }

HONE_NET_EXPORT const char* HONE_NET_strerror(int code) {
  switch (code) {
    case HONE_NET_OK:
      return "no error";
    case HONE_NET_E_ARGUMENT:
      return "invalid argument: a pointer is null, a number negative, or not exactly one source of parameters given";
    case HONE_NET_E_MEMORY:
      return "out of memory";
    case HONE_NET_E_THREADS:
      return "the threads could not be started";
    case HONE_NET_E_CPU:
      return "this CPU or operating system lacks instructions that the library was built for; build it for this "
             "machine";
    case HONE_NET_E_WORKSPACE:
      return "the workspace is too small or not aligned to 64 bytes";
    case HONE_NET_E_BUSY:
      return "the instance is running in another thread; create one instance a thread";
    case HONE_NET_E_PARAMS_OPEN:
      return "the parameter file cannot be opened";
    case HONE_NET_E_PARAMS_FORMAT:
      return "the parameter file is not one of Hone's";
    case HONE_NET_E_PARAMS_VERSION:
      return "the parameter file is of a newer version than the library";
    case HONE_NET_E_PARAMS_TRUNCATED:
      return "the parameter file is truncated";
    case HONE_NET_E_PARAMS_DAMAGED:
      return "the parameter file is damaged";
    case HONE_NET_E_PARAMS_OTHER:
      return "the parameter file belongs to another build; use the one that was built with the library";
    case HONE_NET_E_DRIVER:
      return "the driver of the GPU is missing, or too old";
    case HONE_NET_E_DEVICE:
      return "there is no such device";
    case HONE_NET_E_DEVICE_ARCH:
      return "the library was built for another architecture than the device has; build it for this one";
    case HONE_NET_E_DEVICE_MEMORY:
      return "the device is out of memory";
    case HONE_NET_E_DEVICE_LOST:
      return "the device is lost; only a new process can use it again";
    case HONE_NET_E_DEVICE_CODE:
      return "the device does not take the kernels";
    case HONE_NET_E_DEVICE_CALL:
      return "the device's driver reports an error";
    case HONE_NET_E_FORKED:
      return "the instance belongs to the parent process: its threads and its device do not work in a child of fork()";
    default:
      return "unknown error";
  }
}
