/* sdb.c - runner `sdb`: values of stores, by addresses like sdb://PROFILE/KEY of the master's configuration. */
#include "plugins/lib/sdb/sdbfuns.h"

static const func_t funcs[] = {
    { "delete", NATIVE(sdb_fn_change), sdb_uri_args, FN_NATIVE | FN_ACCESS_ADMIN,
      "Delete a value from a store." CLI_EXAMPLE("salt-run sdb.delete sdb://mymemcached/foo") },
    { "get", NATIVE(sdb_fn_get), sdb_uri_args, FN_NATIVE | FN_ACCESS_ADMIN,
      "Get a value from a store; what is no address is returned as it is." CLI_EXAMPLE(
          "salt-run sdb.get sdb://mymemcached/foo") },
    { "get_or_set_hash", NATIVE(sdb_fn_hash), sdb_hash_args, FN_NATIVE | FN_ACCESS_ADMIN,
      "Get a value; where it is None, keep a random one first." CLI_EXAMPLE(
          "salt-run sdb.get_or_set_hash 'sdb://mymemcached/SECRET_KEY' 50") },
    { "set", NATIVE(sdb_fn_change), sdb_set_args, FN_NATIVE | FN_ACCESS_ADMIN,
      "Set a value in a store." CLI_EXAMPLE("salt-run sdb.set sdb://mymemcached/foo bar") },
};

PLUGIN(runner, sdb, .doc = "Values of stores", FUNCS(funcs));
