/* tree.h - file functions that make, move and remove what a path names. Rows in plugins/exec/files/file.c.
 *
 * Layer      plugins/lib/file
 * Tests      tests/cases/exec/file.*.json, tests/unit/plugins/test_tree.c
 */
#ifndef PLUGINS_LIB_FILE_TREE_H
#define PLUGINS_LIB_FILE_TREE_H

#include "salt/plugin.h"

func_fn file_basename, file_dirname, file_join, file_normpath, file_pardir, file_expanduser;
func_fn file_file_exists, file_directory_exists, file_path_exists_glob, file_readdir, file_diskusage;
func_fn file_is_link, file_is_hardlink, file_readlink, file_link, file_symlink;
func_fn file_mkdir, file_makedirs, file_makedirs_perms, file_rmdir, file_remove;
func_fn file_rename, file_move, file_copy, file_touch;
func_fn file_get_devmm, file_mknod;
func_fn file_is_type;    /* .data.number: S_IFBLK ... */
func_fn file_mknod_kind; /* .data.text: a letter as file_mknod's ntype */

#endif
