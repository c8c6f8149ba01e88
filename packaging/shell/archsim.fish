# fish completion of archsim: its tools, and what each of them takes by its own completion.
function __archsim_tools
    archsim --help 2>/dev/null | string replace -rf '^  (?:[a-z_]+, )?([a-z_]+) +(.*)' '$1\t$2'
end
function __archsim_rest
    set -l words (commandline -opc) (commandline -ct)
    set -l tool (archsim --help 2>/dev/null | string replace -rf "^  ([a-z_]+), $words[2] .*" '$1')
    test -n "$tool"; or set tool $words[2]
    string match -qr '^[a-z_]+$' -- $tool; or return
    archsim $tool --help-format fish 2>/dev/null | source
    complete -C "$tool $words[3..-1]"
end
complete -c archsim -n __fish_use_subcommand -xa '(__archsim_tools)'
complete -c archsim -n 'not __fish_use_subcommand' -xa '(__archsim_rest)'
