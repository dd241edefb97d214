/* localemod.c - execution module `locale`: the system's locale, by localectl where systemd runs, else by
 * the family's file, and the locales that are generated. A name is "language_TERRITORY.codeset@modifier
 * charmap" (locale(7), /usr/share/i18n/SUPPORTED); "en_US.UTF-8", "en_us.utf8" and the like are one locale
 * in several spellings, so names are normalized before they are compared. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "common/match/regex.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/file/field.h"
#include "plugins/lib/file/fileops.h"
#include "salt/plugin.h"

#define SUPPORTED  "/usr/share/i18n/SUPPORTED"
#define LOCALE_GEN "/etc/locale.gen"

#define LOCALE(args) value_str(args, "locale", "")

/* Where a family keeps the locale when systemd does not run: the file, and the variable in it. */
static const struct locale_file {
    const char *family, *file, *key;
} locale_files[] = {
    { "Suse", "/etc/sysconfig/language", "RC_LANG" },
    { "RedHat", "/etc/sysconfig/i18n", "LANG" },
    { "Debian", "/etc/default/locale", "LANG" },
};

/* ---- names ------------------------------------------------------------------------------------ */

/* "language_TERRITORY.codeset@modifier charmap". */
typedef struct locale_parts {
    char *language, *territory, *codeset, *modifier, *charmap; /* owned; "" for none */
} locale_parts_t;

static void
parts_free(locale_parts_t *p)
{
    free(p->language);
    free(p->territory);
    free(p->codeset);
    free(p->modifier);
    free(p->charmap);
}

/* Cuts the text at the first `at`: what is behind it, NEW, or "". */
static char *
localemod_cut(char *text, char at)
{
    char *found = strchr(text, at);

    if (found == NULL)
        return xstrdup("");
    *found = '\0';
    return xstrdup(found + 1);
}

/* Cuts a name into its parts, from its end. The caller frees them by parts_free(). */
static locale_parts_t
parts_of(const char *locale)
{
    locale_parts_t p = { .language = xstrdup(locale) };

    p.charmap = localemod_cut(p.language, ' ');
    p.modifier = localemod_cut(p.language, '@');
    p.codeset = localemod_cut(p.language, '.');
    p.territory = localemod_cut(p.language, '_');
    return p;
}

/* The parts as one name again, without those that are empty. NEW. */
static char *
joined(const locale_parts_t *p)
{
    const char *const parts[][2] = {
        { "_", p->territory }, { ".", p->codeset }, { "@", p->modifier }, { " ", p->charmap }
    };
    buf_t out = BUF_INIT;

    buf_puts(&out, p->language);
    for (size_t i = 0; i < NELEMS(parts); i++) {
        if (*parts[i][1] != '\0')
            buf_printf(&out, "%s%s", parts[i][0], parts[i][1]);
    }
    return out.data != NULL ? buf_steal(&out) : xstrdup("");
}

/* The name as `locale -a` writes it: territory in capitals, codeset in small letters without hyphens, no
 * charmap: "en_US.utf8". NEW. */
static char *
localemod_normalized(const char *locale)
{
    locale_parts_t p = parts_of(locale);
    size_t n = 0;

    for (char *c = p.territory; *c != '\0'; c++)
        *c = *c >= 'a' && *c <= 'z' ? (char) (*c + 'A' - 'a') : *c;
    for (const char *c = p.codeset; *c != '\0'; c++) {
        if (*c != '-')
            p.codeset[n++] = *c >= 'A' && *c <= 'Z' ? (char) (*c + 'a' - 'A') : *c;
    }
    p.codeset[n] = '\0';
    *p.charmap = '\0';
    char *text = joined(&p);
    parts_free(&p);
    return text;
}

/* ---- the system's locale ---------------------------------------------------------------------- */

/* True where localectl is asked: where systemd runs, except on SLES 12, whose packages overwrite what
 * localectl writes. */
static bool
by_localectl(call_ctx_t *ctx)
{
    const json_t *grains = ctx_grains(ctx);

    return fs_is_dir("/run/systemd/system") && !(str_eq(value_str(grains, "os_family", ""), "Suse") &&
                                                 value_int(grains, "osmajorrelease", 0) == 12);
}

/* The row of the host's family; NULL: it has none. A constant. */
static const struct locale_file *
locale_file(call_ctx_t *ctx)
{
    for (size_t i = 0; i < NELEMS(locale_files); i++) {
        if (strstr(value_str(ctx_grains(ctx), "os_family", ""), locale_files[i].family) != NULL)
            return &locale_files[i];
    }
    return NULL;
}

