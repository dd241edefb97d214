#!/bin/bash
# circles.sh - files that use each other in a circle. A file uses another when its object needs a function or a table that the
# other one defines (nm). The table below has the circles that may be, each with its reason; a circle that is not in it, and a
# row that no circle needs any more, are errors. Mend a circle by moving what both need into a file below them, or by a row
# of a table that the lower one walks.
#
#   tests/lint/circles.sh             the check, of all of src
#   tests/lint/circles.sh src/master  figures of a folder: its files, who uses whom, circles, and uses that run back up: those
#                                     that remain against the best order of layers; with -g each use, as "A B names"
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${BUILD:-build}

# The files of a circle without src/ and .c, sorted; or FOLDER/* N: one circle of at most so many of its files. And the reason.
allowed='
common/jinja/* 30: a template evaluates expressions, which call macros and include templates
common/jinja/parse/parse common/jinja/parse/parse_expr common/jinja/parse/parse_salt common/jinja/parse/parse_stmt: statements hold statements
common/pillar/* 9: a pillar includes files, and an external source sees and extends the pillar so far
common/py/* 33: values hold values, whose methods make values
common/render/* 9: renderers are steps of a pipeline, which a renderer may run
'

graph=0
[ "${1:-}" != -g ] || { graph=1; shift; }
folder=${1:-src}
folder=${folder%/}
# "FILE TYPE NAME" for each symbol of each object.
symbols() {
    git ls-files -co --exclude-standard "$folder/*.c" | while read -r c; do
        [ -e "$c" ] && [ -e "$build/obj/${c%.c}.o" ] && echo "$build/obj/${c%.c}.o"
    done | xargs nm -A -P -g | sed "s|^$build/obj/$folder/||; s|\\.o: | |" | awk '{ print $1, $3, $2 }'
}
symbols | awk -v allowed="$allowed" -v check=$((graph == 0 && $# == 0)) -v graph="$graph" -v folder="$folder" '
function reach(from, row, seen,    todo, n, i, k, v, w) { # into seen: all that `from` uses, by and by
    n = 1; todo[1] = from
    for (i = 1; i <= n; i++) {
        k = split(row[todo[i]], w, " ")
        for (v = 1; v <= k; v++) if ((w[v] in left) && !(w[v] in seen)) { seen[w[v]] = 1; todo[++n] = w[v] }
    }
}
# Uses that run back up within a circle: a greedy order, whoever is used most by the rest goes to the bottom.
function back_up(names,    n, w, i, j, best, most, d, at, count, in_it) {
    n = split(names, w, " ")
    for (i = 1; i <= n; i++) in_it[w[i]] = 1
    for (at = n; at >= 1; at--) {
        best = ""
        for (i = 1; i <= n; i++) {
            if (!(w[i] in in_it)) continue
            d = 0
            for (j = 1; j <= n; j++) if (w[j] in in_it) d += ((w[j], w[i]) in uses) - ((w[i], w[j]) in uses) * (n + 1)
            if (best == "" || d > most) { best = w[i]; most = d }
        }
        for (j = 1; j <= n; j++) if ((w[j] in in_it) && w[j] != best && ((best, w[j]) in uses)) count++
        delete in_it[best]
    }
    return count + 0
}
function folder_row(names, size,    r, w, v, k, i, all) { # the row FOLDER/* N that lets these be a circle
    k = split(names, w, " ")
    for (r in row) {
        if (split(r, v, "[*] ") != 2) continue
        all = size <= v[2]
        for (i = 1; i <= k; i++) if (index(w[i], v[1]) != 1) all = 0
        if (all) return r
    }
    return ""
}
!($1 in known) { known[$1] = 1; files[++n_files] = $1 }
$2 != "U" { if (!($3 in home)) home[$3] = $1; next }
{ needs[++n_needs] = $3; needer[n_needs] = $1 }
END {
    if (n_files == 0) { print folder ": no objects are built: make"; exit 2 }
    for (i = 1; i <= n_needs; i++) {
        a = needer[i]; b = home[needs[i]]
        if (b == "" || a == b) continue
        if (!((a, b) in uses)) { n_uses++; out[a] = out[a] " " b; into[b] = into[b] " " a }
        uses[a, b] = uses[a, b] " " needs[i]
    }
    for (i = 1; i <= n_files; i++) left[files[i]] = 1
    do { # whatever uses nothing, or is used by nothing, is in no circle
        gone = 0
        for (f in left) {
            o = u = 0
            k = split(out[f], w, " "); for (j = 1; j <= k; j++) if (w[j] in left) o++
            k = split(into[f], w, " "); for (j = 1; j <= k; j++) if (w[j] in left) u++
            if (o == 0 || u == 0) { delete left[f]; gone = 1 }
        }
    } while (gone)
    for (i = 1; i <= n_files; i++) {
        f = files[i]
        if (!(f in left) || (f in placed)) continue
        split("", down); split("", up)
        reach(f, out, down); reach(f, into, up)
        names = ""; size = 0
        for (j = 1; j <= n_files; j++) { g = files[j]; if ((g in down) && (g in up)) { placed[g] = 1; names = names (size++ ? " " : "") g } }
        if (size > 1) { circle[++n_circles] = names; sizes[n_circles] = size }
    }
    n = split(allowed, line, "\n")
    for (i = 1; i <= n; i++) if ((at = index(line[i], ":"))) row[substr(line[i], 1, at - 1)] = 1
    if (check) {
        for (i = 1; i <= n_circles; i++) {
            if (circle[i] in row) { delete row[circle[i]]; continue }
            if ((in_folder = folder_row(circle[i], sizes[i])) != "") { delete row[in_folder]; continue }
            print "these files use each other in a circle: " circle[i]; bad = 1
        }
        for (r in row) { print "tests/lint/circles.sh allows a circle that is none any more: " r; bad = 1 }
        exit bad
    }
    if (graph) { for (pair in uses) { split(pair, w, SUBSEP); print w[1], w[2] uses[pair] } exit }
    for (pair in uses) { split(pair, w, SUBSEP); if (w[1] < w[2] && ((w[2], w[1]) in uses)) mutual++ }
    for (i = 1; i <= n_circles; i++) ups += back_up(circle[i])
    print folder ": " n_files " files, " n_uses " uses, " mutual + 0 " pairs that use each other, " n_circles + 0 " circles, " ups + 0 " uses that run back up"
    for (i = 1; i <= n_circles; i++) print "  " sizes[i] ": " circle[i]
}'
