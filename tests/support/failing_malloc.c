/* Laid before the C library (LD_PRELOAD): the ARCHSIM_FAIL_AT-th request for memory fails, and with
 * ARCHSIM_FAIL_ON all that follow. The number of requests goes to file descriptor ARCHSIM_COUNT_TO at the
 * end. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* memory, size_t size);

static long requests, fail_at = -1, fail_on;

static long number_in(const char* name) {
    const char* text = getenv(name);
    return text ? atol(text) : 0;
}

static int fails(void) {
    if (fail_at < 0) {
        fail_at = number_in("ARCHSIM_FAIL_AT");
        fail_on = number_in("ARCHSIM_FAIL_ON");
    }
    const long now = __atomic_add_fetch(&requests, 1, __ATOMIC_RELAXED);
    if (fail_at > 0 && (now == fail_at || (fail_on && now > fail_at))) {
        errno = ENOMEM;
        return 1;
    }
    return 0;
}

void* malloc(size_t size) {
    return fails() ? NULL : __libc_malloc(size);
}

void* calloc(size_t count, size_t size) {
    return fails() ? NULL : __libc_calloc(count, size);
}

void* realloc(void* memory, size_t size) {
    return fails() ? NULL : __libc_realloc(memory, size);
}

__attribute__((destructor)) static void tell(void) {
    const long to = number_in("ARCHSIM_COUNT_TO");
    char digits[24];
    size_t at = sizeof digits;
    long left = requests;
    if (to <= 0)
        return;
    do
        digits[--at] = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    if (write((int)to, digits + at, sizeof digits - at) < 0)
        return;
}
