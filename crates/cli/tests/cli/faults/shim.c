/* Simulates a disk that fails on demand: preloaded into the gateway by tests/cli/faults.rs.
 *
 * While the file named by ACCORD_FAULTS contains `fsync`, syncing the database fails with EIO; while it
 * contains `enospc`, writing to the database fails with ENOSPC; while it contains `checkpoint`, writing and
 * syncing fail for the database file only, not for its log. Other files are not affected.
 *
 * While it contains `slow`, each sync of any other file takes 300 ms, and its path is appended to the file named by
 * ACCORD_FAULTS followed by `.syncs`.
 *
 * While it contains `stall`, locking the write lock of a company folder is delayed by two seconds.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int ends_with(const char *text, const char *end) {
    size_t length = strlen(text), wanted = strlen(end);
    return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

/* 1 for the database file, 2 for its log, 0 for anything else. */
static int database_part(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return ends_with(path, "/gateway.db") ? 1 : ends_with(path, "/gateway.db-wal") ? 2 : 0;
}

/* Returns whether the database behind `fd` must fail in this way now. Preserves errno. */
static int is_wanted(int fd, const char *fault) {
    const char *trigger = getenv("ACCORD_FAULTS");
    int kept = errno, wanted = 0, part = trigger ? database_part(fd) : 0;
    if (part) {
        int file = open(trigger, O_RDONLY | O_CLOEXEC);
        if (file >= 0) {
            char text[64] = {0};
            if (read(file, text, sizeof text - 1) > 0)
                wanted = strstr(text, fault) || (part == 1 && strstr(text, "checkpoint"));
            close(file);
        }
    }
    errno = kept;
    return wanted;
}

#define FAIL(fd, fault, code) if (is_wanted(fd, fault)) { errno = code; return -1; }

/* Delays and records a sync of a file other than the database. Preserves errno. */
static void slow_down(int fd) {
    const char *trigger = getenv("ACCORD_FAULTS");
    int kept = errno;
    int file = trigger && !database_part(fd) ? open(trigger, O_RDONLY | O_CLOEXEC) : -1;
    if (file >= 0) {
        char text[64] = {0};
        if (read(file, text, sizeof text - 1) > 0 && strstr(text, "slow")) {
            char link[64], line[4097], name[4096];
            snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
            ssize_t length = readlink(link, line, sizeof line - 1);
            snprintf(name, sizeof name, "%s.syncs", trigger);
            int syncs = open(name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
            if (syncs >= 0) {
                line[length < 0 ? 0 : length] = '\n';
                (void)!REAL(write)(syncs, line, (length < 0 ? 0 : length) + 1);
                close(syncs);
            }
            struct timespec pause = {0, 300 * 1000 * 1000};
            nanosleep(&pause, NULL);
        }
        close(file);
    }
    errno = kept;
}

int fsync(int fd) { FAIL(fd, "fsync", EIO) slow_down(fd); return REAL(fsync)(fd); }
int fdatasync(int fd) { FAIL(fd, "fsync", EIO) slow_down(fd); return REAL(fdatasync)(fd); }
int syncfs(int fd) { slow_down(fd); return REAL(syncfs)(fd); }

int flock(int fd, int operation) {
    const char *trigger = getenv("ACCORD_FAULTS");
    char link[64], path[4096], text[64] = {0};
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length < 0 ? 0 : length] = 0;
    int file = trigger && (operation & LOCK_EX) && ends_with(path, "/workspace.write.lock")
        ? open(trigger, O_RDONLY | O_CLOEXEC) : -1;
    if (file >= 0) {
        if (read(file, text, sizeof text - 1) > 0 && strstr(text, "stall")) {
            struct timespec pause = {2, 0};
            nanosleep(&pause, NULL);
        }
        close(file);
    }
    return REAL(flock)(fd, operation);
}

ssize_t write(int fd, const void *bytes, size_t count) {
    FAIL(fd, "enospc", ENOSPC) return REAL(write)(fd, bytes, count);
}
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
    FAIL(fd, "enospc", ENOSPC) return REAL(pwrite)(fd, bytes, count, offset);
}
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
    FAIL(fd, "enospc", ENOSPC) return REAL(pwrite64)(fd, bytes, count, offset);
}
int ftruncate(int fd, off_t length) { FAIL(fd, "enospc", ENOSPC) return REAL(ftruncate)(fd, length); }
int ftruncate64(int fd, off64_t length) { FAIL(fd, "enospc", ENOSPC) return REAL(ftruncate64)(fd, length); }
int fallocate(int fd, int mode, off_t offset, off_t length) {
    FAIL(fd, "enospc", ENOSPC) return REAL(fallocate)(fd, mode, offset, length);
}
