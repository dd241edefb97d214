/* main_key.c - salt-key: command line, configuration, user; then one action. */
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/eauth.h"
#include "cli/key_cli.h"
#include "cli/opts.h"
#include "cli/startup.h"
#include "cli/completion.h"
#include "common/base/fs.h"
#include "common/base/memory.h"
#include "common/base/str.h"
#include "common/cli/ttyguard.h"
#include "salt/value.h"

enum { KEYSIZE_MIN = 2048, KEYSIZE_MAX = 32768 };

/* Checks combinations of options that the option table can't express. 0, or the exit code. */
static int
main_key_check_options(const json_t *values)
{
    const char *list = value_str(values, "list", "");
    json_int_t keysize = value_int(values, "keysize", KEYSIZE_MIN);

    if (*list != '\0' && !keyselect_status_valid(list))
        return optparse_error(&opts_key, "'%s' is not a valid argument to '--list'", list);
    if (keysize < KEYSIZE_MIN)
        return optparse_error(&opts_key, "The minimum value for keysize is %d", KEYSIZE_MIN);
    if (keysize > KEYSIZE_MAX)
        return optparse_error(&opts_key, "The maximum value for keysize is %d", KEYSIZE_MAX);
    return 0;
}

/* A name behind -A that was meant for -a, or what the shell made of web*: nothing is left out of a command
 * line that changes keys. 0, or the exit code. */
static int
main_key_check_arguments(const opt_result_t *res)
{
    bool fingers = value_bool(res->values, "finger_all", false);

    for (size_t i = 0; i < res->n_args; i++)
        if (!fingers || !str_eq(res->args[i], "master")) /* as Salt's manual has it */
            return optparse_error(&opts_key, "unexpected argument: '%s'", res->args[i]);
    return 0;
}

/* 0, or the exit code. */
static int
check_actions(const json_t *values)
{
    const key_verb_t *verb = key_verb_of(values), *other = key_verb_other(values),
                     *empty = key_verb_empty(values);

    if (empty != NULL) {
        AUTO_FREE char *name = str_replace(empty->option, "_", "-");
        return optparse_error(&opts_key, "option --%s: must not be empty", name);
    }
    if (other == NULL)
        return 0;
    AUTO_FREE char *first = str_replace(verb->option, "_", "-");
    AUTO_FREE char *second = str_replace(other->option, "_", "-");
    return optparse_error(&opts_key, "--%s and --%s are two actions: give them one after the other", first,
                          second);
}

/* Root works as the master's user, so that no file appears that the master can't read: the configured one,
 * or who has the keys, as a unit may name the user. */
static int
main_key_become(const char *user, const char *pki_dir)
{
    struct stat st;

    if (geteuid() != 0 || str_empty(user))
        return 0;
    const struct passwd *pw = getpwnam(user);
    if (pw == NULL)
        return key_out_fail("user: there is no user '%s' on this machine", user);
    bool seen = pw->pw_uid == 0 && stat(pki_dir, &st) == 0;
    if (pw->pw_uid == 0 && !seen && !fs_is_absence(-errno))
        return key_out_fail("cannot look at %s: %s", pki_dir, strerror(errno));
    if (seen)
        pw = getpwuid(st.st_uid);
    if (pw == NULL || pw->pw_uid == 0)
        return 0;
    if (initgroups(pw->pw_name, pw->pw_gid) != 0 || setgid(pw->pw_gid) != 0 || setuid(pw->pw_uid) != 0)
        return key_out_fail("Salt configured to run as user \"%s\" but unable to switch: %s", pw->pw_name,
                            strerror(errno));
    return 0;
}

static int
run_with_store(key_cli_t *cli, const key_verb_t *verb)
{
    fail_auto_t err = FAIL_INIT;
    AUTO(keystore) store = keystore_new(value_str(cli->opts, "pki_dir", ""), &err);

    if (store == NULL)
        return key_out_fail("%s", fail_text(&err));
    cli->store = store;
    int rc = key_out_init(cli);

    return rc != 0 ? rc : verb->run(cli, verb);
}

/* Actions that need no store (`bare`) run before the configuration is read. */
static int
main_key_run(startup_t *start)
{
    const key_verb_t *verb = key_verb_of(start->values);
    key_cli_t cli = { .values = start->values, .all = verb->match != NULL, .uid = getuid() };

    cli.match = cli.all ? verb->match : value_str(start->values, verb->option, "");
    if (!verb->bare) {
        /* The other actions need the configuration and the store. */
        int rc = startup_configure(start);
        if (rc >= 0)
            return rc;
        cli.opts = start->opts;
        if (eauth_is_set(value_str(start->opts, "sock_dir", ""))) {
            rc = key_out_init(&cli);
            return rc != 0 ? rc : key_run_eauth(&cli, verb);
        }
        rc = main_key_become(json_string_value(startup_setting(start, "user")),
                             value_str(start->opts, "pki_dir", ""));
        return rc != 0 ? rc : run_with_store(&cli, verb);
    }
    int rc = key_out_init(&cli);

    return rc != 0 ? rc : verb->run(&cli, verb);
}

int
main(int argc, char **argv)
{
    startup_t start;
    memory_begin();
    ttyguard_begin();
    if (complete_asked(argc, argv))
        return completion_run(&opts_key, key_completion, argc, argv);
    int rc = startup_options(&start, &opts_key, argc, argv);

    if (rc < 0) {
        rc = main_key_check_options(start.values);
        if (rc == 0)
            rc = main_key_check_arguments(&start.res);
        if (rc == 0)
            rc = check_actions(start.values);
        if (rc == 0)
            rc = main_key_run(&start);
    }
    startup_free(&start);
    return fflush(stdout) == 0 ? rc : 1;
}
