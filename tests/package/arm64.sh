#!/usr/bin/env bash
# Runs a command where programs for 64-bit Arm run as others do, by qemu: arm64.sh COMMAND...
# In name spaces of its own, so that nothing of this machine changes; needs root, qemu-user-static and Linux 6.7 or newer. Where
# the machine knows such programs already, the command is run as it is.
set -euo pipefail
qemu=/usr/bin/qemu-aarch64-static
if [ "$(uname -m)" = aarch64 ] || grep -qs '^enabled' /proc/sys/fs/binfmt_misc/qemu-aarch64; then
    exec "$@"
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkfifo "$scratch/go"
# The head of such a program (ELF, 64 bits, machine 183), and of it what counts.
head='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
exec 8<&0
# shellcheck disable=SC2016
unshare --user --mount --pid --fork bash -c '
    set -e
    read -r _ <"$1/go"
    mkdir "$1/formats"
    mount -t binfmt_misc none "$1/formats"
    printf %s "$2" >"$1/formats/register"
    shift 2
    exec "$@" <&8 8<&-' - "$scratch" ":qemu-aarch64:M::$head:$mask:$qemu:F" "$@" &
process=$!
# Every user is who he is outside.
until [ "$(readlink "/proc/$process/ns/user")" != "$(readlink /proc/self/ns/user)" ]; do sleep 0.01; done
for map in uid_map gid_map; do echo "0 0 65536" >"/proc/$process/$map"; done
echo >"$scratch/go"
status=0
wait $process || status=$?
exit $status
