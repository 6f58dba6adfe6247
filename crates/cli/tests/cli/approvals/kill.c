/* Kills the process at its n-th step: preloaded into the gateway by tests/cli/approvals.rs.
 *
 * A step is a rename, a removal or a sync of a file below the folder ACCORD_KILL_FOLDER, except for its index and its
 * locks. The process is killed before step ACCORD_KILL_AT, so that neither this step nor a later one happens.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static atomic_int steps;

static void step(const char *path) {
    const char *folder = getenv("ACCORD_KILL_FOLDER"), *at = getenv("ACCORD_KILL_AT");
    if (!folder || !at || strncmp(path, folder, strlen(folder)) != 0) return;
    if (strstr(path, "index.sqlite") || strstr(path, "/.local/locks")) return;
    if (atomic_fetch_add(&steps, 1) + 1 == atoi(at)) {
        kill(getpid(), SIGKILL);
        pause();
    }
}

static void step_of(int fd) {
    char link[64], path[PATH_MAX];
    int kept = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    errno = kept;
    if (length < 0) return;
    path[length] = 0;
    step(path);
}

int fsync(int fd) { step_of(fd); return REAL(fsync)(fd); }
int fdatasync(int fd) { step_of(fd); return REAL(fdatasync)(fd); }
int rename(const char *from, const char *to) { step(to); return REAL(rename)(from, to); }
int unlink(const char *path) { step(path); return REAL(unlink)(path); }
