/* edit.h - file functions that change parts of a text file. Rows in plugins/exec/files/file.c.
 *
 * Layer      plugins/lib/file
 * Tests      tests/cases/exec/file.*.json, recorded from Salt itself
 */
#ifndef PLUGINS_LIB_FILE_EDIT_H
#define PLUGINS_LIB_FILE_EDIT_H

#include "salt/plugin.h"

func_fn file_replace, file_search, file_psed, file_comment_line;
func_fn file_comment_matching; /* .data.number: whether to comment, or to uncomment */
func_fn file_line, file_blockreplace;

#endif
