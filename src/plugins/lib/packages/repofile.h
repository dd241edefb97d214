/* repofile.h - files of repositories of dnf, yum and zypper: a section for each repository, in the form of
 * Python's configparser.
 *
 * Shape: {section: {option: text, "comments": [text]}}; comments are the lines with "#" below the section's
 * head.
 *
 * Layer      plugins/lib/packages
 * Threads    any
 * Ownership  json_t returns are NEW
 * Errors     FAIL_COMMAND in the words of Python's exceptions, with file and line
 * Tests      tests/cases/exec/pkg.list_repos.json, tests/cases/exec/pkg.mod_repo.json
 */
#ifndef PLUGINS_LIB_PACKAGES_REPOFILE_H
#define PLUGINS_LIB_PACKAGES_REPOFILE_H

#include "common/base/buf.h"
#include "salt/value.h"

/* The sections, and the lines with "#" above the first in *header, which may be NULL. A missing file, and one
 * without sections, has none. `strict`: no section and no option twice. NULL with *err. */
json_t *repofile_read(const char *path, bool strict, buf_t *header, fail_t *err);
/* Replaces the file. Values may be of any type; booleans are written 1 and 0. */
int repofile_write(const char *path, const char *header, const json_t *sections, fail_t *err);

#endif
