/* rootfs.h - small files of the host (/proc, /sys, /etc) under a prefix, so that tests can bring their own
 * host.
 *
 * Layer      common/host
 * Threads    any
 * Ownership  texts are NEW
 * Errors     a file that is missing, unreadable or longer than LIMIT_HOST_FILE is NULL or false: a fact not
 *            known. With *err, root_text() and root_names() tell one that is missing from the others
 * Tests      tests/unit/plugins/test_grains.c
 */
#ifndef COMMON_HOST_ROOTFS_H
#define COMMON_HOST_ROOTFS_H

#include "salt/base.h"

/* "" or NULL for `root` is the host itself. `path` starts with a slash. */
char *root_path(const char *root, const char *path);
/* Read a file. *ret_text is NULL where there is none; negative with *err when it can't be read. NUL bytes,
 * which separate words in /proc, become spaces. */
int root_text(const char *root, const char *path, char **ret_text, fail_t *err);
/* The same text; NULL also while it can't be read. */
char *root_read(const char *root, const char *path);
/* The same without white space at either end. */
char *root_read_trimmed(const char *root, const char *path);
bool root_exists(const char *root, const char *path);
bool root_is_dir(const char *root, const char *path);
/* A program on PATH below the prefix: NEW path without the prefix, or NULL. */
char *root_which(const char *root, const char *program);
/* fs_names() of a folder below the prefix. */
int root_names(const char *root, const char *path, char ***ret_names, fail_t *err);
/* The same, but empty also when it can't be read: for facts. Callers that act on absence use root_names(). */
char **root_list(const char *root, const char *path);

/* for (char *at = text, *line; (line = line_next(&at)) != NULL;) cuts `text` at its newlines. */
char *line_next(char **at);
/* Cuts "key SEP value" at the first `sep`: trims both; NULL when there is none. */
char *line_value(char *line, char sep);

#endif
