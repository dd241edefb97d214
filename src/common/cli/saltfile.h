/* saltfile.h - a user's own defaults of command lines: a YAML file with a mapping of options for each
 * program, {salt: {config_dir: DIR, timeout: 30}, salt-key: {...}}.
 *
 * Named by --saltfile or $SALT_SALTFILE; else ./Saltfile or ~/.salt/Saltfile. One that is found, and not
 * named, says for whom runs the program where its configuration lies, so it must be of that user or root, and
 * nobody else may write it or put another in its place; otherwise it is left out, and that is said.
 *
 * Layer      common/cli
 * Errors     a negative errno with *err
 * Tests      tests/t/3060-typing.bats
 */
#ifndef COMMON_CLI_SALTFILE_H
#define COMMON_CLI_SALTFILE_H

#include "common/cli/optparse.h"

/* 0, or negative with *err. *ret_words: NEW words of a command line for what `given` (by the keys of results)
 * has not; NULL: there is no Saltfile. *ret_path: NEW path of the file, or NULL. */
int saltfile_words(const opt_spec_t *spec, const json_t *given, char ***ret_words, char **ret_path,
                   fail_t *err);

#endif
