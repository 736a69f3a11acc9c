/* Counts the changes a process makes to files below one folder, and spoils the n-th of them.
 *
 * Loaded by LD_PRELOAD.  A test sets the variables below through ctypes, after a fork: fault_at is the number of the
 * change to spoil (0: none, count only), fault_mode what happens to it.  A change is a file created, truncated, written,
 * renamed, linked, removed, synced or given another mode, a folder made or removed.  Reading is none.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { KILL = 1, TERM = 2, HALF = 3, FAIL_ONCE = 4, FAIL_ON = 5, FULL = 6 };

volatile int fault_at = 0;
volatile int fault_mode = 0;
volatile int fault_errno = 0;
volatile int fault_count = 0;
volatile int fault_no_exchange = 0; /* renameat2 is not there */
char fault_root[PATH_MAX] = "";
int fault_log = -1; /* a descriptor that gets a line for each change */

static int within(const char *path) {
    size_t length = strlen(fault_root);
    return length && !strncmp(path, fault_root, length) && (path[length] == '/' || !path[length]);
}

static int linked(const char *name, char *into) {
    ssize_t length = readlink(name, into, PATH_MAX - 1);
    if (length < 0) return 0;
    into[length] = 0;
    return 1;
}

static int watched_fd(int fd) {
    char name[64], path[PATH_MAX];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    return *fault_root && linked(name, path) && within(path);
}

static int watched(int folder, const char *path) {
    char name[64], base[PATH_MAX];
    if (!*fault_root || !path) return 0;
    if (path[0] == '/') return within(path);
    if (folder == AT_FDCWD) snprintf(name, sizeof name, "/proc/self/cwd");
    else snprintf(name, sizeof name, "/proc/self/fd/%d", folder);
    return linked(name, base) && within(base);
}

static void say(const char *what, int number, const char *path) {
    char line[PATH_MAX + 64];
    if (fault_log < 0) return;
    int length = snprintf(line, sizeof line, "%d %s %s\n", number, what, path ? path : "");
    syscall(SYS_write, fault_log, line, length);
}

/* What becomes of a change: 0 it happens, otherwise the number of the error; grows says whether it needs room. */
static int spoiled(const char *what, const char *path, int grows) {
    int number = __sync_add_and_fetch(&fault_count, 1);
    say(what, number, path);
    if (!fault_at || number < fault_at) return 0;
    if (fault_mode == FAIL_ON) return fault_errno;
    if (fault_mode == FULL) return grows ? ENOSPC : 0;
    if (number != fault_at) return 0;
    if (fault_mode == KILL || (fault_mode == HALF && strcmp(what, "write"))) {
        syscall(SYS_kill, getpid(), SIGKILL);
        pause();
    }
    if (fault_mode == TERM) kill(getpid(), SIGTERM);
    return fault_mode == FAIL_ONCE ? fault_errno : 0;
}

static int halved(void) { return fault_mode == HALF && fault_count == fault_at; }

#define REAL(name) static __typeof__(&name) real; if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)
#define SPOIL(what, path, grows) do { int e = spoiled(what, path, grows); if (e) { errno = e; return -1; } } while (0)

#define OPENS(name) \
    int name(const char *path, int flags, ...) { \
        va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, mode_t); va_end(rest); \
        REAL(name); \
        int changes = (flags & O_TRUNC) || ((flags & O_CREAT) && syscall(SYS_faccessat, AT_FDCWD, path, F_OK)); \
        if (changes && watched(AT_FDCWD, path)) SPOIL("create", path, 1); \
        return real(path, flags, mode); \
    }
OPENS(open)
OPENS(open64)
#define OPENS_AT(name) \
    int name(int folder, const char *path, int flags, ...) { \
        va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, mode_t); va_end(rest); \
        REAL(name); \
        int changes = (flags & O_TRUNC) || ((flags & O_CREAT) && syscall(SYS_faccessat, folder, path, F_OK)); \
        if (changes && watched(folder, path)) SPOIL("create", path, 1); \
        return real(folder, path, flags, mode); \
    }
OPENS_AT(openat)
OPENS_AT(openat64)

static void die(void) { syscall(SYS_kill, getpid(), SIGKILL); pause(); }

#define WRITES(name, extra, given) \
    ssize_t name(int fd, const void *data, size_t size extra) { \
        REAL(name); \
        if (fd != fault_log && watched_fd(fd)) { \
            SPOIL("write", 0, 1); \
            if (halved()) { size /= 2; real(fd, data, size given); die(); } \
        } \
        return real(fd, data, size given); \
    }
