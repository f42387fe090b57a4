/**
 * Preloaded into a server by faults.ts: lets its clock jump, its power be cut and its names be lost, without rights on the machine.
 * FAULTS_DIRECTORY has the file `clock`: a 64-bit number of seconds to add; and `no-names` while no name can be resolved.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int64_t clock_offset(void) {
  static volatile int64_t *shared;
  if (!shared) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/clock", getenv("FAULTS_DIRECTORY"));
    int file = open(path, O_RDONLY);
    void *mapped = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED) abort();
    shared = mapped;
    close(file);
  }
  return *shared;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  static int (*next)(struct timeval *, void *);
  if (!next) next = dlsym(RTLD_NEXT, "gettimeofday");
  int result = next(now, zone);
  now->tv_sec += clock_offset();
  return result;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  static int (*next)(clockid_t, struct timespec *);
  if (!next) next = dlsym(RTLD_NEXT, "clock_gettime");
  int result = next(clock, now);
  /* Clocks that measure durations do not jump. */
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) now->tv_sec += clock_offset();
  return result;
}

/** As a resolver whose servers do not answer: it waits, and then says to try again. */
int getaddrinfo(const char *restrict name, const char *restrict service,
                const struct addrinfo *restrict hints, struct addrinfo **restrict found) {
  static int (*next)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
  if (!next) next = dlsym(RTLD_NEXT, "getaddrinfo");
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/no-names", getenv("FAULTS_DIRECTORY"));
  if (access(path, F_OK) != 0) return next(name, service, hints, found);
  sleep(5);
  return EAI_AGAIN;
}

/** Keeps what a database file has now as FILE.synced: all of it that a power cut is sure to leave. */
static int keep(int file) {
  char link[64], path[PATH_MAX], copy[PATH_MAX + 8];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  const char *end = strrchr(path, '.');
  if (!end || (strcmp(end, ".db") != 0 && strcmp(end, ".db-wal") != 0)) return 0;
  snprintf(copy, sizeof copy, "%s.synced", path);
  int target = open(copy, O_WRONLY | O_CREAT, 0600);
  int source = open(path, O_RDONLY);
  if (target < 0 || source < 0) abort();
  static char buffer[1 << 16];
  /* A thread copies the log into the database while another one commits. */
  static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&one);
  ssize_t count;
  off_t at = 0;
  while ((count = pread(source, buffer, sizeof buffer, at)) > 0) {
    if (pwrite(target, buffer, count, at) != count) abort();
    at += count;
  }
  if (ftruncate(target, at) != 0) abort();
  pthread_mutex_unlock(&one);
  close(source);
  close(target);
  return 0;
}

int fsync(int file) { return keep(file); }
int fdatasync(int file) { return keep(file); }