/* The variables that localectl shows behind "System Locale:", also on the lines below it, which have no
 * label: {LANG: ...}. NEW, or NULL with *err. */
static json_t *
system_locale(call_ctx_t *ctx, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    int rc = tool_begin(&prog, "localectl", err);
    json_t *found = json_object();
    bool inside = false;

    prog_add(&prog, "status");
    prog.timeout_ms = LIMIT_TOOL_MS;
    json_auto_t *out = rc == 0 ? tool_run(ctx, &prog, TOOL_MERGE, err) : NULL;
    AUTO_FREE char *text = xstrdup(value_str(out, "stdout", ""));
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        char *colon = strstr(line, ": "), *set = colon != NULL ? colon + 2 : line;
        inside = colon != NULL ? strstr(line, "System Locale: ") != NULL : inside;
        char *equals = inside ? strchr(set, '=') : NULL;
        if (equals == NULL)
            continue;
        *equals = '\0';
        json_object_set_new(found, str_trim(set), json_string(str_trim(equals + 1)));
    }
    if (out != NULL)
        return found;
    json_decref(found);
    return NULL;
}

/* LANG alone, "" when it is not set. */
static int
locale_get_locale(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const struct locale_file *row = locale_file(ctx);
    buf_auto_t text = BUF_INIT;

    if (by_localectl(ctx)) {
        json_auto_t *now = system_locale(ctx, err);
        *ret_value = now != NULL ? json_string(value_str(now, "LANG", "")) : NULL;
        return now != NULL ? 0 : err->code;
    }
    if (row == NULL)
        return fop_failed(err, "Error: \"%s\" is unsupported!", value_str(ctx_grains(ctx), "oscodename", ""));
    int rc = fs_read_any(row->file, LIMIT_HOST_FILE, &text, err);
    *ret_value = rc >= 0 ? json_string("") : NULL;
    for (char *at = text.data, *line; at != NULL && (line = line_next(&at)) != NULL;) {
        if (!str_starts(line, row->key) || line[strlen(row->key)] != '=')
            continue;
        AUTO_FREE char *value = str_replace(line + strlen(row->key) + 1, "\"", "");
        json_string_set(*ret_value, str_trim(value));
        break;
    }
    return rc < 0 ? rc : 0;
}

/* Sets LANG by localectl, with all other variables as they are: set-locale drops those that it is not
 * given. True or False by its exit code. */
static int
set_by_localectl(call_ctx_t *ctx, const char *locale, json_t **ret_value, fail_t *err)
{
    json_auto_t *now = system_locale(ctx, err);
    prog_auto_t prog = PROG_INIT;
    const char *name;
    json_t *value;

    if (now == NULL || tool_begin(&prog, "localectl", err) < 0)
        return err->code;
    json_object_set_new(now, "LANG", json_string(locale));
    prog_add(&prog, "set-locale");
    json_object_foreach (now, name, value)
        prog_addf(&prog, "%s=%s", name, json_string_value(value));
    prog.timeout_ms = LIMIT_TOOL_MS;
    return tool_bool(ctx, &prog, 0, ret_value, err);
}

/* Puts the line into the file, in place of one that the pattern finds, else at the end; makes the file. The
 * functions of `file` do it, whose rules for modes and links then hold. 0, or negative with *err. */
static int
put_line(call_ctx_t *ctx, const char *file, const char *pattern, const char *line, fail_t *err)
{
    json_auto_t *touched = fs_absent(file) ? sub_call(ctx, err, "file.touch", "{s:s}", "name", file)
                                           : json_true();
    json_auto_t *done = touched != NULL
                            ? sub_call(ctx, err, "file.replace", "{s:s, s:s, s:s, s:b}", "path", file,
                                       "pattern", pattern, "repl", line, "append_if_not_found", 1)
                            : NULL;

    return done != NULL ? 0 : err->code;
}

