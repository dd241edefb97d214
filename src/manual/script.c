/* script.c - completion scripts. Options are in the script; everything else is asked of the program
 * itself, by its first argument --complete (common/cli/complete.h), which prints nothing that a shell
 * would read as more than a word. */
#include "common/base/str.h"
#include "common/cli/optrow.h"
#include "manual/manual.h"

/* ---- what all have in common ----------------------------------------------------------------- */

typedef void each_name_fn(buf_t *out, const page_t *page, const opt_row_t *row, const char *name, size_t len);

/* Calls `fn` for each name of each documented option. */
static void
each_option(const page_t *page, buf_t *out, each_name_fn *fn)
{
    const char *name;
    size_t len;

    for (size_t t = 0; page->spec->tables[t] != NULL; t++)
        for (const opt_row_t *row = page->spec->tables[t]; row->names != NULL; row++)
            for (const char *pos = row->names; row->kind != OPT_GROUP && row->help != NULL &&
                                               (name = optrow_next_name(&pos, &len)) != NULL;)
                fn(out, page, row, name, len);
}

/* The first sentence of the help, without what ends it. NEW. */
static char *
described(const page_t *page, const opt_row_t *row)
{
    const char *end = strstr(row->help, ". ");
    size_t len = end != NULL ? (size_t) (end - row->help) : strlen(row->help);

    while (len > 0 && row->help[len - 1] == '.')
        len--;
    AUTO_FREE char *text = xstrndup(row->help, len);
    return str_replace(text, "%prog", page->spec->prog);
}

/* "salt_run": what a function of a shell may be called. NEW. */
static char *
function_name(const page_t *page)
{
    return str_replace(page->spec->prog, "-", "_");
}

/* The script with @PROG@ and @NAME@ filled in. */
static void
put_template(buf_t *out, const page_t *page, const char *text)
{
    AUTO_FREE char *name = function_name(page);
    AUTO_FREE char *half = str_replace(text, "@PROG@", page->spec->prog);
    AUTO_FREE char *whole = str_replace(half, "@NAME@", name);

    buf_puts(out, whole);
}

/* ---- bash ------------------------------------------------------------------------------------ */

static void
bash_name(buf_t *out, const page_t *page, const opt_row_t *row, const char *name, size_t len)
{
    buf_printf(out, " %.*s", (int) len, name);
}

static const char bash_head[] =
    "# bash completion for @PROG@, printed by the build from its table of options.\n"
    "_halite_@NAME@() {\n"
    "    local IFS=$' \\t\\n' i part glue='' cur have='' mark\n"
    "    local words=() names=()\n"
    "    local options='";
static const char bash_tail[] =
    "'\n"
    "    COMPREPLY=()\n"
    "    # bash takes name=value and a:b apart, as COMP_WORDBREAKS says.\n"
    "    for ((i = 1; i <= COMP_CWORD; i++)); do\n"
    "        part=${COMP_WORDS[i]}\n"
    "        if ((${#words[@]} > 0)) && [[ -n $glue || $part == [=:]* ]]; then\n"
    "            words[${#words[@]} - 1]+=$part\n"
    "        else\n"
    "            words+=(\"$part\")\n"
    "        fi\n"
    "        glue=''\n"
    "        [[ $part == *[=:] ]] && glue=1\n"
    "    done\n"
    "    cur=${words[${#words[@]} - 1]}\n"
    "    if [[ $cur == -* && $cur != *=* ]]; then\n"
    "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$cur\")\n"
    "        return\n"
    "    fi\n"
    "    # A quote that is open stays as it was typed.\n"
    "    cur=${cur#[\\'\\\"]}\n"
    "    words[${#words[@]} - 1]=$cur\n"
    "    mapfile -t names < <(@PROG@ --complete \"${words[@]}\" 2>/dev/null)\n"
    "    for mark in = :; do\n"
    "        part=${cur%\"${cur##*\"$mark\"}\"}\n"
    "        [[ $COMP_WORDBREAKS == *\"$mark\"* ]] && ((${#part} > ${#have})) && have=$part\n"
    "    done\n"
    "    COMPREPLY=(\"${names[@]#\"$have\"}\")\n"
    "    [[ ${#names[@]} -eq 1 && ${names[0]} == *[.=,] ]] && compopt -o nospace 2>/dev/null\n"
    "    return 0\n"
    "}\n"
    "complete -o default -F _halite_@NAME@ @PROG@\n";

