/* http.c - runner `http`: ask web servers from the master. */
#include "plugins/lib/http/http.h"

static const func_t funcs[] = {
    { "query", http_query, http_query_args, FN_ACCESS_ADMIN,
      "Send a request and return the answer: ``body``, and what else was asked for; ``error`` when there was "
      "none.\n\nUser, password, headers and data are in no command line and in no log." CLI_EXAMPLE(
          "salt-run http.query http://somelink.com/\n    salt-run http.query http://somelink.com/ "
          "method=POST params='key1=val1&key2=val2'\n    salt-run http.query http://somelink.com/ "
          "method=POST data='<xml>somecontent</xml>'") },
    { "update_ca_bundle", http_update_ca_bundle, http_bundle_args, FN_ACCESS_ADMIN,
      "Fetch a bundle of certificates of authorities. The old one stays until the new one is "
      "whole." CLI_EXAMPLE("salt-run http.update_ca_bundle\n    salt-run http.update_ca_bundle "
                           "target=/path/to/cacerts.pem source=https://example.com/cacerts.pem") },
};

PLUGIN(runner, http, .doc = "Ask web servers from the master", FUNCS(funcs));
