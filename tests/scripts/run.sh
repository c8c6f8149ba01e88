#!/usr/bin/env bash
# scripts/run in a small tree with a cmake that counts: a change of anything that the tools are built from builds again, and
# nothing else does. What they are built from is asked of CMake's files. tests/scripts/run.sh PROJECT
set -euo pipefail
project=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
root=$scratch/tree

mkdir -p "$scratch/bin" "$root"/{scripts,cli,docs,tests,models,build/release/bin}
cp "$project/scripts/run" "$root/scripts/run"
printf '#!/bin/sh\n' >"$root/scripts/setup"
# Configuring makes the build's file; building makes the tool.
cat >"$scratch/bin/cmake" <<END
#!/bin/sh
case \$1 in
--build) echo built >>"$scratch/count" && printf '#!/bin/sh\necho ran\n' >"\$2/bin/\$4" && chmod +x "\$2/bin/\$4" ;;
*) touch build/release/build.ninja ;;
esac
END
chmod +x "$root/scripts/setup" "$scratch/bin/cmake"
export PATH="$scratch/bin:$PATH"
touch "$root"/{CMakeLists.txt,CMakePresets.json,README.md,cli/tool.cpp}
read -ra places <<<"$(cd "$project" && grep -rhoE 'PROJECT_SOURCE_DIR\}/[a-z_]+' CMakeLists.txt cmake |
    sed 's|.*/||' | sort -u | grep -vxE 'bench|build|docs|models|npm|packaging|tests' | tr '\n' ' ')"
for place in cli cmake fit hardware_db include src; do
    [[ " ${places[*]} " == *" $place "* ]] || { echo "CMake's files do not name $place/" >&2 && exit 1; }
done
for place in "${places[@]}" docs tests models; do mkdir -p "$root/$place/deep"; done

builds=0
expect() { # expect again|once_more WHY
    [ "$1" != again ] || builds=$((builds + 1))
    [ "$("$root/scripts/run" tool 2>/dev/null)" = ran ] || { echo "$2: the tool did not run" >&2 && exit 1; }
    [ "$(wc -l <"$scratch/count")" -eq $builds ] || {
        echo "$2: expected $builds builds, got $(wc -l <"$scratch/count")" >&2
        exit 1
    }
}
age() { find "$root" -exec touch -d '1 hour ago' {} +; }

expect again "the first time"
for place in docs/deep tests/deep models/deep README.md; do
    age
    touch "$root/$place"
    expect unchanged "$place"
done
for place in "${places[@]/%//deep/new.cpp}" CMakeLists.txt CMakePresets.json scripts/setup; do
    age
    touch "$root/$place"
    expect again "$place changed"
done
