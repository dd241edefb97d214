#!/bin/sh
# collect.sh AGENT|MASTER - the C text of a program's tables of plug-ins: a row of include/salt/kinds.def names a
# folder, a file in it is a plug-in, "exec_test" of test.c. Run by the build at the top of the sources.
set -eu
program=$1
rows=$(sed -n 's/^KIND([A-Z]*, *\([a-z]*\), *\([A-Z]*\), *"\([^"]*\)".*/\1 \2 \3/p
               s/^MORE(\([a-z]*\), *\([A-Z]*\), *"\([^"]*\)").*/\1 \2 \3/p' include/salt/kinds.def)
[ "$(echo "$rows" | wc -l)" -eq "$(grep -cE '^(KIND|MORE)\(' include/salt/kinds.def)" ] ||
    { echo "include/salt/kinds.def: a row that is not KIND(NAME, word, PROGRAMS, \"folder\", checks) or MORE(word, PROGRAMS, \"folder\")" >&2; exit 1; }
echo "$rows" | while read -r kind where folder; do
    for dir in $folder; do
        [ -d "$dir" ] || { echo "include/salt/kinds.def: kind $kind: there is no folder $dir" >&2; exit 1; }
    done
done
kinds=$(echo "$rows" | cut -d' ' -f1 | sort -u)

# Names in the order of their files, whichever folder they are in: among several that offer one module the first
# usable one is taken.
names_of() { # kind
    echo "$rows" | while read -r kind where folder; do
        [ "$kind" = "$1" ] || continue
        [ "$where" = AGENT ] || [ "$program" = MASTER ] || continue
        for file in $folder/*.c; do
            [ ! -f "$file" ] || basename "$file" .c
        done
    done | LC_ALL=C sort
}

for kind in $kinds; do
    names=$(names_of "$kind")
    for name in $names; do echo "extern const plugin_t ${kind}_$name;"; done
    echo "static const plugin_t *const ${kind}_rows[] = {"
    for name in $names; do echo "    &${kind}_$name,"; done
    echo "    NULL };"
done
echo "static const builtin_t builtins[PLUGIN_KINDS] = {"
for kind in $kinds; do
    echo "    [PLUGIN_KIND_$kind] = { ${kind}_rows, NELEMS(${kind}_rows) - 1 },"
done
echo "};"
