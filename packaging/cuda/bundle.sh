#!/bin/bash
# bundle.sh BUILD OUT.tar.gz [CMAKE FLAGS..]: makes a relocatable archive for a machine with a GPU: tools without LLVM,
# Ninja, `ld`, pipelines, the program that checks every template, and all shared libraries they need except glibc. The
# machine must have a recent glibc (the archive's NEEDS has the version), bash, the driver, and for CUDA NVRTC. BUILD is
# a separate build folder.
set -euo pipefail
mkdir -p "$1" "$(dirname "$2")"
build=$(cd "$1" && pwd) out=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
shift 2
root=$(cd "$(dirname "$0")/../.." && pwd)
most=$((64 << 20))
# DT_RPATH, unlike DT_RUNPATH, also applies to the dependencies of libraries.
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHONE_LLVM=OFF -DCMAKE_BUILD_RPATH='$ORIGIN/../lib' \
  -DCMAKE_EXE_LINKER_FLAGS="-Wl,--disable-new-dtags -s" -DCMAKE_MODULE_LINKER_FLAGS=-s --log-level=NOTICE "$@"
ninja -C "$build" tools gpu_check
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
name=hone-cuda
mkdir -p "$stage/$name/bin/plugins" "$stage/$name/lib"
cd "$stage/$name"
cp "$build"/bin/hone-* "$build/bin/gpu_check" bin/
cp "$build"/bin/plugins/*.so bin/plugins/
cp "$(command -v ninja)" bin/ninja
cp -r "$root/pipelines" .
cp "$root/packaging/cuda/run-gpu-checks" .
mkdir peers
cp "$root"/tests/perf/peers/{engine,gpu,graph_file,graph_to_onnx,torch_model}.py peers/
# The linker of network libraries without LLVM. Only this script sets the path of its libraries.
cp -L "$(command -v ld)" lib/ld
cat >bin/ld <<'END'
#!/bin/bash
lib=$(cd "$(dirname "$0")/../lib" && pwd)
LD_LIBRARY_PATH=$lib exec "$lib/ld" "$@"
END
chmod +x bin/ld
# glibc is left out, as it must match the loader of the machine.
ldd bin/hone-* bin/gpu_check bin/ninja lib/ld bin/plugins/*.so | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
  grep -vE '/(libc|libm|libdl|libpthread|librt|libresolv|libutil|ld-linux[^/]*)\.so' | while read -r library; do cp -L "$library" lib/; done
# The C++ library gets its own folder: it needs a newer glibc than the rest, and most machines have one recent enough.
mkdir lib/cxx
mv lib/libstdc++.so.* lib/libgcc_s.so.* lib/cxx/
newest() { objdump -T "$@" 2>/dev/null | grep -o 'GLIBC_2\.[0-9]*' | sort -uV | tail -n 1 | sed 's/GLIBC_/glibc /'; }
echo "$(newest bin/* lib/ld bin/plugins/* lib/*.so*) with libstdc++ of GCC 12, or $(newest lib/cxx/*)" >NEEDS
for file in "$root"/LICENSE*; do [ ! -e "$file" ] || cp "$file" .; done
mkdir -p "$(dirname "$out")"
tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C "$stage" -c "$name" | gzip -9n >"$out.part"
bytes=$(stat -c %s "$out.part")
if [ "$bytes" -gt $most ]; then
  echo "bundle.sh: error: $out would have $((bytes >> 20)) MiB, more than 64: $(du -a . | sort -n | tail -n 6 | tr '\n' ' ')" >&2
  exit 1
fi
mv "$out.part" "$out"
echo "$out: $((bytes >> 10)) KiB, needs $(cat NEEDS), a driver, and NVRTC for cuda; there: tar xf $(basename "$out") && $name/run-gpu-checks"
