/* djangomod.c - execution module `django`: commands of a site, by django-admin. All of them end in cmd.run,
 * whose output is the answer. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "salt/plugin.h"

/* django-admin of PATH, of the virtual environment `bin_env`, or that program itself. NEW, or NULL with *err.
 * The one in an environment is the old name, as by Salt; where it is not there, bin_env is the program. */
static char *
django_admin(const char *bin_env, fail_t *err)
{
    if (!str_empty(bin_env)) {
        AUTO_FREE char *inside = fs_join(bin_env, "bin/django-admin.py");
        int there = fs_look(inside, err);
        return there < 0 ? NULL : there > 0 ? STEAL(inside) : xstrdup(bin_env);
    }
    static const char *const names[] = { "django-admin.py", "django-admin" };
    for (size_t i = 0; i < NELEMS(names); i++) {
        AUTO_FREE char *path = fs_which(names[i]);
        if (path != NULL)
            return xstrdup(names[i]);
    }
    (void) fail_kind(err, FAIL_COMMAND, -ENOENT, "django-admin or django-admin.py not found on PATH");
    return NULL;
}

/* Runs `command`, words with blanks between, with --FLAG for each of `flags` and --KEY=VALUE for each of
 * `values`. A value is one word whatever is in it. */
static int
django_run(call_ctx_t *ctx, const json_t *args, const char *command, const json_t *flags, json_t *values,
           json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *admin = django_admin(value_str(args, "bin_env", NULL), err);
    const char *path = value_str(args, "pythonpath", ""), *key;
    json_t *one, *words = json_array();
    json_auto_t *cmd = json_pack("[o]", words), *how = json_pack("{s:b}", "python_shell", 0);
    size_t i;

    if (admin == NULL)
        return err->code;
    json_array_append_new(words, json_string(admin));
    char **parts = str_split(command, " \t\n", true);
    for (i = 0; parts[i] != NULL; i++)
        json_array_append_new(words, json_string(parts[i]));
    strv_free(parts);
    /* Settings and path stand behind the command, where django-admin takes them for every command. */
    json_array_append_new(words, value_fmt("--settings=%s", value_str(args, "settings_module", "")));
    if (*path != '\0')
        json_array_append_new(words, value_fmt("--pythonpath=%s", path));
    json_array_foreach (flags, i, one) {
        AUTO_FREE char *text = value_pystr(one);
        json_array_append_new(words, value_fmt("--%s", text));
    }
    json_object_foreach (values, key, one) {
        AUTO_FREE char *text = value_pystr(one);
        json_array_append_new(words, value_fmt("--%s=%s", key, text));
    }
    /* The others of the call are django-admin's business. */
    static const char *const passed[] = { "env", "runas" };
    for (i = 0; i < NELEMS(passed); i++) {
        if (value_truthy(value_get(args, passed[i])))
            json_object_set(how, passed[i], value_get(args, passed[i]));
    }
    /* The exit code becomes the job's by cmd.run, and output is returned whatever it is. */
    return ctx_call(ctx, "cmd.run", cmd, how, ret_value, err);
}

/* Any command: `args` are flags, further keywords options with a value. */
static int
django_command(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return django_run(ctx, args, value_str(args, "command", ""), value_get(args, "args"),
                      value_get(args, "kwargs"), ret_value, err);
}

/* A flag of django-admin for an argument that is true; and the arguments that are its options with a value.
 * They mean the same in every function that has them, so that one table serves all. */
static const struct {
    const char *argument, *flag;
} django_flags[] = { { "migrate", "migrate" },
                     { "noinput", "noinput" },
                     { "no_post_process", "no-post-process" },
                     { "dry_run", "dry-run" },
                     { "clear", "clear" },
                     { "link", "link" },
                     { "no_default_ignore", "no-default-ignore" } };
static const char *const django_values[] = { "email", "username", "ignore", "database" };

/* The row's text is django-admin's command, with "!" before it where it never asks. Fixtures are operands,
 * with commas between; a migration needs its application before it. */
static int
django_fixed(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *command = ctx_row(ctx)->data.text;
    json_auto_t *flags = *command == '!' ? json_pack("[s]", "noinput") : json_array(),
                *values = json_object();
    buf_auto_t text = BUF_INIT;

    for (size_t i = 0; i < NELEMS(django_flags); i++) {
        if (value_truthy(value_get(args, django_flags[i].argument)))
            json_array_append_new(flags, json_string(django_flags[i].flag));
    }
    for (size_t i = 0; i < NELEMS(django_values); i++) {
        if (value_truthy(value_get(args, django_values[i])))
            json_object_set(values, django_values[i], value_get(args, django_values[i]));
    }
    buf_puts(&text, *command == '!' ? command + 1 : command);
    AUTO_FREE char *fixtures = str_replace(value_str(args, "fixtures", ""), ",", " ");
    if (*fixtures != '\0')
        buf_printf(&text, " %s", fixtures);
    if (value_truthy(value_get(args, "app_label"))) {
        buf_printf(&text, " %s", value_str(args, "app_label", ""));
        if (value_truthy(value_get(args, "migration_name"))) {
            AUTO_FREE char *migration = value_pystr(value_get(args, "migration_name"));
            buf_printf(&text, " %s", migration);
        }
    }
    return django_run(ctx, args, buf_str(&text), flags, values, ret_value, err);
}

