/* cryptdev.c - execution module `cryptdev`: encrypted devices, in crypttab(5) and as device mapper has
 * them, by dmsetup and cryptsetup. Lines that are comments, or no entry, are kept as they are; systemd and
 * Debian read the same four fields. */
#include <ctype.h>
#include <limits.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/file/field.h"
#include "plugins/lib/file/fileops.h"
#include "salt/plugin.h"

/* The fields of a line, in their order. */
static const char *const keys[] = { "name", "device", "password", "options" };

/* The line as {name, device, password, options}, texts. NEW; NULL for a comment or for a line without three
 * or four fields. "password" is Salt's name for the key's file. */
static json_t *
crypttab_entry(const char *line)
{
    char **words = *line != '#' ? str_split(line, " \t\r\n", true) : NULL;
    size_t n = words != NULL ? strv_len(words) : 0;
    json_t *entry = n == NELEMS(keys) || n == NELEMS(keys) - 1 ? json_object() : NULL;

    for (size_t i = 0; entry != NULL && i < NELEMS(keys); i++)
        json_object_set_new(entry, keys[i], i < n ? value_utf8(words[i], strlen(words[i])) : json_string(""));
    strv_free(words);
    return entry;
}

/* The file's lines, without their ends. NEW list, or NULL with *err. */
static json_t *
crypttab_lines(const char *config, fail_t *err)
{
    buf_auto_t text = BUF_INIT;
    json_t *lines = json_array();

    if (fs_read_any(config, LIMIT_HOST_FILE, &text, err) < 0) {
        json_decref(lines);
        return NULL;
    }
    for (char *at = text.len > 0 ? text.data : NULL, *line; at != NULL && (line = line_next(&at)) != NULL;)
        json_array_append_new(lines, value_utf8(line, strlen(line)));
    return lines;
}

/* Writes the lines over the file, whole or not at all; the mode of a file that is there stays. 0, or
 * negative with *err. */
static int
crypttab_write(const char *config, const json_t *lines, fail_t *err)
{
    buf_auto_t text = BUF_INIT;
    json_t *line;
    size_t i;

    json_array_foreach (lines, i, line)
        buf_printf(&text, "%s\n", json_string_value(line));
    return fs_rewrite(config, buf_str(&text), text.len, 0644, err);
}

/* {name: {device, password, options}}, {} without a file. Of two entries with one name the second gets a
 * "_" behind it, as in Salt. */
static int
cryptdev_crypttab(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *config = value_str(args, "config", "");
    int there = fs_look_file(config, err);
    json_auto_t *lines = there > 0 ? crypttab_lines(config, err) : json_array();
    json_auto_t *all = json_object();
    json_t *line;
    size_t i;

    if (there < 0 || lines == NULL)
        return err->code;
    json_array_foreach (lines, i, line) {
        json_auto_t *entry = crypttab_entry(json_string_value(line));
        if (entry == NULL)
            continue;
        char **options = str_split(value_str(entry, "options", ""), ",", false);
        json_t *list = json_array();
        for (size_t k = 0; options[k] != NULL; k++)
            json_array_append_new(list, json_string(options[k]));
        strv_free(options);
        json_object_set_new(entry, "options", list);
        AUTO_FREE char *name = xstrdup(value_str(entry, "name", ""));
        while (value_get(all, name) != NULL) {
            char *longer = xasprintf("%s_", name);
            free(name);
            name = longer;
        }
        json_object_del(entry, "name");
        json_object_set(all, name, entry);
    }
    *ret_value = STEAL(all);
    return 0;
}

/* "absent" or "change"; a file without the entry is not written. */
static int
cryptdev_rm_crypttab(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *config = value_str(args, "config", ""), *name = value_str(args, "name", "");
    json_auto_t *lines = crypttab_lines(config, err), *kept = json_array();
    json_t *line;
    size_t i;

    if (lines == NULL)
        return err->code;
    json_array_foreach (lines, i, line) {
        json_auto_t *entry = crypttab_entry(json_string_value(line));
        if (entry == NULL || strcmp(value_str(entry, "name", ""), name) != 0)
            json_array_append(kept, line);
    }
    bool same = json_array_size(kept) == json_array_size(lines);
    int rc = same ? 0 : crypttab_write(config, kept, err);
    *ret_value = rc == 0 ? json_string(same ? "absent" : "change") : NULL;
    return rc;
}

