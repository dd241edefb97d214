/* same.c - see system.h: comparing secrets. */
#include "auth/system.h"

bool
auth_same(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    unsigned char differ = n != m;

    for (size_t i = 0; i < n; i++)
        differ |= (unsigned char) (a[i] ^ b[m > 0 ? i % m : 0]);
    return differ == 0;
}
