/* gem.c - execution module `gem`: packages of Ruby. The program is `gem_bin`, or gem by way of RVM or rbenv
 * where one of them is installed, or gem itself. RVM and rbenv are shell tools; their programs (`rvm RUBY do
 * gem ...`, shims on PATH) are called as Salt's modules for them do it, and a failure is False there and an
 * error without them: Salt's, too. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/passwd.h"
#include "common/host/prog.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/subcall.h"
#include "salt/log.h"

enum { GEM_TIMEOUT_S = 1800 };

/* NULL for "" and None. */
static const char *
runas_of(const json_t *args)
{
    const char *user = value_str(args, "runas", NULL);

    return str_empty(user) ? NULL : user;
}

/* A path below a user's home. NEW, or NULL when there is no such user. */
static char *
in_home(const char *user, const char *path)
{
    passwd_space_auto_t space = { 0 };
    const struct passwd *pw = passwd_user(&space, user);

    return pw != NULL ? fs_join(pw->pw_dir, path) : NULL;
}

/* NEW folder of rbenv, NULL where it is not installed. The option rbenv.root, the machine's for root, else
 * the user's. A folder without the program is none. */
static char *
rbenv_root(call_ctx_t *ctx, const json_t *args)
{
    const char *user = runas_of(args), *given = value_str(ctx_opts(ctx), "rbenv.root", NULL);
    AUTO_FREE char *root = !str_empty(given)                      ? xstrdup(given)
                           : user == NULL || str_eq(user, "root") ? xstrdup("/usr/local/rbenv")
                                                                  : in_home(user, ".rbenv");
    AUTO_FREE char *program = root != NULL ? fs_join(root, "bin/rbenv") : NULL;
    AUTO_FREE char *found = program != NULL ? fs_which(program) : NULL;

    return found != NULL ? STEAL(root) : NULL;
}

/* By cmd.run_all, for a user's environment. */
static json_t *
run_line(call_ctx_t *ctx, const json_t *args, json_t *line, json_t *env, fail_t *err)
{
    const char *user = runas_of(args);

    return sub_call(ctx, err, "cmd.run_all", "{s:O, s:s?, s:O, s:b, s:i}", "cmd", line, "runas", user, "env",
                    env, "python_shell", 0, "timeout", GEM_TIMEOUT_S);
}

/* A proxy with a password goes by the environment, as everyone may read a command line. Only
 * "user:password@host" can hold one. */
static bool
is_secret(const char *proxy)
{
    return strchr(proxy, '@') != NULL;
}

/* stdout of gem with these words, or False where RVM or rbenv ran it and it failed: NEW text or false, NULL
 * with *err. TAKES the words. Functions below pass False on as their answer. */
static json_t *
run_gem(call_ctx_t *ctx, const json_t *args, json_t *words, fail_t *err)
{
    const char *bin = value_str(args, "gem_bin", NULL), *ruby = value_str(args, "ruby", NULL);
    const char *proxy = value_str(args, "proxy", "");
    json_auto_t *line = json_array(), *env = json_object(), *tail = words;
    /* The user's RVM, else the machine's; the option rvm.runas is the user where the call names none. */
    const char *user = runas_of(args) != NULL ? runas_of(args) : value_str(ctx_opts(ctx), "rvm.runas", NULL);
    AUTO_FREE char *own = user != NULL ? in_home(user, ".rvm/bin/rvm") : NULL;
    AUTO_FREE char *rvm = bin != NULL
                              ? NULL
                              : fs_which(own != NULL && !fs_absent(own) ? own : "/usr/local/rvm/bin/rvm");
    AUTO_FREE char *rbenv = bin == NULL && rvm == NULL ? rbenv_root(ctx, args) : NULL;

    /* Salt ignores it without a word. */
    if (bin == NULL && rvm == NULL && rbenv == NULL && ruby != NULL)
        log_warning("gem: `ruby` has no effect here: neither RVM nor rbenv is installed");
    if (rvm != NULL) {
        json_auto_t *first = json_pack("[s, s, s]", rvm, str_empty(ruby) ? "default" : ruby, "do");
        json_array_extend(line, first);
    }
    /* Shims choose the Ruby by RBENV_VERSION. */
    if (rbenv != NULL) {
        json_object_set_new(env, "PATH", value_fmt("%s/shims:%s", rbenv, getenv("PATH")));
        if (!str_empty(ruby))
            json_object_set_new(env, "RBENV_VERSION", json_string(ruby));
    }
    json_array_append_new(line, json_string(bin != NULL ? bin : "gem"));
    if (is_secret(proxy)) {
        json_object_set_new(env, "http_proxy", json_string(proxy));
        json_object_set_new(env, "https_proxy", json_string(proxy));
    }
    json_array_extend(line, tail);
    json_auto_t *ran = run_line(ctx, args, line, env, err);
    if (ran == NULL)
        return NULL;
    bool good = value_int(ran, "retcode", 1) == 0;
    if (!good && rvm == NULL && rbenv == NULL) {
        const char *why = value_str(ran, "stderr", "");
        (void) fail_kind(err, FAIL_COMMAND, -EIO, "%s", *why != '\0' ? why : value_str(ran, "stdout", ""));
        return NULL;
    }
    if (good && rbenv != NULL) {
        /* Links the programs that a gem may have brought. */
        json_auto_t *rehash = json_pack("[s++, s]", rbenv, "/bin", "/rbenv", "rehash"), *root = json_object();
        json_object_set_new(root, "RBENV_ROOT", json_string(rbenv));
        json_auto_t *linked = run_line(ctx, args, rehash, root, err);
        if (linked == NULL)
            return NULL;
    }
    return good ? json_incref(value_get(ran, "stdout")) : json_false();
}

