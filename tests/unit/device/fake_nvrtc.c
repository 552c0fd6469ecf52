/* An NVRTC of a version that Hone does not know. */
int nvrtcVersion(int* major, int* minor) {
  *major = 99;
  *minor = 1;
  return 0;
}
const char* nvrtcGetErrorString(int error) { return error ? "an error" : "no error"; }
int nvrtcGetNumSupportedArchs(int* n) { return *n = 0; }
int nvrtcGetSupportedArchs(int* a) { return a == 0; }
int nvrtcCreateProgram(void** p) { return *p == p; }
int nvrtcDestroyProgram(void** p) { return *p == p; }
int nvrtcCompileProgram(void) { return 1; }
int nvrtcGetCUBINSize(void) { return 1; }
int nvrtcGetCUBIN(void) { return 1; }
int nvrtcGetProgramLogSize(void) { return 1; }
int nvrtcGetProgramLog(void) { return 1; }
