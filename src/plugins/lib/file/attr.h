/* attr.h - file functions about owners, groups, modes, attributes and labels. Rows: exec/files/file.c.
 *
 * Layer      plugins/lib/file
 * Tests      tests/cases/exec/file.*.json
 */
#ifndef PLUGINS_LIB_FILE_ATTR_H
#define PLUGINS_LIB_FILE_ATTR_H

#include "salt/plugin.h"

func_fn file_gid_to_group, file_group_to_gid, file_uid_to_user, file_user_to_uid;
func_fn file_set_mode;
func_fn file_get_stat; /* .data.text: the field, "gid", "mode" ... */
func_fn file_chown, file_lchown, file_chgrp, file_stats, file_lstat, file_statvfs, file_access;
func_fn file_lsattr, file_chattr, file_check_perms;
func_fn file_restorecon, file_get_selinux_context, file_set_selinux_context;

#endif
