/* text.h - file functions that read, write and search what a file holds. Rows in plugins/exec/files/file.c.
 *
 * Layer      plugins/lib/file
 * Tests      tests/cases/exec/file.*.json
 */
#ifndef PLUGINS_LIB_FILE_TEXT_H
#define PLUGINS_LIB_FILE_TEXT_H

#include "salt/plugin.h"

func_fn file_append, file_prepend, file_write, file_read, file_truncate, file_seek_read, file_seek_write;
func_fn file_contains, file_contains_regex, file_contains_glob, file_grep, file_sed, file_sed_contains;
func_fn file_patch, file_open_files, file_find;
func_fn file_get_hash, file_get_sum, file_check_hash, file_get_source_sum, file_extract_hash, file_get_diff;
func_fn file_list_backups, file_list_backups_dir, file_restore_backup, file_delete_backup;

#endif