#define NOTHING
#define COMMA ,
WRITES(write, NOTHING, NOTHING)
WRITES(pwrite, COMMA off_t at, COMMA at)
WRITES(pwrite64, COMMA off64_t at, COMMA at)
ssize_t writev(int fd, const struct iovec *parts, int many) {
    REAL(writev);
    if (watched_fd(fd)) { SPOIL("write", 0, 1); if (halved()) { real(fd, parts, many / 2); die(); } }
    return real(fd, parts, many);
}
ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t size, unsigned flags) {
    REAL(copy_file_range);
    if (watched_fd(out)) { SPOIL("write", 0, 1); if (halved()) { real(in, from, out, to, size / 2, flags); die(); } }
    return real(in, from, out, to, size, flags);
}
ssize_t sendfile(int out, int in, off_t *at, size_t size) {
    static ssize_t (*real)(int, int, off_t *, size_t);
    if (!real) real = dlsym(RTLD_NEXT, "sendfile");
    if (watched_fd(out)) { SPOIL("write", 0, 1); if (halved()) { real(out, in, at, size / 2); die(); } }
    return real(out, in, at, size);
}
ssize_t sendfile64(int out, int in, off_t *at, size_t size) { return sendfile(out, in, at, size); }

#define ON_FD(name, what, grows, extra, given) \
    int name(int fd extra) { REAL(name); if (watched_fd(fd)) SPOIL(what, 0, grows); return real(fd given); }
ON_FD(fsync, "sync", 0, NOTHING, NOTHING)
ON_FD(fdatasync, "sync", 0, NOTHING, NOTHING)
ON_FD(ftruncate, "truncate", 0, COMMA off_t size, COMMA size)
ON_FD(ftruncate64, "truncate", 0, COMMA off64_t size, COMMA size)
ON_FD(fchmod, "chmod", 0, COMMA mode_t mode, COMMA mode)
ON_FD(fallocate, "allocate", 1, COMMA int mode COMMA off_t at COMMA off_t size, COMMA mode COMMA at COMMA size)
int posix_fallocate(int fd, off_t at, off_t size) { /* returns the error's number and leaves errno alone */
    REAL(posix_fallocate);
    if (watched_fd(fd)) { int e = spoiled("allocate", 0, 1); if (e) return e; }
    return real(fd, at, size);
}

#define ON_PATH(name, what, grows, extra, given) \
    int name(const char *path extra) { REAL(name); if (watched(AT_FDCWD, path)) SPOIL(what, path, grows); return real(path given); }
ON_PATH(mkdir, "mkdir", 1, COMMA mode_t mode, COMMA mode)
ON_PATH(rmdir, "rmdir", 0, NOTHING, NOTHING)
ON_PATH(unlink, "unlink", 0, NOTHING, NOTHING)
ON_PATH(remove, "unlink", 0, NOTHING, NOTHING)
ON_PATH(truncate, "truncate", 0, COMMA off_t size, COMMA size)
ON_PATH(chmod, "chmod", 0, COMMA mode_t mode, COMMA mode)

#define AT_PATH(name, what, grows, extra, given) \
    int name(int folder, const char *path extra) { REAL(name); if (watched(folder, path)) SPOIL(what, path, grows); return real(folder, path given); }
AT_PATH(mkdirat, "mkdir", 1, COMMA mode_t mode, COMMA mode)
AT_PATH(unlinkat, "unlink", 0, COMMA int flags, COMMA flags)
AT_PATH(fchmodat, "chmod", 0, COMMA mode_t mode COMMA int flags, COMMA mode COMMA flags)

#define TWO_PATHS(name, what, grows) \
    int name(const char *one, const char *other) { REAL(name); if (watched(AT_FDCWD, other)) SPOIL(what, other, grows); return real(one, other); }
TWO_PATHS(rename, "rename", 0)
TWO_PATHS(link, "link", 1)
TWO_PATHS(symlink, "link", 1)
int renameat(int a, const char *one, int b, const char *other) {
    REAL(renameat);
    if (watched(b, other)) SPOIL("rename", other, 0);
    return real(a, one, b, other);
}
int renameat2(int a, const char *one, int b, const char *other, unsigned flags) {
    REAL(renameat2);
    if (fault_no_exchange) { errno = ENOSYS; return -1; }
    if (watched(b, other)) SPOIL(flags & 2 ? "exchange" : "rename", other, 0);
    return real(a, one, b, other, flags);
}
int linkat(int a, const char *one, int b, const char *other, int flags) {
    REAL(linkat);
    if (watched(b, other)) SPOIL("link", other, 1);
    return real(a, one, b, other, flags);
}
