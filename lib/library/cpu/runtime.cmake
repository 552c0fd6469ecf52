# The C files that a network library for this back end contains.
set(files runtime/net_common.c runtime/net_cpu.c runtime/net_digest.c runtime/net_params.c runtime/net_runtime.c
          ../runtime/host/pool.c)
hone_net_runtime(cpu ${files})
hone_net_cross_runtime(cpu ${files})