static int
locale_set_locale(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const struct locale_file *row = locale_file(ctx);
    prog_auto_t prog = PROG_INIT;
    int code;

    if (field_check_text("locale", LOCALE(args), FIELD_SHELL, err) < 0)
        return err->code;
    if (by_localectl(ctx))
        return set_by_localectl(ctx, LOCALE(args), ret_value, err);
    if (row == NULL)
        return fop_failed(err, "Error: Unsupported platform!");
    /* Salt runs it without a word, which makes a file that is missing; the line is written below. */
    if (strcmp(row->family, "Debian") == 0) {
        AUTO_FREE char *path = fs_which("update-locale");
        if (path == NULL)
            return fop_failed(err, "Cannot set locale: \"update-locale\" was not found.");
        prog_add(&prog, path);
        prog.timeout_ms = LIMIT_TOOL_MS;
        if (tool_retcode(ctx, &prog, TOOL_MERGE, &code, err) < 0)
            return err->code;
    }
    AUTO_FREE char *pattern = xasprintf("^%s=.*", row->key),
                   *line = xasprintf("%s=\"%s\"", row->key, LOCALE(args));
    *ret_value = json_true();
    return put_line(ctx, row->file, pattern, line, err);
}

/* ---- generated locales ------------------------------------------------------------------------ */

/* Names as `locale -a` prints them. */
static int
locale_list_avail(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    int rc = tool_begin(&prog, "locale", err);

    prog_add(&prog, "-a");
    prog.timeout_ms = LIMIT_TOOL_MS;
    json_auto_t *out = rc == 0 ? tool_run(ctx, &prog, TOOL_MERGE, err) : NULL;
    if (out == NULL)
        return err->code;
    char **lines = str_split(value_str(out, "stdout", ""), "\n", false);
    *ret_value = json_array();
    for (size_t i = 0; lines[i] != NULL; i++)
        json_array_append_new(*ret_value, value_utf8(lines[i], strlen(lines[i])));
    strv_free(lines);
    return 0;
}

static int
locale_avail(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *all = NULL;
    AUTO_FREE char *wanted = localemod_normalized(LOCALE(args));
    bool found = false;
    json_t *one;
    size_t i;

    if (locale_list_avail(ctx, args, &all, err) < 0)
        return err->code;
    json_array_foreach (all, i, one) {
        AUTO_FREE char *name = localemod_normalized(json_string_value(one));
        found = found || strcmp(name, wanted) == 0;
    }
    *ret_value = json_boolean(found);
    return 0;
}

/* 1 when the host can make the locale: SUPPORTED has its line (`lines`: Debian, Gentoo), or the folder of
 * definitions its name. 0, or negative with *err. */
static int
is_definable(const char *locale, const char *definition, bool lines, const char *folder, fail_t *err)
{
    buf_auto_t text = BUF_INIT;
    AUTO_FREE char *path = fs_join(folder, definition);

    if (!lines)
        return fs_look(path, err);
    int rc = fs_read_any(SUPPORTED, LIMIT_HOST_FILE, &text, err);
    for (char *at = text.data, *line; rc > 0 && at != NULL && (line = line_next(&at)) != NULL;) {
        if (strcmp(line, locale) == 0)
            return 1;
    }
    return rc < 0 ? rc : 0;
}

/* Puts the locale into the list of those to be generated, so that later updates generate it too:
 * /etc/locale.gen, in which its line is a comment, else Ubuntu's own file. 0, or negative with *err. */
static int
list_locale(call_ctx_t *ctx, const char *locale, const char *language, bool ubuntu, fail_t *err)
{
    AUTO_FREE char *escaped = rx_escape(locale), *pattern = xasprintf("^\\s*#\\s*%s\\s*$", escaped),
                   *line = xasprintf("%s\n", locale),
                   *own = xasprintf("/var/lib/locales/supported.d/%s", language);

    int there = fs_look(LOCALE_GEN, err);
    if (there < 0)
        return there;
    if (there > 0)
        return put_line(ctx, LOCALE_GEN, pattern, line, err);
    return ubuntu ? put_line(ctx, own, escaped, locale, err) : 0;
}

/* Begins a command line with locale-gen, or with localedef where that is missing. 0, or negative with
 * *err. */