#define SETTINGS_ROW ARG("settings_module", ARG_STR, ARG_REQUIRED, "The site's settings: site.settings")
#define BIN_ROW      ARG("bin_env", ARG_STR, "null", "Folder of a virtual environment, or the program itself")
#define PATH_ROW     ARG("pythonpath", ARG_STR, "null", "Added to the path of modules")
#define ENV_ROW      ARG("env", ARG_ANY, "null", "Variables of the environment")
#define RUNAS_ROW    ARG("runas", ARG_STR, "null", "The user who runs it")
#define DATABASE_ROW ARG("database", ARG_STR, "null", "The database, if not the default one")
#define NOINPUT_ROW  ARG("noinput", ARG_ANY, "true", "It asks nothing")

static const arg_t command_args[] = { SETTINGS_ROW,
                                      ARG("command", ARG_STR, ARG_REQUIRED, "The command"),
                                      BIN_ROW,
                                      PATH_ROW,
                                      ENV_ROW,
                                      RUNAS_ROW,
                                      ARG("args", ARG_ANY, ARG_STAR, "Flags, without the dashes"),
                                      ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Options with their values"),
                                      ARGS_END };
static const arg_t syncdb_args[] = { SETTINGS_ROW, BIN_ROW,   ARG("migrate", ARG_ANY, "false", "Migrate too"),
                                     DATABASE_ROW, PATH_ROW,  ENV_ROW,
                                     NOINPUT_ROW,  RUNAS_ROW, ARGS_END };
static const arg_t migrate_args[] = { SETTINGS_ROW,
                                      ARG("app_label", ARG_STR, "null", "The application"),
                                      ARG("migration_name", ARG_ANY, "null", "The migration"),
                                      BIN_ROW,
                                      DATABASE_ROW,
                                      PATH_ROW,
                                      ENV_ROW,
                                      NOINPUT_ROW,
                                      RUNAS_ROW,
                                      ARGS_END };
static const arg_t superuser_args[] = { SETTINGS_ROW,
                                        ARG("username", ARG_STR, ARG_REQUIRED, "The user"),
                                        ARG("email", ARG_STR, ARG_REQUIRED, "The user's address"),
                                        BIN_ROW,
                                        DATABASE_ROW,
                                        PATH_ROW,
                                        ENV_ROW,
                                        RUNAS_ROW,
                                        ARGS_END };
static const arg_t loaddata_args[] = {
    SETTINGS_ROW, ARG("fixtures", ARG_STR, ARG_REQUIRED, "Files of data, with commas between"),
    BIN_ROW,      DATABASE_ROW,
    PATH_ROW,     ENV_ROW,
    ARGS_END
};
static const arg_t static_args[] = { SETTINGS_ROW,
                                     BIN_ROW,
                                     ARG("no_post_process", ARG_ANY, "false", "Files stay as they are"),
                                     ARG("ignore", ARG_STR, "null", "Files that are left out: a pattern"),
                                     ARG("dry_run", ARG_ANY, "false", "Nothing is copied"),
                                     ARG("clear", ARG_ANY, "false", "Files that are there are removed first"),
                                     ARG("link", ARG_ANY, "false", "Links instead of copies"),
                                     ARG("no_default_ignore", ARG_ANY, "false", "CVS, .* and *~ count too"),
                                     PATH_ROW,
                                     ENV_ROW,
                                     RUNAS_ROW,
                                     ARGS_END };

static const func_t funcs[] = {
    { "collectstatic", django_fixed, static_args, 0,
      "Copy the static files of a site to where they are served." CLI_EXAMPLE(
          "salt '*' django.collectstatic <settings_module>"),
      .data.text = "!collectstatic" },
    { "command", django_command, command_args, 0,
      "Run a command of django-admin." CLI_EXAMPLE("salt '*' django.command <settings_module> <command>") },
    { "createsuperuser", django_fixed, superuser_args, 0,
      "Make a user who may do everything." CLI_EXAMPLE(
          "salt '*' django.createsuperuser <settings_module> user user@example.com"),
      .data.text = "!createsuperuser" },
    { "loaddata", django_fixed, loaddata_args, 0,
      "Load files of data into the database." CLI_EXAMPLE(
          "salt '*' django.loaddata <settings_module> <comma delimited list of fixtures>"),
      .data.text = "loaddata" },
    { "migrate", django_fixed, migrate_args, 0,
      "Migrate the database." CLI_EXAMPLE("salt '*' django.migrate <settings_module>"),
      .data.text = "migrate" },
    { "syncdb", django_fixed, syncdb_args, 0,
      "Make the tables, with a Django that still has this command." CLI_EXAMPLE(
          "salt '*' django.syncdb <settings_module>"),
      .data.text = "syncdb" },
};

PLUGIN(exec, djangomod, .provides = "django", .doc = "Django's commands", FUNCS(funcs));
