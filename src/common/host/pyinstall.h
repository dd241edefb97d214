/* pyinstall.h - the Python of this host as its files tell it: nothing is started to ask.
 *
 * Layer      common/host
 * Threads    any
 * Ownership  texts and lists are NEW
 * Errors     a fact not known is NULL, or 0 for numbers
 * Tests      tests/unit/common/test_pyinstall.c
 */
#ifndef COMMON_HOST_PYINSTALL_H
#define COMMON_HOST_PYINSTALL_H

#include "salt/base.h"

/* The interpreter for files in Python. */
typedef struct pyinstall {
    char *program;    /* owned path, as PATH or the option `python` has it; NULL: none */
    char *folder;     /* owned: where its file is, links followed; NULL: not known */
    int major, minor; /* as the file is named; 0: it is named otherwise */
} pyinstall_t;
#define pyinstall_auto_t __attribute__((cleanup(pyinstall_free))) pyinstall_t

/* `named`: the option `python`; "": python3 of PATH. `root` as in rootfs.h. */
void pyinstall_find(pyinstall_t *self, const char *root, const char *named);
void pyinstall_free(pyinstall_t *self);
/* The isolated interpreter's sys.path: the standard library, then folders of packages that are there and what their
 * .pth files name. NULL where the library is not found. */
json_t *pyinstall_path(const pyinstall_t *self, const char *root);

/* Patterns (braces too) of the folders that have the packages of the interpreter `named`, or of any python3. */
json_t *pyinstall_packages(const char *named);
/* The folder that has Salt's package, as the option python_salt wants it; NULL: none. */
char *pyinstall_salt(const char *root, const json_t *opts);
/* The folder that has the package `salt` for files where no Salt is: beside this program, as `make` or `make install`
 * puts it; "": it is not there. */
char *pyinstall_own(void);

#endif