static int
generator(call_ctx_t *ctx, prog_t *prog, const char *locale, const char *definition, const char *codeset,
          bool verbose, fail_t *err)
{
    const json_t *grains = ctx_grains(ctx);
    bool ubuntu = str_eq(value_str(grains, "os", ""), "Ubuntu");
    AUTO_FREE char *gen = fs_which("locale-gen"), *def = fs_which("localedef"),
                   *name = localemod_normalized(locale);

    prog->timeout_ms = LIMIT_TOOL_MS;
    if (gen != NULL) {
        prog_add(prog, "locale-gen");
        if (str_eq(value_str(grains, "os_family", ""), "Gentoo"))
            prog_add(prog, "--generate");
        /* Ubuntu's locale-gen takes the name, others the whole line. */
        return prog_operand(prog, "locale", ubuntu ? name : locale, err);
    }
    if (def == NULL)
        return fop_failed(err, "Command \"locale-gen\" or \"localedef\" was not found on this system.");
    prog_adds(prog, "localedef", "--force", "-i", definition, "-f", codeset, NULL);
    prog_addf(prog, "%s.%s", definition, codeset);
    prog_add(prog, verbose ? "--verbose" : "--quiet");
    return 0;
}

/* Generates a locale: True or False, or with `verbose` what cmd.run_all returns. `p` may be changed, and
 * stays the caller's. */
static int
gen_parts(call_ctx_t *ctx, const json_t *args, locale_parts_t *p, json_t **ret_value, fail_t *err)
{
    const json_t *grains = ctx_grains(ctx);
    const char *os = value_str(grains, "os", ""), *family = value_str(grains, "os_family", "");
    bool ubuntu = strcmp(os, "Ubuntu") == 0,
         verbose = value_truthy(value_get(value_get(args, "kwargs"), "verbose"));
    AUTO_FREE char *definition = xasprintf("%s_%s", p->language, p->territory);
    prog_auto_t prog = PROG_INIT;

    /* "en_US.UTF-8" stands for "en_US.UTF-8 UTF-8", which is the line of SUPPORTED. */
    if (*p->charmap == '\0' && !ubuntu) {
        free(p->charmap);
        p->charmap = xstrdup(p->codeset);
    }
    AUTO_FREE char *locale = joined(p);
    int valid = is_definable(locale, definition, strcmp(os, "Debian") == 0 || strcmp(family, "Gentoo") == 0,
                             strcmp(family, "Suse") == 0 ? "/usr/share/locale" : "/usr/share/i18n/locales",
                             err);
    if (valid == 0)
        *ret_value = json_false();
    if (valid <= 0)
        return valid;
    if (generator(ctx, &prog, locale, definition, p->codeset, verbose, err) < 0 ||
        list_locale(ctx, locale, p->language, ubuntu, err) < 0)
        return err->code;
    json_auto_t *out = tool_run(ctx, &prog, 0, err);
    if (out == NULL)
        return err->code;
    *ret_value = verbose ? json_incref(out) : json_boolean(value_int(out, "retcode", 1) == 0);
    return 0;
}

static int
locale_gen_locale(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    /* The name becomes a path and a line of a file: no slash, no line break. */
    if (field_check_text("locale", LOCALE(args), FIELD_LINE "/", err) < 0)
        return err->code;
    locale_parts_t p = parts_of(LOCALE(args));
    int rc = gen_parts(ctx, args, &p, ret_value, err);
    parts_free(&p);
    return rc;
}

/* ---- table ------------------------------------------------------------------------------------ */

static const arg_t locale_args[] = { ARG("locale", ARG_STR, ARG_REQUIRED, "The locale: en_US.UTF-8"),
                                     ARGS_END };
static const arg_t gen_args[] = {
    ARG("locale", ARG_STR, ARG_REQUIRED, "The locale: en_US.UTF-8"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "verbose: return all that the program says", "verbose"), ARGS_END
};

static const func_t funcs[] = {
    { "avail", locale_avail, locale_args, FN_READONLY,
      "Return whether a locale is generated." CLI_EXAMPLE("salt '*' locale.avail en_US.UTF-8") },
    { "gen_locale", locale_gen_locale, gen_args, 0,
      "Generate a locale." CLI_EXAMPLE("salt '*' locale.gen_locale en_US.UTF-8") },
    { "get_locale", locale_get_locale, NULL, FN_READONLY,
      "Return the system's locale." CLI_EXAMPLE("salt '*' locale.get_locale") },
    { "list_avail", locale_list_avail, NULL, FN_READONLY,
      "Return the generated locales." CLI_EXAMPLE("salt '*' locale.list_avail") },
    { "set_locale", locale_set_locale, locale_args, 0,
      "Set the system's locale." CLI_EXAMPLE("salt '*' locale.set_locale en_US.UTF-8") },
};

PLUGIN(exec, localemod, .provides = "locale", .doc = "Locales", FUNCS(funcs));