/* The gems of the call: a text's words, or a list. NEW, or NULL with *err. */
static json_t *
named_gems(const json_t *args, fail_t *err)
{
    json_t *given = value_get(args, "gems"), *words = json_array();
    char **split = json_is_string(given) ? str_split(json_string_value(given), " \t\n", true) : NULL;

    if (json_is_array(given))
        json_array_extend(words, given);
    for (size_t i = 0; split != NULL && split[i] != NULL; i++)
        json_array_append_new(words, json_string(split[i]));
    strv_free(split);
    if (prog_check_operands("gems", words, err) == 0)
        return words;
    json_decref(words);
    return NULL;
}

/* ---- functions ---------------------------------------------------------------------------------- */

/* The first line that begins with a number or a dot; NULL for none. NEW. RVM may print lines before. */
static char *
version_line(const json_t *out)
{
    AUTO_FREE char *text = xstrdup(json_is_string(out) ? json_string_value(out) : "");

    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        if (strspn(line, ".0123456789") > 0)
            return xstrdup(line);
    }
    return NULL;
}

/* {} when no line is a version, as by Salt. */
static int
gem_version(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *out = run_gem(ctx, args, json_pack("[s]", "--version"), err);
    AUTO_FREE char *line = out != NULL ? version_line(out) : NULL;

    if (out != NULL)
        *ret_value = line != NULL ? json_string(line) : json_object();
    return out != NULL ? 0 : err->code;
}

/* Adds an option with its value, or a switch alone; neither for a value that is false. Arguments that are
 * True stand for the switch. */
static void
gem_option(json_t *words, const char *option, const json_t *value)
{
    AUTO_FREE char *text = value_pystr(value);

    if (!value_truthy(value))
        return;
    json_array_append_new(words, json_string(option));
    if (!json_is_true(value))
        json_array_append_new(words, json_string(text));
}

/* The version is asked first, since the options depend on it. gem has --no-document for both kinds of
 * documentation, so that one of them turned off turns off both there. */
static int
gem_install(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool rdoc = value_truthy(value_get(args, "rdoc")), ri = value_truthy(value_get(args, "ri"));
    json_auto_t *gems = named_gems(args, err), *words = json_pack("[s]", "install");
    json_auto_t *asked = json_pack("{s:O*, s:O*, s:O*}", "ruby", value_get(args, "ruby"), "gem_bin",
                                   value_get(args, "gem_bin"), "runas", value_get(args, "runas"));
    json_auto_t *out = gems != NULL ? run_gem(ctx, asked, json_pack("[s]", "--version"), err) : NULL;
    AUTO_FREE char *line = out != NULL ? version_line(out) : NULL;
    bool modern = line != NULL && strtol(line, NULL, 10) >= 3;

    if (out == NULL)
        return err->code;
    json_array_extend(words, gems);
    gem_option(words, "--version", value_get(args, "version"));
    if (modern && (!rdoc || !ri))
        json_array_append_new(words, json_string("--no-document"));
    if (!modern && !rdoc)
        json_array_append_new(words, json_string("--no-rdoc"));
    if (!modern && !ri)
        json_array_append_new(words, json_string("--no-ri"));
    if (value_truthy(value_get(args, "pre_releases")))
        json_array_append_new(words, json_string(modern ? "--prerelease" : "--pre"));
    if (!is_secret(value_str(args, "proxy", "")))
        gem_option(words, "-p", value_get(args, "proxy"));
    gem_option(words, "--source", value_get(args, "source"));
    *ret_value = run_gem(ctx, args, STEAL(words), err);
    return *ret_value != NULL ? 0 : err->code;
}

