/* What tests ask of the fake management library (fake_nvml.c), found in it by dlsym. */
#pragma once

/* Everything as at the beginning: the library knows no GPU. */
void fake_nvml_reset(void);
/* From now on it knows this GPU, idle and at its usual power limit of 700 W. */
void fake_nvml_know(const char* uuid);
void fake_nvml_power(unsigned watts);
/* The next `times` questions get these nvmlClocksThrottleReasons; the later ones an idle GPU. */
void fake_nvml_throttle(unsigned long long reasons, int times);
/* The process has a context on the GPU. */
void fake_nvml_process(unsigned pid);
/* The process used so many per cent of the GPU until this time, in microseconds of the wall clock. */
void fake_nvml_use(unsigned pid, unsigned long long microseconds, unsigned percent);
/* How often throttle reasons were asked for since the reset. */
int fake_nvml_asked(void);
