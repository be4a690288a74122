#!/bin/sh
# acados, BLASFEO and HPIPM for test_acados_interface.py: tests/acados.sh FOLDER [SOURCES]
#
# Builds acados' SOURCES (a clone with its submodules) into FOLDER, with HPIPM as its only solver. Without SOURCES it
# unpacks the wheel comma-deps-acados from PyPI there, an acados of 2023; the wheel brings a CasADi of its own, and would
# replace the one that is installed. Prints the folder to set ACADOS_INSTALL_DIR to, of built sources also
# ACADOS_SOURCE_DIR for test_acados_model.py, which needs acados_template of the same sources.
set -eu
[ $# -gt 0 ] || { sed -n '2,7s/^# *//p' "$0" >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
if [ $# -gt 1 ]; then
    cmake -S "$2" -B "$folder/build" -DACADOS_INSTALL_DIR="$folder" -DBLASFEO_TARGET=GENERIC -DBUILD_SHARED_LIBS=ON >&2
    cmake --build "$folder/build" --target install --parallel >&2
    cp "$2/lib/link_libs.json" "$2/lib/git_commit_hash" "$folder/lib"  # acados_template reads them
    echo "$folder"
else
    "${PYTHON:-python3}" -m pip download --quiet --no-deps --dest "$folder" comma-deps-acados >&2
    "${PYTHON:-python3}" -m zipfile -e "$folder"/comma_deps_acados-*.whl "$folder"
    find "$folder" -type d -path '*/acados/install'
fi
