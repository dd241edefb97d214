/* sdb.c - execution module `sdb`: values of stores, by addresses like sdb://PROFILE/KEY. */
#include "plugins/lib/sdb/sdbfuns.h"

static const func_t funcs[] = {
    { "delete", NATIVE(sdb_fn_change), sdb_uri_args, FN_NATIVE,
      "Delete a value from a store." CLI_EXAMPLE("salt '*' sdb.delete sdb://mymemcached/foo") },
    { "get", NATIVE(sdb_fn_get), sdb_get_args, FN_NATIVE,
      "Get a value from a store." CLI_EXAMPLE("salt '*' sdb.get sdb://mymemcached/foo strict=True") },
    { "get_or_set_hash", NATIVE(sdb_fn_hash), sdb_hash_args, FN_NATIVE,
      "Get a value; where it is None, keep a random one first." CLI_EXAMPLE(
          "salt '*' sdb.get_or_set_hash 'sdb://mymemcached/SECRET_KEY' 50") },
    { "set", NATIVE(sdb_fn_change), sdb_set_args, FN_NATIVE,
      "Set a value in a store." CLI_EXAMPLE("salt '*' sdb.set sdb://mymemcached/foo bar") },
};

PLUGIN(exec, sdb, .doc = "Values of stores", FUNCS(funcs));
