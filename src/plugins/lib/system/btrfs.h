/* btrfs.h - what the functions of the module `btrfs` share: its programs, mounts, and devices.
 *
 * Layer      plugins/lib/system
 * Ownership  results are NEW
 * Errors     NULL with *err: FAIL_COMMAND with what a program said
 * Tests      tests/cases/exec/btrfs.*
 */
#ifndef PLUGINS_LIB_SYSTEM_BTRFS_H
#define PLUGINS_LIB_SYSTEM_BTRFS_H

#include "plugins/lib/call/tool.h"
#include "salt/plugin.h"

/* A file system of many terabytes is balanced, converted or given devices in this time. */
#define BTRFS_MS (24 * 60 * 60 * 1000)

/* {retcode, stdout, stderr} of a program that did not fail with words. */
json_t *btrfs_run(call_ctx_t *ctx, prog_t *prog, fail_t *err);
/* The text with one blank for each run of white space. */
char *btrfs_squeezed(const char *text);
/* Mounts of a type by device: {device: [{"mount_point", "options"}]}. */
json_t *btrfs_mounts(const char *type, fail_t *err);
/* Devices with that type, NULL: any, then with "type", as blkid names their members in small letters. */
json_t *btrfs_blkid(call_ctx_t *ctx, const char *type, fail_t *err);

#endif
