#!/usr/bin/env bash
# Man pages and completions say what --help says, and mandoc, bash and zsh understand them. Argument: the build folder.
set -eu
ais=$(cd "$1" && pwd)/aisampler
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for tool in mandoc zsh; do
    command -v $tool > /dev/null || { echo "$tool is not installed: scripts/packages.sh check"; exit 1; }
done
wrong() { echo "wrong: $*"; exit 1; }

"$ais" help --as bash > "$work/aisampler.bash"
mkdir "$work/zsh"
"$ais" help --as zsh > "$work/zsh/_aisampler"

# Every option of every command is in its man page and in both completions.
"$ais" help --as man > "$work/aisampler.1"
count=0
for command in $("$ais" help --as names); do
    "$ais" help "$command" --as man > "$work/aisampler-$command.1"
    "$ais" "$command" --help > "$work/text"
    "$ais" help "$command" | cmp - "$work/text" || wrong "help $command differs from $command --help"
    mandoc -T ascii "$work/aisampler-$command.1" | sed 's/.\x08//g' > "$work/page"
    grep -q "aisampler-$command(1)" "$work/aisampler-$command.1" || grep -q "AISAMPLER-${command^^}(1)" "$work/page" || wrong "$command.1"
    sed -n "/^    $command)/,/^        ;;/p" "$work/aisampler.bash" > "$work/bash-part"
    sed -n "/^    $command)/,/^        ;;/p" "$work/zsh/_aisampler" > "$work/zsh-part"
    for option in $(sed -n '/^options:/,/^[a-z]*:$/p' "$work/text" | grep -oE '^ {2}(-., | {4})--[a-z-]+' | grep -oE -- '--[a-z-]+'); do
        for place in page bash-part zsh-part; do
            grep -qE -- "$option\b" "$work/$place" || wrong "$command $option is not in the $place"
        done
        count=$((count + 1))
    done
    mandoc -T ascii "$work/aisampler.1" | sed 's/.\x08//g' | grep -qE "aisampler-$command *\(1\)" || wrong "aisampler.1 lacks $command"
done
[ $count -gt 60 ] || wrong "only $count options were found"
# A letter is short for one option (-s for --sampler and --samplers), and an option takes the same kind of value in all commands,
# except for files of several kinds.
for command in $("$ais" help --as names); do "$ais" "$command" --help; done > "$work/all"
grep -oE '^  -., --[a-z-]+' "$work/all" | sed 's/samplers/sampler/' | sort -u > "$work/letters"
grep -oE '^ {2}(-., | {4})--[a-z-]+ [^ ]+' "$work/all" | cut -c 7- | grep -vE '^--(out|format|report|sampler) ' | sort -u > "$work/values"
for twice in "$(cut -c 3-4 "$work/letters" | uniq -d)" "$(cut -d ' ' -f 1 "$work/values" | uniq -d)"; do
    [ "$twice" = "" ] || wrong "two meanings: $twice"
done
# Nothing but the date, which is left out for the sake of equal bytes, and lines that are long.
mandoc -T lint "$work"/*.1 > "$work/lint" || true
! grep -vE "STYLE: input text line longer|WARNING: missing date|outdated mandoc.db|referenced manual not found" "$work/lint" ||
    wrong "mandoc objects"

# Completions of bash: words as the shell breaks them, the last one being completed; what is offered, sorted.
cd "$work"
mkdir folder
touch table.csv "with space.csv"
complete_words() {
    bash --norc -c 'source aisampler.bash; PATH=$1:$PATH; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _aisampler 2> /dev/null
        printf "%s\n" "${COMPREPLY[@]}"' _ "$(dirname "$ais")" "$@" | LC_ALL=C sort | paste -sd,
}
offers() { # WANTED words...
    local wanted=$1 got
    shift
    got=$(complete_words "$@")
    [ "$got" = "$wanted" ] || wrong "$*: offered '$got', wanted '$wanted'"
}
offers "plot" aisampler pl
offers "--help,--version,bench,compare,diagnose,help,plot,reproduce,run,sample,targets,train" aisampler ""
offers "--chains,--checkpoint" aisampler run --ch
offers "mog2,mog6" aisampler run mog
offers "blr:" aisampler sample bl
offers "table.csv" aisampler sample blr : ta
offers "table.csv" aisampler run ta
offers "with space.csv" aisampler diagnose wi
offers "pdf,png" aisampler plot --format p
offers "pdf,png" aisampler plot --format = p
offers "pdf,png,svg" aisampler plot --format =
offers "henon" aisampler train -m h
offers "folder" aisampler run mog6 --out f
offers "trace,training" aisampler plot --figure tra
offers "rank,trace" aisampler plot -f rank,trac
offers "" aisampler run --chains ""
offers "sample" aisampler help sam
offers "--quiet" aisampler plot --out x --q

# zsh takes the file, and finds it by its name for the command.
zsh -n zsh/_aisampler
[ "$(zsh -fc 'fpath=($PWD/zsh $fpath); autoload -Uz compinit; compinit -u -D; print $_comps[aisampler]')" = _aisampler ]

cd - > /dev/null
refuse() {
    local part=$1 code=0
    shift
    "$ais" "$@" > "$work/stdout" 2> "$work/stderr" || code=$?
    [ $code = 2 ] && grep -qF -- "$part" "$work/stderr" || wrong "$*: $(cat "$work/stderr")"
}
refuse "did you mean 'plot'" help plto
refuse "leave out 'run'" help run --as bash
refuse "one of text|man|bash|zsh|names" help --as fish
echo "$count options in man pages and completions"
