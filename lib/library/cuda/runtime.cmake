# The C files that a network library for this back end contains.
hone_net_runtime(cuda runtime/net_common.c runtime/net_cuda.c runtime/net_device.c runtime/net_digest.c
                 runtime/net_params.c ../runtime/cuda/driver_functions.c)
