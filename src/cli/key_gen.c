/* key_gen.c - salt-key --gen-keys: creates a minion's pair before the minion exists, and prints its
 * fingerprint. */
#include "cli/key_cli.h"
#include "common/base/str.h"
#include "salt/value.h"

int
key_run_gen_keys(key_cli_t *cli, const key_verb_t *verb)
{
    /* A leading ~ as the shell would have it: the option is often written as --gen-keys-dir=~/keys. */
    const char *path = value_str(cli->values, "gen_keys_dir", ".");
    const char *home = getenv("HOME");
    AUTO_FREE char *dir = home == NULL || path[0] != '~' || (path[1] != '/' && path[1] != '\0')
                              ? xstrdup(path)
                              : xasprintf("%s%s", home, path + 1);
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