static void
print_bash(const page_t *page, buf_t *out)
{
    put_template(out, page, bash_head);
    each_option(page, out, bash_name);
    put_template(out, page, bash_tail);
}

/* ---- zsh ------------------------------------------------------------------------------------- */

/* Within single quotes. */
static void
script_put_quoted(buf_t *out, const char *text, const char *quote)
{
    AUTO_FREE char *safe = str_replace(text, "'", quote);

    buf_puts(out, safe);
}

static void
zsh_name(buf_t *out, const page_t *page, const opt_row_t *row, const char *name, size_t len)
{
    AUTO_FREE char *text = described(page, row);

    buf_printf(out, "        '%.*s:", (int) len, name);
    script_put_quoted(out, text, "'\\''");
    buf_puts(out, "'\n");
}

static const char zsh_head[] =
    "#compdef @PROG@\n"
    "# zsh completion for @PROG@, printed by the build from its table of options.\n"
    "_halite_@NAME@() {\n"
    "    local -a options names\n"
    "    options=(\n";
static const char zsh_tail[] =
    "    )\n"
    "    if [[ $PREFIX == -* && $PREFIX != *=* ]]; then\n"
    "        _describe -o option options\n"
    "        return\n"
    "    fi\n"
    "    names=(${(f)\"$(@PROG@ --complete \"${(@)words[2,CURRENT-1]}\" \"$PREFIX\" 2>/dev/null)\"})\n"
    "    if (( $#names == 0 )); then\n"
    "        _files\n"
    "    elif [[ $#names -eq 1 && $names[1] == *[.=,] ]]; then\n"
    "        compadd -S '' -- $names\n"
    "    else\n"
    "        compadd -- $names\n"
    "    fi\n"
    "}\n"
    "_halite_@NAME@ \"$@\"\n";

static void
print_zsh(const page_t *page, buf_t *out)
{
    put_template(out, page, zsh_head);
    each_option(page, out, zsh_name);
    put_template(out, page, zsh_tail);
}

/* ---- fish ------------------------------------------------------------------------------------ */

static void
fish_name(buf_t *out, const page_t *page, const opt_row_t *row, const char *name, size_t len)
{
    AUTO_FREE char *text = described(page, row);
    AUTO_FREE char *function = function_name(page);
    bool is_long = optrow_is_long(name);

    buf_printf(out, "complete -c %s %s %.*s", page->spec->prog, is_long ? "-l" : "-s",
               (int) len - (is_long ? 2 : 1), name + (is_long ? 2 : 1));
    if (optrow_takes_value(row))
        buf_printf(out, " -r -a '(_halite_%s)'", function);
    buf_puts(out, " -d '");
    script_put_quoted(out, text, "\\'");
    buf_puts(out, "'\n");
}

static const char fish_head[] =
    "# fish completion for @PROG@, printed by the build from its table of options.\n"
    "function _halite_@NAME@\n"
    "    set -l words (commandline -opc)\n"
    "    set -e words[1]\n"
    "    # Of --name=value fish wants the value alone.\n"
    "    @PROG@ --complete $words (commandline -ct) 2>/dev/null | string replace -r -- '^--[^=]*=' ''\n"
    "end\n"
    "complete -c @PROG@ -a '(_halite_@NAME@)'\n";

static void
print_fish(const page_t *page, buf_t *out)
{
    put_template(out, page, fish_head);
    each_option(page, out, fish_name);
}

void
script_print(shell_t shell, const page_t *page, buf_t *out)
{
    static void (*const printers[SHELLS])(const page_t *, buf_t *) = {
        [SHELL_BASH] = print_bash, [SHELL_ZSH] = print_zsh, [SHELL_FISH] = print_fish
    };

    printers[shell](page, out);
}
