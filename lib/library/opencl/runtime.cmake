# The C files that a network library for this back end contains.
hone_net_runtime(opencl runtime/net_common.c runtime/net_device.c runtime/net_digest.c
                 runtime/net_opencl.c runtime/net_params.c ../runtime/opencl/functions.c)
find_path(OPENCL_INCLUDE_DIR CL/cl.h REQUIRED)
target_include_directories(hone_net_runtime_opencl SYSTEM PRIVATE ${OPENCL_INCLUDE_DIR})
