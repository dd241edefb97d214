/* config_bootstrap.c - more of execution module `config`: fetches the script that installs minions, and puts
 * it where salt-cloud looks. */
#include "salt/plugin.h"

#include <unistd.h>

#include "common/base/digest.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/transfer/fetch.h"
#include "salt/log.h"

#define DEFAULT_URL  "https://bootstrap.saltstack.com"
#define DEFAULT_NAME "bootstrap-salt.sh"
#define FOLDER       "cloud.deploy.d"

/* BORROWED from the path: what is behind the last slash. */
static const char *
config_bootstrap_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* From an address, a file of this machine, or the text itself. 1; 0: the address has none; or a negative
 * errno. A failed fetch is logged and counts as none: the call answers None then. */
static int
get_script(call_ctx_t *ctx, const char *source, buf_t *text, char **ret_name, fail_t *err)
{
    fetch_t what = { .url = source };
    bool found = true;
    int rc;

    if (str_starts(source, "http") || strstr(source, "://") != NULL) {
        fail_auto_t why = FAIL_INIT;
        rc = fetch_bytes(ctx, &what, text, &found, &why);
        if (rc < 0)
            log_error("config.gather_bootstrap_script: %s", fail_text(&why));
        *ret_name = xstrdup(strcmp(source, DEFAULT_URL) == 0 ? DEFAULT_NAME
                                                             : config_bootstrap_base_name(source));
        return rc == 0 && found;
    }
    if (fs_exists(source)) {
        *ret_name = xstrdup(config_bootstrap_base_name(source));
        rc = fs_read(source, LIMIT_FILE_READ, text, err);
        return rc < 0 ? rc : 1;
    }
    AUTO_FREE char *digest = digest_bytes("sha1", source, strlen(source), err);
    *ret_name = xasprintf("%s.sh", digest != NULL ? digest : "");
    buf_puts(text, source);
    return digest != NULL ? 1 : -EIO;
}

/* Into one folder, once. Returns the path, NEW, or NULL where it can't be written. The old script stays until
 * the new one is whole. A folder that can't be written is passed over, as by Salt. */
static char *
put_script(const char *dir, bool make, const char *name, const buf_t *text)
{
    fail_auto_t why = FAIL_INIT;
    AUTO_FREE char *path = fs_join(dir, name);

    if ((make && fs_mkdirs(dir, 0755, &why) < 0) || access(dir, W_OK) != 0 ||
        fs_write_atomic(path, text->data, text->len, 0644, &why) < 0) {
        log_debug("%s: %s", dir, why.text != NULL ? fail_text(&why) : "is not writable");
        return NULL;
    }
    return STEAL(path);
}

/* Writes into every folder of the search path and below the configuration. The first path that was written,
 * or None. */
static int
config_gather_bootstrap_script(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *opts = ctx_opts(ctx), *dir;
    const char *source = value_str(args, "bootstrap", value_str(opts, "bootstrap_script_url", DEFAULT_URL));
    buf_auto_t text = BUF_INIT;
    const char *conf_file = value_str(opts, "conf_file", ""), *slash = strrchr(conf_file, '/');
    AUTO_FREE char *name = NULL, *first = NULL,
                   *conf_dir = slash != NULL ? xstrndup(conf_file, (size_t) (slash - conf_file))
                                             : xstrdup(".");
    /* Both are the same folder in most installations, and then it is written once. */
    const char *const own[] = { conf_dir, value_str(opts, "config_dir", conf_dir) };
    size_t i;
    int rc = get_script(ctx, source, &text, &name, err);

    if (rc < 0)
        return rc;
    if (rc == 1 && text.len == 0)
        return fail_set(err, -EINVAL, "No content in bootstrap script !");
    json_array_foreach (value_get(opts, "deploy_scripts_search_path"), i, dir) {
        char *path = rc == 1 && json_is_string(dir) ? put_script(json_string_value(dir), false, name, &text)
                                                    : NULL;
        if (first == NULL)
            first = path;
        else
            free(path);
    }
    for (i = 0; rc == 1 && i < NELEMS(own) && (i == 0 || strcmp(own[i], own[0]) != 0); i++) {
        AUTO_FREE char *folder = fs_join(own[i], FOLDER);
        char *path = put_script(folder, true, name, &text);
        if (first == NULL)
            first = path;
        else
            free(path);
    }
    *ret_value = first != NULL ? json_string(first) : json_null();
    return 0;
}

static const arg_t bootstrap_args[] = {
    ARG("bootstrap", ARG_STR, "null", "Address, path or text of the script"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "gather_bootstrap_script", config_gather_bootstrap_script, bootstrap_args, 0,
      "Fetch the script that installs minions and keep it in ``cloud.deploy.d`` beside the configuration. "
      "Returns its path." CLI_EXAMPLE("salt '*' config.gather_bootstrap_script") },
};

PLUGIN(exec, config_bootstrap, .provides = "config", .doc = "The script that installs minions", FUNCS(funcs));
