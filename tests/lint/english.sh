#!/bin/bash
# english.sh - comments name their subject. A comment that opens with What, Who, Whoever, It, One, Of, Nobody or Somebody makes its
# reader guess what it is about; so do the last two anywhere, and "who is". Some are right; more than the bounds below are a habit.
#
#   tests/lint/english.sh       the check
#   tests/lint/english.sh -v    each of them, with its place, and the figures of each folder
set -u
cd "$(dirname "$0")/../.." || exit 2
git ls-files -co --exclude-standard 'src/*.c' 'src/*.h' 'include/*.h' 'include/*.def' | xargs awk -v verbose="${1:-}" '
BEGIN {
    most_openings = 2   # in a hundred comments
    most_words = 0.5    # in a thousand words of comments
}
function look(text, place,    n, w, i, first) {
    sub(/^[ *]+/, "", text)
    sub(/^[a-z_0-9]+\.(c|h|def) - /, "", text)
    n = split(text, w, /[^A-Za-z]+/)
    first = w[1] == "" ? w[2] : w[1]
    if (n == 0 || first == "") return
    comments++; of_folder[folder]++
    if (first ~ /^([Ww]hat|[Ww]ho|[Ww]hoever|It|One|Of|Nobody|Somebody)$/) {
        openings++; odd[folder]++
        if (verbose != "") print place ": " substr(text, 1, 90)
    }
    words += n
    while (match(text, /([Nn]obody|[Ss]omebody|[Ww]ho is)/)) {
        riddles++
        if (verbose != "") print place ": ... " substr(text, RSTART, 60)
        text = substr(text, RSTART + RLENGTH)
    }
}
FNR == 1 { folder = FILENAME; sub(/\/[^\/]*$/, "", folder); inside = 0 }
{
    line = $0
    while (line != "") {
        if (!inside) {
            at = index(line, "/*")
            if (!at) break
            # not within a text
            head = substr(line, 1, at - 1)
            if (gsub(/"/, "\"", head) % 2) { line = substr(line, at + 2); continue }
            inside = 1; text = ""; place = FILENAME ":" FNR; line = substr(line, at + 2)
        }
        end = index(line, "*/")
        if (end) {
            look(text " " substr(line, 1, end - 1), place); inside = 0; line = substr(line, end + 2)
        } else {
            piece = line; sub(/^ *\* ?/, "", piece); text = text " " piece; line = ""
        }
    }
}
END {
    if (verbose != "") for (f in of_folder) printf "%5.1f %% of %4d  %s\n", 100 * odd[f] / of_folder[f], of_folder[f], f
    share = 100 * openings / comments; rate = 1000 * riddles / words
    if (verbose != "") printf "%d of %d comments open so (%.1f %%); %.2f riddles in a thousand words\n", openings, comments, share, rate
    if (share > most_openings) { printf "%.1f %% of the comments open with What, Who, It, One, Of ...: name the subject (tests/lint/english.sh -v)\n", share; exit 1 }
    if (rate > most_words) { printf "%.2f in a thousand words of comments are nobody, somebody, who is: name the subject (tests/lint/english.sh -v)\n", rate; exit 1 }
}'
