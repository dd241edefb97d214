/* stage.h - what is to have a name is made beside it, and gets the name when it is whole: until then the name
 * is what it was. Where that is is found by the rules of common/files/destpath.h, and held: who owns the
 * folder may give the one in which it is made another name, and not have anything else made or given to him
 * by that.
 *
 * Layer      plugins/lib/file
 * Threads    a job's child
 * Errors     negative errno with Python's OSError text
 * Tests      tests/unit/plugins/test_stage.c, tests/t/4210-full-disk.bats */
#ifndef PLUGINS_LIB_FILE_STAGE_H
#define PLUGINS_LIB_FILE_STAGE_H

#include "plugins/lib/file/partfile.h"
#include "salt/base.h"

typedef struct stage {
    char *name;    /* without slashes at its end */
    partfile_t to; /* where that is */
    char *dir;     /* a folder beside it that nobody else may enter; NULL: none */
    int held;      /* that folder, O_PATH */
    char *path;    /* of what is held, as those of `to`: in there, for what is made; nothing at first */
} stage_t;
#define STAGE_INIT   ROW(NULL, PARTFILE_INIT, NULL, -1, NULL)
#define stage_auto_t __attribute__((cleanup(stage_close))) stage_t

int stage_open(stage_t *self, const char *name, fail_t *err);
/* Renames the staged object to the name, replacing and removing whatever has it, including a folder in a
 * file's place. On failure the name keeps its object. */
int stage_commit(stage_t *self, fail_t *err);
/* The other way round: what has the name stands at `path` for now. stage_close() removes it. */
int stage_aside(stage_t *self, fail_t *err);
/* Restores the object that stands aside to its name; 0 when none does. On failure it remains aside, and *err,
 * which may hold a text already, names the place. */
int stage_back(stage_t *self, fail_t *err);
/* Removes what has not got the name. */
void stage_close(stage_t *self);

/* True when `path`, or an ancestor of it, is what replacing `name` would remove. */
bool stage_holds(const char *name, const char *path);

#endif
