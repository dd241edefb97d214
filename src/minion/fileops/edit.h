/* edit.h - file functions that change parts of a text file. Rows in modules/file.c.
 *
 * Layer      minion/fileops
 * Tests      tests/cases/modules/file.*.json, recorded from Salt itself
 */
#ifndef MINION_FILEOPS_EDIT_H
#define MINION_FILEOPS_EDIT_H

#include "salt/plugin.h"

func_fn file_replace, file_search, file_psed, file_comment, file_uncomment, file_comment_line;
func_fn file_line, file_blockreplace;

#endif
