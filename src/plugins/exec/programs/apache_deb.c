/* apache_deb.c - execution module `apache`, as Debian has the server: sites, modules and parts of the
 * configuration are links, which a2ensite and its like make and remove. Only the links are looked at for the
 * checks; whether the server has read them since is another question. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/file/fileops.h"
#include "salt/plugin.h"

/* A kind of links. */
typedef struct a2_kind {
    const char *name, *folder; /* "Site" in answers; where the links are */
    const char *suffix;        /* what a name without one of `suffixes` gets */
    const char *argument;
    bool is_module; /* .conf and .load are both files of a module */
} a2_kind_t;
static const a2_kind_t sites = { "Site", "/etc/apache2/sites-enabled", ".conf", "site", false };
static const a2_kind_t mods = { "Mod", "/etc/apache2/mods-enabled", ".load", "mod", true };
static const a2_kind_t confs = { "Conf", "/etc/apache2/conf-enabled", ".conf", "conf", false };

/* A program of a kind, and the exit code that Salt takes for "not found". 256 never is an exit code: Salt
 * compares so for the programs that disable, and their failures are told as numbers. */
typedef struct a2_program {
    const a2_kind_t *kind;
    const char *program, *verb, *done;
    int missing;
} a2_program_t;
static const a2_program_t a2ensite = { &sites, "a2ensite", "Enable", "enabled", 1 };
static const a2_program_t a2dissite = { &sites, "a2dissite", "Disable", "disabled", 256 };
static const a2_program_t a2enmod = { &mods, "a2enmod", "Enable", "enabled", 1 };
static const a2_program_t a2dismod = { &mods, "a2dismod", "Disable", "disabled", 256 };
static const a2_program_t a2enconf = { &confs, "a2enconf", "Enable", "enabled", 1 };
static const a2_program_t a2disconf = { &confs, "a2disconf", "Disable", "disabled", 256 };

/* {"Name", "Site", "Status"}; a status that Salt has no words for is the exit code. */
static int
apache_deb_run(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const a2_program_t *a2 = ctx_row(ctx)->data.ptr;
    const char *name = value_str(args, a2->kind->argument, "");
    prog_auto_t prog = PROG_INIT;
    int code = 0;

    if (tool_begin(&prog, a2->program, err) < 0 || prog_operand(&prog, a2->kind->argument, name, err) < 0)
        return err->code;
    prog.timeout_ms = LIMIT_TOOL_MS;
    if (tool_retcode(ctx, &prog, 0, &code, err) < 0)
        return err->code;
    json_t *status = code == 0             ? value_fmt("%s %s %s", a2->kind->name, name, a2->done)
                     : code == a2->missing ? value_fmt("%s %s Not found", a2->kind->name, name)
                                           : json_integer(code);
    *ret_value = json_pack("{s:o, s:s, s:o}", "Name", value_fmt("Apache2 %s %s", a2->verb, a2->kind->name),
                           a2->kind->name, name, "Status", status);
    return 0;
}

/* 1 when the link is there, 0 or a negative errno. "conf" and "load" at the end of a name are taken as they
 * are. */
static int
is_linked(const a2_kind_t *kind, const char *before, const char *name, fail_t *err)
{
    bool whole = str_ends(name, ".conf") || (kind->is_module && str_ends(name, ".load"));
    AUTO_FREE char *path = xasprintf("%s/%s%s%s", kind->folder, before, name, whole ? "" : kind->suffix);

    return fop_lexists_as(path, S_IFLNK, err);
}

static int
apache_deb_check(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const a2_kind_t *kind = ctx_row(ctx)->data.ptr;
    const char *name = value_str(args, kind->argument, "");
    int there = is_linked(kind, "", name, err);

    /* Debian's first site has a number before its name. */
    if (there == 0 && kind == &sites && strcmp(name, "default") == 0)
        there = is_linked(kind, "000-", name, err);
    if (there < 0)
        return there;
    *ret_value = json_boolean(there > 0);
    return 0;
}

static const char *
apache_deb_unavailable(call_ctx_t *ctx)
{
    AUTO_FREE char *program = fs_which("apache2ctl");
    bool debian = strcmp(value_str(ctx_grains(ctx), "os_family", ""), "Debian") == 0;

    return program != NULL && debian ? NULL : "apache execution module not loaded: apache not installed.";
}

/* ---- table ------------------------------------------------------------------------------------ */

static const arg_t site_args[] = { ARG("site", ARG_STR, ARG_REQUIRED, "Its name in sites-available"),
                                   ARGS_END };
static const arg_t mod_args[] = { ARG("mod", ARG_STR, ARG_REQUIRED, "Its name in mods-available"), ARGS_END };
static const arg_t conf_args[] = { ARG("conf", ARG_STR, ARG_REQUIRED, "Its name in conf-available"),
                                   ARGS_END };

static const func_t funcs[] = {
    { "a2disconf", apache_deb_run, conf_args, 0,
      "Disable a part of the configuration." CLI_EXAMPLE("salt '*' apache.a2disconf security"),
      .data.ptr = &a2disconf },
    { "a2dismod", apache_deb_run, mod_args, 0,
      "Disable a module." CLI_EXAMPLE("salt '*' apache.a2dismod vhost_alias"), .data.ptr = &a2dismod },
    { "a2dissite", apache_deb_run, site_args, 0,
      "Disable a site." CLI_EXAMPLE("salt '*' apache.a2dissite example.com"), .data.ptr = &a2dissite },
    { "a2enconf", apache_deb_run, conf_args, 0,
      "Enable a part of the configuration." CLI_EXAMPLE("salt '*' apache.a2enconf security"),
      .data.ptr = &a2enconf },
    { "a2enmod", apache_deb_run, mod_args, 0,
      "Enable a module." CLI_EXAMPLE("salt '*' apache.a2enmod vhost_alias"), .data.ptr = &a2enmod },
    { "a2ensite", apache_deb_run, site_args, 0,
      "Enable a site." CLI_EXAMPLE("salt '*' apache.a2ensite example.com"), .data.ptr = &a2ensite },
    { "check_conf_enabled", apache_deb_check, conf_args, FN_READONLY,
      "Return whether a part of the configuration is enabled." CLI_EXAMPLE(
          "salt '*' apache.check_conf_enabled security"),
      .data.ptr = &confs },
    { "check_mod_enabled", apache_deb_check, mod_args, FN_READONLY,
      "Return whether a module is enabled." CLI_EXAMPLE("salt '*' apache.check_mod_enabled status"),
      .data.ptr = &mods },
    { "check_site_enabled", apache_deb_check, site_args, FN_READONLY,
      "Return whether a site is enabled." CLI_EXAMPLE("salt '*' apache.check_site_enabled example.com"),
      .data.ptr = &sites },
};

PLUGIN(exec, apache_deb, .provides = "apache", .doc = "Apache's links on Debian", FUNCS(funcs),
       .unavailable = apache_deb_unavailable);
