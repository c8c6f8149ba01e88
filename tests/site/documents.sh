#!/usr/bin/env bash
# The documents have no link to nowhere and no block that became empty, and scripts/check_documents sees one. documents.sh FOLDER
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
scripts/check_documents

work=$1
rm -rf "$work"
mkdir -p "$work"
# finds EXPECTED: of the page on standard input the check says EXPECTED; of "sound" it says nothing.
finds() {
    cat >"$work/page.md"
    if said=$(scripts/check_documents "$work" 2>&1); then status=0; else status=$?; fi
    [ "$1" = sound ] && [ "$status" = 0 ] && [ -z "$said" ] && return
    [ "$1" != sound ] && [ "$status" = 1 ] && [[ $said == *"$1"* ]] && return
    echo "scripts/check_documents ended with $status and said \"$said\" where \"$1\" was expected of:" >&2
    cat "$work/page.md" >&2
    exit 1
}
finds sound <<'END'
# Two words, `one` code
[here](#two-words-one-code) [beside](page.md) [elsewhere](https://example.org/none)
```console
$ ./scripts/run tool | sed -n '/^Cost (per/,/^$/p'
Cost (per million)
```
END
finds "2: a block of a console without a command" <<'END'

```console
```
END
finds "2: the command prints nothing: ./scripts/run tool" <<'END'
```console
$ ./scripts/run tool

$ ./scripts/run other
words
```
END
finds "no line of the output matches /^Check me/" <<'END'
```console
$ ./scripts/run tool | sed -n '/^Hardware/,/^$/p; /^Check me/,$p'
Hardware
```
END
finds "1: the link gone.md leads nowhere" <<<'[a page](gone.md)'
finds "page.md has no such heading" <<<'[a part](page.md#gone)'

# Flags are those of the tools, here of one that has a single one.
printf '#!/bin/sh\necho "  --known N   a number"\n' >"$work/tool"
chmod +x "$work/tool"
export ARCHSIM_TOOLS=$work
finds sound <<'END'
    tool --known 1 \
        --known 2 | other --unknown
    other_tool --unknown
END
finds "1: tool has no --unknown" <<'END'
    tool --known 1 \
        --unknown
END