/* The row's command with gems behind it, and the row's last words. -a and -x: all versions, and their
 * programs without a question. */
static int
gem_change(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool remove = ctx_row(ctx)->data.number != 0;
    json_auto_t *gems = named_gems(args, err), *words = json_pack("[s]", remove ? "uninstall" : "update");
    json_auto_t *last = remove ? json_pack("[s, s]", "-a", "-x") : json_array();

    if (gems == NULL)
        return err->code;
    json_array_extend(words, gems);
    json_array_extend(words, last);
    *ret_value = run_gem(ctx, args, STEAL(words), err);
    return *ret_value != NULL ? 0 : err->code;
}

/* A version brings RubyGems itself to just that one. */
static int
gem_update_system(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *words = json_pack("[s, s]", "update", "--system");
    AUTO_FREE char *version = value_pystr(value_get(args, "version"));

    if (*version != '\0')
        json_array_append_new(words, json_string(version));
    *ret_value = prog_check_operand("version", version, err) == 0 ? run_gem(ctx, args, STEAL(words), err)
                                                                  : NULL;
    return *ret_value != NULL ? 0 : err->code;
}

/* "NAME (VERSION, VERSION)" into {name: [version]}. A line of another form, or with a blank in the name,
 * tells nothing; "default: 1.2" stays as it is in the versions. */
static void
gem_listed(char *line, json_t *into)
{
    char *open = strstr(line, " ("), *close = strrchr(line, ')');
    json_t *versions = json_array();

    if (open == NULL || close == NULL || open == line || close < open + 3 || strchr(line, ' ') != open) {
        json_decref(versions);
        return;
    }
    *open = *close = '\0';
    AUTO_FREE char *text = str_replace(open + 2, ", ", "\n");
    for (char *at = text, *one; (one = line_next(&at)) != NULL;)
        json_array_append_new(versions, json_string(one));
    json_object_set_new(into, line, versions);
}

/* gem takes the prefix as a regular expression that it finds anywhere in a name; Salt passes it so. */
static int
gem_list(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *prefix = value_str(args, "prefix", "");
    json_auto_t *words = json_pack("[s]", "list");

    if (prog_check_operand("prefix", prefix, err) < 0)
        return err->code;
    if (*prefix != '\0')
        json_array_append_new(words, json_string(prefix));
    json_auto_t *out = run_gem(ctx, args, STEAL(words), err);
    if (out == NULL)
        return err->code;
    AUTO_FREE char *text = xstrdup(json_is_string(out) ? json_string_value(out) : "");
    *ret_value = json_object();
    for (char *at = text, *line; (line = line_next(&at)) != NULL;)
        gem_listed(line, *ret_value);
    return 0;
}

/* "NAME (1.0 < 1.2)". Lines that can't be parsed are logged, one by one. */
static int
gem_list_upgrades(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *out = run_gem(ctx, args, json_pack("[s]", "outdated"), err);
    AUTO_FREE char *text = xstrdup(json_is_string(out) ? json_string_value(out) : "");
    char name[256], newer[256];

    if (out == NULL)
        return err->code;
    *ret_value = json_object();
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        if (sscanf(line, "%255s (%*s < %255[^) ])", name, newer) == 2)
            json_object_set_new(*ret_value, name, json_string(newer));
        else
            log_error("Can't parse line '%s'", line);
    }
    return 0;
}

/* The row's option, of a source. */
static int
gem_sources_change(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *uri = value_str(args, "source_uri", "");
    json_auto_t *words = json_pack("[s, s, s]", "sources", ctx_row(ctx)->data.text, uri);

    *ret_value = prog_check_operand("source_uri", uri, err) == 0 ? run_gem(ctx, args, STEAL(words), err)
                                                                 : NULL;
    return *ret_value != NULL ? 0 : err->code;
}

