/* ini.c - execution module `ini`: options and sections of ini files. The format is inifile.h's, which keeps
 * comments, order and blank lines as Salt's own reader does. Functions return what was there before, so that
 * states can tell their changes. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/file/field.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/inifile.h"
#include "plugins/lib/file/partfile.h"
#include "salt/plugin.h"

#define FILE_NAME(args) value_str(args, "file_name", "")
#define SEP(args)       value_str(args, "separator", "=")

/* NEW; empty where there is no file. NULL with *err. `separator` parts options from values, usually "=" or
 * ":"; an empty one would part nothing. */
static json_t *
ini_load(const json_t *args, fail_t *err)
{
    buf_auto_t text = BUF_INIT;
    fail_auto_t why = FAIL_INIT;
    int rc = fs_read_any(FILE_NAME(args), LIMIT_FILE_READ, &text, &why);

    if (*SEP(args) == '\0') {
        fop_invalid(err, "separator: '' parts no option from its value; give a character");
        return NULL;
    }
    if (rc < 0) {
        fop_failed(err, "Unable to open file '%s'. Exception: [Errno %d] %s: '%s'", FILE_NAME(args), -rc,
                   strerror(-rc), FILE_NAME(args));
        return NULL;
    }
    return inifile_parse(buf_str(&text), SEP(args));
}

/* Writes the file where it changes. So that neither its time nor its inode change for nothing. */
static int
ini_store(const json_t *args, const json_t *ini, fail_t *err)
{
    buf_auto_t text = BUF_INIT, now = BUF_INIT;
    fail_auto_t why = FAIL_INIT;

    inifile_text(ini, SEP(args), &text);
    int there = fs_read_any(FILE_NAME(args), LIMIT_FILE_READ, &now, &why);
    if (there > 0 && now.len == text.len && memcmp(buf_str(&now), buf_str(&text), now.len) == 0)
        return 0;
    if (there >= 0 && partfile_put(FILE_NAME(args), buf_str(&text), text.len, 0644, &why) == 0)
        return 0;
    return fop_failed(err, "Unable to write file '%s'. Exception: %s", FILE_NAME(args), fail_text(&why));
}

/* A text with an option's name or a section's must not begin another one. `sections` is {section: {option:
 * value}} or {option: value}. */
static int
ini_check(const json_t *wanted, fail_t *err)
{
    const char *name;
    json_t *value;

    json_object_foreach ((json_t *) wanted, name, value) {
        if (field_check_text("sections", name, FIELD_LINE, err) < 0 ||
            (json_is_object(value) && ini_check(value, err) < 0))
            return err->code;
    }
    return 0;
}

/* {} when everything was so already. */
static int
ini_set_option(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *ini = ini_check(value_get(args, "sections"), err) == 0 ? ini_load(args, err) : NULL;
    json_auto_t *changes = ini != NULL ? inifile_update(ini, value_get(args, "sections"), SEP(args)) : NULL;

    if (changes == NULL || ini_store(args, ini, err) < 0)
        return err->code;
    *ret_value = json_incref(changes);
    return 0;
}

/* The object that has the option: the section, or the file itself. BORROWED, or NULL. */
static json_t *
ini_place(json_t *ini, const json_t *args)
{
    const char *section = value_str(args, "section", "");

    return *section != '\0' ? value_get(ini, section) : ini;
}

/* None for a missing file, section or option alike. */
static int
ini_get_option(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *ini = ini_load(args, err);

    if (ini == NULL)
        return err->code;
    json_t *value = value_get(ini_place(ini, args), value_str(args, "option", ""));
    *ret_value = value != NULL ? json_incref(value) : json_null();
    return 0;
}

/* A section that is not there means the options above all sections, as by Salt. */
static int
ini_remove_option(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *option = value_str(args, "option", "");
    json_auto_t *ini = ini_load(args, err);

    if (ini == NULL)
        return err->code;
    json_t *place = ini_place(ini, args);
    place = json_is_object(place) ? place : ini;
    json_auto_t *value = json_incref(value_get(place, option));
    json_object_del(place, option);
    if (ini_store(args, ini, err) < 0)
        return err->code;
    *ret_value = value != NULL ? json_incref(value) : json_null();
    return 0;
}

/* {} for a section that is not there, and without comments. */
static int
ini_get_section(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *ini = ini_load(args, err);

    if (ini == NULL)
        return err->code;
    *ret_value = inifile_options(value_get(ini, value_str(args, "section", "")));
    return 0;
}

/* The options that went with it, or None when there was none; a missing one does not touch the file. */
static int
ini_remove_section(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "section", "");
    json_auto_t *ini = ini_load(args, err), *section = json_incref(value_get(ini, name));

    if (ini == NULL)
        return err->code;
    *ret_value = section == NULL ? json_null() : inifile_options(section);
    if (section == NULL)
        return 0;
    json_object_del(ini, name);
    return ini_store(args, ini, err);
}

/* Options and sections of the whole file, without comments; {} where there is no file. */
static int
ini_get_ini(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *ini = ini_load(args, err);

    *ret_value = ini != NULL ? inifile_options(ini) : NULL;
    return ini != NULL ? 0 : err->code;
}

#define FILE_ROW    ARG("file_name", ARG_STR, ARG_REQUIRED, "The file")
#define SECTION_ROW ARG("section", ARG_STR, ARG_REQUIRED, "The section; None: above the sections")
#define OPTION_ROW  ARG("option", ARG_STR, ARG_REQUIRED, "The option")
#define SEP_ROW     ARG("separator", ARG_STR, "\"=\"", "What stands between an option and its value")

static const arg_t file_args[] = { FILE_ROW, SEP_ROW, ARGS_END };
static const arg_t section_args[] = { FILE_ROW, SECTION_ROW, SEP_ROW, ARGS_END };
static const arg_t option_args[] = {
    FILE_ROW, ARG("section", ARG_ANY, ARG_REQUIRED, "The section; None: above the sections"), OPTION_ROW,
    SEP_ROW, ARGS_END
};
static const arg_t set_args[] = {
    FILE_ROW, ARG("sections", ARG_DICT, "null", "{section: {option: value}}, {option: value} above"), SEP_ROW,
    ARGS_END
};

static const func_t funcs[] = {
    { "get_ini", ini_get_ini, file_args, FN_READONLY,
      "Return all options of an ini file." CLI_EXAMPLE("salt '*' ini.get_ini /etc/app.ini") },
    { "get_option", ini_get_option, option_args, FN_READONLY,
      "Return the value of an option, or None." CLI_EXAMPLE(
          "salt '*' ini.get_option /etc/app.ini main port") },
    { "get_section", ini_get_section, section_args, FN_READONLY,
      "Return the options of a section." CLI_EXAMPLE("salt '*' ini.get_section /etc/app.ini main") },
    { "remove_option", ini_remove_option, option_args, 0,
      "Remove an option; return its value, or None." CLI_EXAMPLE(
          "salt '*' ini.remove_option /etc/app.ini main port") },
    { "remove_section", ini_remove_section, section_args, 0,
      "Remove a section; return its options, or None." CLI_EXAMPLE(
          "salt '*' ini.remove_section /etc/app.ini main") },
    { "set_option", ini_set_option, set_args, 0,
      "Set options; return what changed." CLI_EXAMPLE(
          "salt '*' ini.set_option /etc/app.ini '{main: {port: 80}}'") },
};

PLUGIN(exec, ini, .doc = "Ini files", FUNCS(funcs));
