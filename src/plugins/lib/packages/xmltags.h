/* xmltags.h - the elements of an XML text as a flat list, for the output of programs: no entities of its own,
 * no namespaces, no check that elements are closed.
 *
 * Layer      plugins/lib/packages
 * Threads    any
 * Ownership  results are NEW
 * Errors     none: what is no element is text
 * Tests      tests/cases/exec/pkg.list_upgrades.json
 */
#ifndef PLUGINS_LIB_PACKAGES_XMLTAGS_H
#define PLUGINS_LIB_PACKAGES_XMLTAGS_H

#include "salt/value.h"

/* [{"tag", "attributes": {name: text}, "text"}] in the order of the text, which stands right behind the tag. */
json_t *xmltags_read(const char *xml);
/* Those of one name. BORROWED elements in a NEW list. */
json_t *xmltags_named(const json_t *tags, const char *name);
/* An attribute of such an element, "" for none. BORROWED. */
const char *xmltags_attr(const json_t *tag, const char *name);

#endif
