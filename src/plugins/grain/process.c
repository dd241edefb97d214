/* process.c - grains about the minion's process: its number, user and group. */
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include "salt/plugin.h"

/* For the texts of one entry; members of a large group take most of it. */
enum { ENTRY_SIZE = 16 * 1024 };

/* Names are empty where there is no entry, as in a container. */
static int
process_collect(grain_ctx_t *ctx, json_t *out, fail_t *err)
{
    AUTO_FREE char *space = xcalloc(1, ENTRY_SIZE);
    struct passwd pw, *user = NULL;
    struct group gr, *group = NULL;
    const char *name = "";

    if (getpwuid_r(getuid(), &pw, space, ENTRY_SIZE, &user) == 0 && user != NULL)
        name = user->pw_name;
    json_object_set_new(out, "username", value_utf8(name, strlen(name)));
    gid_t main_group = user != NULL ? user->pw_gid : getgid();
    name = "";
    if (getgrgid_r(main_group, &gr, space, ENTRY_SIZE, &group) == 0 && group != NULL)
        name = group->gr_name;
    json_object_set_new(out, "groupname", value_utf8(name, strlen(name)));
    json_object_set_new(out, "uid", json_integer((json_int_t) getuid()));
    json_object_set_new(out, "gid", json_integer((json_int_t) getgid()));
    json_object_set_new(out, "pid", json_integer((json_int_t) getpid()));
    return 0;
}

static const char *const keys[] = { "username", "groupname", "uid", "gid", "pid", NULL };

PLUGIN(grain, process, .doc = "The minion's process, user and group.", .collect = process_collect,
       .cost = GRAIN_CHEAP, .keys = keys);
