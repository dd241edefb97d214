/* inifile.h - ini files as Salt's module `ini` keeps them: order, comments and unknown lines stay.
 *
 * An ini is an object: options (texts) and sections (objects of options), and lines that are neither as
 * "#commentN" and "#unknownN". Options are written "NAME SEP VALUE", above the sections.
 *
 * Layer      plugins/lib/file
 * Threads    any
 * Ownership  results are NEW
 * Tests      tests/cases/exec/ini.*.json
 */
#ifndef PLUGINS_LIB_FILE_INIFILE_H
#define PLUGINS_LIB_FILE_INIFILE_H

#include "common/base/buf.h"
#include "salt/value.h"

json_t *inifile_parse(const char *text, const char *sep);
void inifile_text(const json_t *ini, const char *sep, buf_t *out);
/* Sets options and sections. The changes: {option: {before, after}}, {section: {option: {before, after}}}. A
 * name that is a section and is to be an option stays. A commented option that is set takes its comment's
 * place. */
json_t *inifile_update(json_t *ini, const json_t *wanted, const char *sep);
/* Without the lines that are no options. */
json_t *inifile_options(const json_t *ini);

#endif