/* The entry that the arguments describe; each field is one word of the line. NEW, or NULL with *err. */
static json_t *
wanted_entry(const json_t *args, fail_t *err)
{
    json_t *options = value_get(args, "options"), *password = value_get(args, "password");

    if (!json_is_null(options) && !json_is_string(options) && !json_is_array(options)) {
        fop_failed(err, "options must be a string or list of strings");
        return NULL;
    }
    AUTO_FREE char *joined = json_is_null(options) ? xstrdup("") : value_joined(options, ",");
    AUTO_FREE char *given = json_is_string(options) ? xstrdup(json_string_value(options)) : NULL;
    json_t *entry = json_pack("{s:s, s:s, s:s, s:s}", "name", value_str(args, "name", ""), "device",
                              value_str(args, "device", ""), "password",
                              json_is_string(password) ? json_string_value(password) : "none", "options",
                              given != NULL ? given : joined);
    for (size_t i = 0; i < NELEMS(keys); i++) {
        const char *text = value_str(entry, keys[i], "");
        /* Options alone may be left out, as they stand at the end. */
        if ((*text != '\0' || i < NELEMS(keys) - 1) && field_check_text(keys[i], text, FIELD_WORD, err) < 0) {
            json_decref(entry);
            return NULL;
        }
    }
    return entry;
}

/* The argument `match_on`: NEW list of keys, or NULL with *err. */
static json_t *
match_keys(const json_t *args, fail_t *err)
{
    json_t *said = value_get(args, "match_on"), *one;
    json_auto_t *list = json_is_array(said) ? json_incref(said) : json_pack("[O]", said);
    size_t i, k;

    json_array_foreach (list, i, one) {
        for (k = 0; k < NELEMS(keys) && !str_eq(json_string_value(one), keys[k]); k++)
            continue;
        if (k == NELEMS(keys)) {
            AUTO_FREE char *shown = value_pystr(one);
            fop_failed(err, "Unrecognized keys in match_on: \"%s\"", shown);
            return NULL;
        }
    }
    return STEAL(list);
}

/* True when both entries have the same texts for the keys in `which`. */
static bool
same_fields(const json_t *a, const json_t *b, const json_t *which)
{
    json_t *key;
    size_t i;
    bool same = true;

    json_array_foreach (which, i, key)
        same = same &&
               str_eq(value_str(a, json_string_value(key), ""), value_str(b, json_string_value(key), ""));
    return same;
}

/* "new", "present" or "change", also with test=True, when nothing is written. Columns are as wide as in
 * Salt, so that both write the same bytes. */
static int
cryptdev_set_crypttab(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *config = value_str(args, "config", ""), *done = NULL;
    json_auto_t *wanted = wanted_entry(args, err), *by = wanted != NULL ? match_keys(args, err) : NULL;
    json_auto_t *every = json_pack("[s, s, s, s]", keys[0], keys[1], keys[2], keys[3]), *out = json_array();
    int there = by != NULL ? fs_look_file(config, err) : -1;
    json_t *line;
    size_t i;

    if (there == 0)
        return fop_failed(err, "Bad config file \"%s\"", config);
    json_auto_t *lines = there > 0 ? crypttab_lines(config, err) : NULL;
    if (lines == NULL)
        return err->code;
    json_auto_t *text = value_fmt("%-12s %-44s %-22s %s", value_str(wanted, "name", ""),
                                  value_str(wanted, "device", ""), value_str(wanted, "password", ""),
                                  value_str(wanted, "options", ""));
    json_array_foreach (lines, i, line) {
        json_auto_t *entry = crypttab_entry(json_string_value(line));
        /* Every line that match_on means is brought to the entry, not just the first. */
        bool its = entry != NULL && same_fields(entry, wanted, by);
        bool differs = its && !same_fields(entry, wanted, every);
        done = differs ? "change" : its && done == NULL ? "present" : done;
        json_array_append(out, differs ? text : line);
    }
    if (done == NULL) {
        json_array_append(out, text);
        done = "new";
    }
    bool writes = strcmp(done, "present") != 0 && !value_truthy(value_get(args, "test"));
    int rc = writes ? crypttab_write(config, out, err) : 0;
    *ret_value = rc == 0 ? json_string(done) : NULL;
    return rc;
}

/* Devices that dmsetup lists: "data (254:0)", or "data (254, 0)" of older ones; "No devices found" has no
 * parenthesis. */
static int
cryptdev_active(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    int rc = tool_begin(&prog, "dmsetup", err);

    prog_adds(&prog, "ls", "--target", "crypt", NULL);
    prog.timeout_ms = LIMIT_TOOL_MS;
    json_auto_t *ran = rc == 0 ? tool_run(ctx, &prog, 0, err) : NULL;
    if (ran == NULL)
        return err->code;
    AUTO_FREE char *text = xstrdup(value_str(ran, "stdout", ""));
    *ret_value = json_object();
    for (char *at = text, *line; *text != '\0' && (line = line_next(&at)) != NULL;) {
        char **words = str_split(line, " \t(),:", true);
        if (strchr(line, '(') != NULL && strv_len(words) == 3 && isdigit((unsigned char) *words[1]) &&
            isdigit((unsigned char) *words[2]))
            json_object_set_new(
                *ret_value, words[0],
                json_pack("{s:s, s:s, s:s}", "devname", words[0], "major", words[1], "minor", words[2]));
        strv_free(words);
    }
    return 0;
}

