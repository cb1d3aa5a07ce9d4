#!/bin/sh
# Makes netcdf_c.zip from netcdf_c.cdl with the zip driver of netcdf-c 4.9.1, which needs libzip and is in no package:
#   make_netcdf_c.sh SOURCE     the source tree of netcdf-c, at its tag v4.9.1; libzip-dev, libhdf5-dev and m4 are installed
# The archive has one directory, which has its name.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(mktemp -d)
cmake -G Ninja -S "$1" -B "$build" -DCMAKE_BUILD_TYPE=Release -DENABLE_DAP=OFF -DENABLE_TESTS=OFF -DENABLE_BYTERANGE=OFF \
  -DENABLE_PLUGINS=OFF
cmake --build "$build" --target ncgen
"$build/ncgen/ncgen" -4 -lb -o "file://$here/netcdf_c.zip#mode=nczarr,zip" "$here/netcdf_c.cdl"
rm -rf "$build"