/* Lines behind the heading and its empty line, one for each source. */
static int
gem_sources_list(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    enum { HEADING = 2 }; /* lines above the first source */
    json_auto_t *out = run_gem(ctx, args, json_pack("[s]", "sources"), err);
    char **lines = out != NULL && json_is_string(out) ? str_split(json_string_value(out), "\n", false) : NULL;

    if (out == NULL)
        return err->code;
    *ret_value = json_array();
    for (size_t i = HEADING; lines != NULL && i < strv_len(lines); i++)
        json_array_append_new(*ret_value, json_string(lines[i]));
    strv_free(lines);
    return 0;
}

/* ---- table -------------------------------------------------------------------------------------- */

#define GEMS_ROW  ARG("gems", ARG_ANY, ARG_REQUIRED, "The gems: a text with blanks between, or a list")
#define RUBY_ROW  ARG("ruby", ARG_STR, "null", "With RVM or rbenv: the Ruby, and its gemset")
#define BIN_ROW   ARG("gem_bin", ARG_STR, "null", "Path of the program, which goes by neither RVM nor rbenv")
#define RUNAS_ROW ARG("runas", ARG_STR, "null", "User to run gem as")
#define GEM_ROWS  RUBY_ROW, RUNAS_ROW, BIN_ROW

static const arg_t install_args[] = {
    GEMS_ROW,
    RUBY_ROW,
    BIN_ROW,
    RUNAS_ROW,
    ARG("version", ARG_ANY, "null", "The version, of a single gem"),
    ARG("rdoc", ARG_ANY, "false", "With RDoc documentation; since version 3 only together with ri"),
    ARG("ri", ARG_ANY, "false", "With RI documentation"),
    ARG("pre_releases", ARG_ANY, "false", "Versions before a release too"),
    ARG("proxy", ARG_STR, "null", "Proxy: http://hostname[:port]"),
    ARG("source", ARG_STR, "null", "Server of gems: http://hostname[:port]"),
    ARGS_END,
};
static const arg_t gems_args[] = { GEMS_ROW, GEM_ROWS, ARGS_END };
static const arg_t system_args[] = { ARG("version", ARG_ANY, "\"\"", "The version, by default the newest"),
                                     GEM_ROWS, ARGS_END };
static const arg_t plain_args[] = { GEM_ROWS, ARGS_END };
static const arg_t list_args[] = { ARG("prefix", ARG_STR, "\"\"", "Only gems whose name matches"), GEM_ROWS,
                                   ARGS_END };
static const arg_t source_args[] = { ARG("source_uri", ARG_STR, ARG_REQUIRED, "The source"), GEM_ROWS,
                                     ARGS_END };

static const func_t funcs[] = {
    { "install", gem_install, install_args, 0,
      "Install gems; return what gem says." CLI_EXAMPLE(
          "salt '*' gem.install vagrant\n    salt '*' gem.install redphone gem_bin=/opt/sensu/embedded/bin/gem") },
    { "list", gem_list, list_args, FN_READONLY,
      "Return the installed gems with their versions." CLI_EXAMPLE("salt '*' gem.list") },
    { "list_upgrades", gem_list_upgrades, plain_args, FN_READONLY,
      "Return gems that have a newer version." CLI_EXAMPLE("salt '*' gem.list_upgrades") },
    { "sources_add", gem_sources_change, source_args, 0,
      "Add a source." CLI_EXAMPLE("salt '*' gem.sources_add http://rubygems.org/"), .data.text = "--add" },
    { "sources_list", gem_sources_list, plain_args, FN_READONLY,
      "Return the sources." CLI_EXAMPLE("salt '*' gem.sources_list") },
    { "sources_remove", gem_sources_change, source_args, 0,
      "Remove a source." CLI_EXAMPLE("salt '*' gem.sources_remove http://rubygems.org/"),
      .data.text = "--remove" },
    { "uninstall", gem_change, gems_args, 0,
      "Remove all versions of gems, with their programs." CLI_EXAMPLE("salt '*' gem.uninstall vagrant"),
      .data.number = 1 },
    { "update", gem_change, gems_args, 0, "Update gems." CLI_EXAMPLE("salt '*' gem.update vagrant") },
    { "update_system", gem_update_system, system_args, 0,
      "Update RubyGems itself." CLI_EXAMPLE("salt '*' gem.update_system") },
    { "version", gem_version, plain_args, FN_READONLY,
      "Return the version of gem." CLI_EXAMPLE("salt '*' gem.version") },
};

PLUGIN(exec, gem, .doc = "Packages of Ruby", FUNCS(funcs));
