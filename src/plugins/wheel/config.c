/* config.c - wheel module `config`: the master's configuration, read and written. Values are checked by the
 * table of options before they are written; the running master takes them with the next SIGHUP or start. */
#include "common/conf/conf.h"

#include "common/base/beneath.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/data/yaml.h"
#include "salt/plugin.h"

/* Checks that a master would start with these options over the present ones. */
static int
wheel_config_check(call_ctx_t *ctx, const json_t *options, fail_t *err)
{
    AUTO(conf)
    conf = conf_load(value_str(ctx_opts(ctx), "config_dir", ""), CONF_MASTER, options, NULL, err);

    return conf != NULL ? 0 : -EINVAL;
}

/* A configuration that other programs and people read stays theirs. */
static int
write_yaml(const char *path, const json_t *options, fail_t *err)
{
    AUTO_FREE char *text = yaml_dump(options, 0);

    return fs_rewrite(path, text, strlen(text), 0600, err);
}

static int
config_values(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_incref(ctx_opts(ctx));
    return 0;
}

/* NEW what the file says; an empty object where there is no file. */
static json_t *
options_in(const char *path, fail_t *err)
{
    buf_auto_t text = BUF_INIT;

    if (fs_absent(path))
        return json_object();
    if (fs_read(path, LIMIT_CONF_FILE, &text, err) < 0)
        return NULL;
    json_t *options = yaml_load(buf_str(&text), text.len, path, NULL, err);
    if (options == NULL || json_is_object(options))
        return options;
    json_decref(options);
    return json_object();
}

/* Rewrites the main file, of which comments are lost. */
static int
config_apply(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *path = value_str(ctx_opts(ctx), "conf_file", "");
    json_auto_t *one = json_pack("{s:O}", value_str(args, "key", ""), value_get(args, "value"));
    json_auto_t *options = wheel_config_check(ctx, one, err) == 0 ? options_in(path, err) : NULL;

    if (options == NULL)
        return -EINVAL;
    json_object_update(options, one);
    *ret_value = json_null();
    return write_yaml(path, options, err);
}

/* Writes a file of its own into the folder of default_include. The name must be a single one without a
 * leading dot. */
static int
config_update(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "file_name", ""), *home = value_str(ctx_opts(ctx), "config_dir", "");
    json_t *options = value_get(args, "yaml_contents");
    AUTO_FREE char *pattern = xstrdup(value_str(ctx_opts(ctx), "default_include", "master.d/*.conf"));
    char *slash = strrchr(pattern, '/');

    if (name[0] == '.' || !beneath_is_name(name)) {
        *ret_value = json_string("Invalid path");
        ctx_set_retcode(ctx, 1);
        return 0;
    }
    if (wheel_config_check(ctx, options, err) < 0)
        return -EINVAL;
    if (slash != NULL)
        *slash = '\0';
    AUTO_FREE char *dir = pattern[0] == '/' ? xstrdup(pattern)
                          : slash != NULL   ? fs_join(home, pattern)
                                            : xstrdup(home);
    AUTO_FREE char *path = xasprintf("%s/%s.conf", dir, name);
    int rc = fs_mkdirs(dir, 0755, err);
    if (rc == 0)
        rc = write_yaml(path, options, err);
    if (rc == 0)
        *ret_value = value_fmt("Wrote %s.conf", name);
    return rc;
}

static const arg_t apply_args[] = { ARG("key", ARG_STR, ARG_REQUIRED, "Name of an option"),
                                    ARG("value", ARG_ANY, ARG_REQUIRED, "What it shall be"), ARGS_END };
static const arg_t update_args[] = { ARG("file_name", ARG_STR, ARG_REQUIRED,
                                         "Name of the file, without .conf, in the folder of default_include"),
                                     ARG("yaml_contents", ARG_DICT, ARG_REQUIRED, "Its options"), ARGS_END };

static const func_t funcs[] = {
    { "apply", config_apply, apply_args, FN_ACCESS_ADMIN,
      "Set one option in the master's configuration file.\n\nThe file's comments are lost. A value that the "
      "master would refuse is not written." CLI_EXAMPLE(
          "salt-run salt.cmd saltutil.wheel config.apply timeout 10") },
    { "update_config", config_update, update_args, FN_ACCESS_ADMIN,
      "Write options as a file of their own in the folder that ``default_include`` names, "
      "``master.d``.\n\nOptions that the master would refuse are not written." CLI_EXAMPLE(
          "salt-run salt.cmd saltutil.wheel config.update_config gui '{timeout: 10}'") },
    { "values", config_values, NULL, FN_READONLY | FN_ACCESS_ADMIN,
      "Return the master's configuration, defaults included." CLI_EXAMPLE(
          "salt-run salt.cmd saltutil.wheel config.values") },
};

PLUGIN(wheel, config, .doc = "The master's configuration, read and written", FUNCS(funcs));
