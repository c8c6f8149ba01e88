# bash completion of archsim: its tools, and what each of them takes by its own completion.
_archsim() {
    local word=${COMP_WORDS[COMP_CWORD]} tool
    if ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W "$(archsim --help 2>/dev/null | sed -n 's/^  \([a-z_]*\), \([a-z]*\) .*/\1 \2/p; s/^  \([a-z_]*\)  .*/\1/p') --help --version" -- "$word"))
        return
    fi
    tool=$(archsim --help 2>/dev/null | sed -n "s/^  \([a-z_]*\), ${COMP_WORDS[1]} .*/\1/p")
    tool=${tool:-${COMP_WORDS[1]}}
    [[ $tool =~ ^[a-z_]+$ && $tool != mcp && $tool != schema ]] || return
    declare -F "_$tool" >/dev/null || eval "$(archsim "$tool" --help-format bash 2>/dev/null)"
    declare -F "_$tool" >/dev/null || return
    COMP_WORDS=("$tool" "${COMP_WORDS[@]:2}")
    ((COMP_CWORD -= 1))
    "_$tool"
}
complete -o filenames -F _archsim archsim