/* Opens a device by a file with its key; without one cryptsetup would ask at a terminal. True or False by
 * its exit code. */
static int
cryptdev_open(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *keyfile = value_str(args, "keyfile", "none");
    prog_auto_t prog = PROG_INIT;

    if (strcmp(keyfile, "none") == 0 || strcmp(keyfile, "-") == 0)
        return fop_failed(err, "For immediate crypt device mapping, keyfile must not be none");
    int code = -1, rc = tool_begin(&prog, "cryptsetup", err);
    prog_adds(&prog, "open", "--key-file", NULL);
    prog.timeout_ms = LIMIT_TOOL_MS;
    rc = rc == 0 ? prog_operand(&prog, "keyfile", keyfile, err) : rc;
    rc = rc == 0 ? prog_operand(&prog, "device", value_str(args, "device", ""), err) : rc;
    rc = rc == 0 ? prog_operand(&prog, "name", value_str(args, "name", ""), err) : rc;
    rc = rc == 0 ? tool_retcode(ctx, &prog, 0, &code, err) : rc;
    *ret_value = rc == 0 ? json_boolean(code == 0) : NULL;
    return rc;
}

/* A device that is in use, or not open, is False. */
static int
cryptdev_close(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    int code = -1, rc = tool_begin(&prog, "cryptsetup", err);

    prog_add(&prog, "close");
    prog.timeout_ms = LIMIT_TOOL_MS;
    rc = rc == 0 ? prog_operand(&prog, "name", value_str(args, "name", ""), err) : rc;
    rc = rc == 0 ? tool_retcode(ctx, &prog, 0, &code, err) : rc;
    *ret_value = rc == 0 ? json_boolean(code == 0) : NULL;
    return rc;
}

#define NAME_ROW   ARG("name", ARG_STR, ARG_REQUIRED, "Name of the mapped device")
#define DEVICE_ROW ARG("device", ARG_STR, ARG_REQUIRED, "The encrypted device: a path, or UUID=...")
#define CONFIG_ROW ARG("config", ARG_STR, "\"/etc/crypttab\"", "The file")

static const arg_t config_args[] = { CONFIG_ROW, ARGS_END };
static const arg_t rm_args[] = { NAME_ROW, CONFIG_ROW, ARGS_END };
static const arg_t set_args[] = {
    NAME_ROW,
    DEVICE_ROW,
    ARG("password", ARG_STR, "\"none\"", "File of its key; none: it is asked for"),
    ARG("options", ARG_ANY, "\"\"", "A text, or a list"),
    CONFIG_ROW,
    ARG("test", ARG_ANY, "false", "Only tell what would be done"),
    ARG("match_on", ARG_ANY, "\"name\"", "Fields by which a line is that device's"),
    ARGS_END
};
static const arg_t open_args[] = { NAME_ROW, DEVICE_ROW,
                                   ARG("keyfile", ARG_STR, ARG_REQUIRED, "File of its key"), ARGS_END };
static const arg_t close_args[] = { NAME_ROW, ARGS_END };

static const func_t funcs[] = {
    { "active", cryptdev_active, NULL, FN_READONLY,
      "Return the encrypted devices that are open." CLI_EXAMPLE("salt '*' cryptdev.active") },
    { "close", cryptdev_close, close_args, 0, "Close a device." CLI_EXAMPLE("salt '*' cryptdev.close foo") },
    { "crypttab", cryptdev_crypttab, config_args, FN_READONLY,
      "Return the entries of crypttab." CLI_EXAMPLE("salt '*' cryptdev.crypttab") },
    { "open", cryptdev_open, open_args, 0,
      "Open a device by a file with its key." CLI_EXAMPLE(
          "salt '*' cryptdev.open foo /dev/sdz1 /path/to/keyfile") },
    { "rm_crypttab", cryptdev_rm_crypttab, rm_args, 0,
      "Remove a device from crypttab." CLI_EXAMPLE("salt '*' cryptdev.rm_crypttab foo") },
    { "set_crypttab", cryptdev_set_crypttab, set_args, 0,
      "Put a device into crypttab." CLI_EXAMPLE(
          "salt '*' cryptdev.set_crypttab foo /dev/sdz1 mypassword swap,size=256") },
};

PLUGIN(exec, cryptdev, .doc = "Encrypted devices", FUNCS(funcs));
