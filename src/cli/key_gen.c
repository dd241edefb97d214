/* key_gen.c - salt-key --gen-keys: creates a minion's pair before the minion exists, and prints its
 * fingerprint. */
#include "cli/key_cli.h"
#include "common/base/str.h"
#include "salt/value.h"

/* A leading ~ as the shell would have it: the option is often written as --gen-keys-dir=~/keys. */
static char *
key_gen_expand_home(const char *path)
{
    const char *home = getenv("HOME");

    if (home == NULL || path[0] != '~' || (path[1] != '/' && path[1] != '\0'))
        return xstrdup(path);
    return xasprintf("%s%s", home, path + 1);
}

int
key_run_gen_keys(key_cli_t *cli, const key_verb_t *verb)
{
    AUTO_FREE char *dir = key_gen_expand_home(value_str(cli->values, "gen_keys_dir", "."));
    fail_auto_t err = FAIL_INIT;
    char finger[FINGER_LEN];

    if (strchr(cli->match, '/') != NULL)
        return key_out_fail("--gen-keys takes a name, not a path: use --gen-keys-dir for the folder");
    AUTO(key_pair) pair = key_pair_open(dir, cli->match, NULL, &err);

    if (pair == NULL)
        return key_out_fail("%s", fail_text(&err));
    key_finger(key_pair_public(pair), finger);
    json_auto_t *shown = json_pack("{s:s}", "return", finger);

    return key_out_show(cli, shown);
}
