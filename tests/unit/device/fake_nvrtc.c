/* An NVRTC of version FAKE_MAJOR.FAKE_MINOR for the architectures FAKE_ARCHS, which makes of every text a "cubin" that
 * says who made it and for what. Version 12 deprecates what is before sm_75, as the real one does since 12.8. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int archs[] = {FAKE_ARCHS};
static char cubin[64], text[256];

int nvrtcVersion(int* major, int* minor) {
  *major = FAKE_MAJOR;
  *minor = FAKE_MINOR;
  return 0;
}
const char* nvrtcGetErrorString(int error) { return error ? "an error" : "no error"; }
int nvrtcGetNumSupportedArchs(int* n) {
  *n = (int)(sizeof archs / sizeof archs[0]);
  return 0;
}
int nvrtcGetSupportedArchs(int* to) {
  memcpy(to, archs, sizeof archs);
  return 0;
}
int nvrtcCreateProgram(void** program, const char* source, const char* name, int headers, const char* const* contents,
                       const char* const* names) {
  (void)source, (void)name, (void)headers, (void)contents, (void)names;
  *program = text;
  return 0;
}
int nvrtcDestroyProgram(void** program) {
  *program = NULL;
  return 0;
}
int nvrtcCompileProgram(void* program, int count, const char* const* options) {
  static const char flag[] = "--gpu-architecture=";
  (void)program;
  text[0] = 0;
  for (int i = 0; i < count; ++i) {
    if (strncmp(options[i], flag, strlen(flag)) != 0) continue;
    const char* arch = options[i] + strlen(flag);
    snprintf(cubin, sizeof cubin, "%s by %d.%d", arch, FAKE_MAJOR, FAKE_MINOR);
    if (FAKE_MAJOR == 12 && atoi(arch + 3) < 75) {
      strcpy(text,
             "nvrtc: warning: Architectures prior to '<compute/sm>_75' are deprecated and may be removed in a future "
             "release\n");
    }
    if (atoi(arch + 3) == FAKE_WARNS) strcat(text, "kernel.cu(1): warning #1: something else\n");
  }
  return 0;
}
int nvrtcGetCUBINSize(void* program, size_t* size) {
  (void)program;
  *size = strlen(cubin);
  return 0;
}
int nvrtcGetCUBIN(void* program, char* to) {
  (void)program;
  memcpy(to, cubin, strlen(cubin));
  return 0;
}
int nvrtcGetProgramLogSize(void* program, size_t* size) {
  (void)program;
  *size = strlen(text) + 1;
  return 0;
}
int nvrtcGetProgramLog(void* program, char* to) {
  (void)program;
  strcpy(to, text);
  return 0;
}
