/* plugin.c - what a plug-in is called, and where it comes from. */
#include "salt/plugin.h"

const char *
plugin_name(const plugin_t *p)
{
    return p->provides != NULL ? p->provides : p->file;
}

const char *
plugin_origin(const plugin_t *p)
{
    return p->origin != NULL ? p->origin : "built in";
}
