/* stage.h - what is to have a name is made beside it, and gets the name when it is whole: until then the name
 * is what it was. Where that is is found by the rules of common/files/way.h, and held: who owns the folder
 * may give the one in which it is made another name, and not have anything else made or given to him by that.
 *
 * Layer      plugins/lib/file
 * Threads    a job's child
 * Errors     negative errno with Python's OSError text
 * Tests      tests/unit/plugins/test_stage.c, tests/t/4210-full-disk.bats
 */
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
/* What was made gets the name, whatever has it: a file in the place of a folder too. That one is removed
 * then. On failure the name has what it had. */
int stage_commit(stage_t *self, fail_t *err);
/* The other way round: what has the name stands at `path` for now. stage_close() removes it. */
int stage_aside(stage_t *self, fail_t *err);
/* What stands aside gets its name again; 0 when nothing does. When it can't, it stays where it is, and
 * *err, which may have a text already, says where. */
int stage_back(stage_t *self, fail_t *err);
/* Removes what has not got the name. */
void stage_close(stage_t *self);

/* Whether what has the name `path`, or is below it, would be gone if `name` were replaced. */
bool stage_holds(const char *name, const char *path);

#endif
